"""Cache files that are mapped: each writing takes another name, as Windows replaces no file that is mapped.

May be deleted at any time. What is written is there whole or not at all.
"""

import contextlib
import logging
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, Final, final

from blake3 import blake3

from engine.new_file import clear_abandoned_drafts, new_file, private_folder

_NUMBERS: Final = 1000
_BLOCK_BYTES: Final = 512  # that `st_blocks` counts in
_log = logging.getLogger(__name__)


class ChangedMeanwhileError(Exception):
    """What is being written is no longer so; nothing is kept."""


@final
class KeptFiles:
    """The file of one name and kind, and those of others of that kind.

    Args:
        folder: of all.
        name: of any length and with any characters.
        suffix: of this kind.
        most_bytes: that all of the kind may take; the ones that were used longest ago go first.
    """

    def __init__(self, folder: Path, name: str, suffix: str, most_bytes: int) -> None:
        self._folder, self._suffix, self._most_bytes = folder, suffix, most_bytes
        self._stem = blake3(name.encode("utf-8", "surrogateescape")).digest(length=16).hex()

    def newest(self) -> Path | None:
        """The file, if there is one; it counts as used now."""
        path = max(self._all(), key=lambda each: (_used_at(each), each.name), default=None)
        if path is not None:
            with contextlib.suppress(OSError):  # the folder may only be read
                os.utime(path)
        return path

    def write(self, size_bytes: int, write: Callable[[BinaryIO], None]) -> Path | None:
        """Write the file; where it lies, or None where the disk has too little room or refuses.

        Args:
            size_bytes: that it will take; twice as much must be free, as a cache must not fill the disk.
            write: called with a new file; may raise `ChangedMeanwhileError`.
        """
        names = (self._folder / f"{self._stem}-{number:03d}{self._suffix}" for number in range(_NUMBERS))
        path = next(each for each in names if not each.exists())
        try:
            clear_abandoned_drafts(private_folder(self._folder))
            if shutil.disk_usage(self._folder).free < 2 * size_bytes:
                return None
            with new_file(path, replace=True, durable=False) as draft:
                write(draft.file)
            for other in self._all():
                if other != path:
                    _drop(other)
            self._drop_oldest()
        except ChangedMeanwhileError:
            _log.info("%s changed while it was written, and is not kept", self._suffix)
            return None
        except OSError as error:
            _log.info("%s cannot be kept: %s", self._suffix, error)
            return None
        return path

    def _all(self) -> list[Path]:
        return list(self._folder.glob(f"{self._stem}-*{self._suffix}"))

    def _drop_oldest(self) -> None:
        total = 0
        for path in sorted(self._folder.glob(f"*{self._suffix}"), key=_used_at, reverse=True):
            found = path.stat()
            total += found.st_blocks * _BLOCK_BYTES if hasattr(found, "st_blocks") else found.st_size
            if total > self._most_bytes:
                _drop(path)


def _used_at(path: Path) -> int:
    """When a file was used last; 0 for one that another program dropped just now."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def _drop(path: Path) -> None:
    with contextlib.suppress(OSError):  # Windows keeps a file that is mapped
        path.unlink()
