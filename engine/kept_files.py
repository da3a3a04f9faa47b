"""Cache files that are mapped: each writing takes another name, as Windows replaces no file that is mapped.

May be deleted at any time. What is written is there whole or not at all.
"""

import contextlib
import json
import logging
import mmap
import os
import re
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO, Final, final

from blake3 import blake3

from engine.new_file import clear_abandoned_drafts, new_file, private_folder

_NUMBERS: Final = 1000
_OURS: Final = re.compile(r"[0-9a-f]{32}-\d{3}")  # names without suffix
_BLOCK_BYTES: Final = 512  # that `st_blocks` counts in
_ALIGNED: Final = 8
_LONGEST_HEAD: Final = 4096
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
        names = (
            self._folder / f"{self._stem}-{number:03d}{self._suffix}" for number in range(_NUMBERS)
        )
        path = next(each for each in names if not os.path.lexists(each))
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
        return [path for path in self._of_kind() if path.name.startswith(f"{self._stem}-")]

    def _of_kind(self) -> list[Path]:
        """Our own files of this kind; what else lies in the folder is let alone, links among it."""
        found = self._folder.glob(f"*{self._suffix}")
        return [
            path
            for path in found
            if _OURS.fullmatch(path.name.removesuffix(self._suffix)) and not path.is_symlink()
        ]

    def _drop_oldest(self) -> None:
        total = 0
        for path in sorted(self._of_kind(), key=_used_at, reverse=True):
            found = path.stat()
            total += (
                found.st_blocks * _BLOCK_BYTES if hasattr(found, "st_blocks") else found.st_size
            )
            if total > self._most_bytes:
                _drop(path)


def write_parts(file: BinaryIO, magic: bytes, parts: Sequence[bytes | memoryview]) -> None:
    """Write parts, each aligned for 64-bit numbers, with a checksum of all of them."""
    sizes = [len(each) for each in parts]
    head = json.dumps(
        {"byte_order": sys.byteorder, "sizes": sizes, "checksum": _checksum(parts)}
    ).encode()
    file.write(magic + len(head).to_bytes(8, "little") + head)
    for start, part in zip(_starts(len(magic) + 8 + len(head), sizes), parts, strict=True):
        file.seek(start)
        file.write(part)


def mapped_parts(path: Path, magic: bytes) -> tuple[list[memoryview], str]:
    """What `write_parts` wrote, mapped and for reading only, and its checksum.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is not whole, or is another kind of file.
    """
    with path.open("rb") as file:
        whole = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    begin = len(magic) + 8
    if bytes(whole[: len(magic)]) != magic:
        raise ValueError("it has another beginning")
    head_bytes = int.from_bytes(whole[len(magic) : begin], "little")
    try:
        head = json.loads(bytes(whole[begin : begin + min(head_bytes, _LONGEST_HEAD)]))
        sizes = [int(size) for size in head["sizes"]]
        byte_order, checksum = head["byte_order"], head["checksum"]
    except (KeyError, TypeError, OverflowError, RecursionError) as error:
        raise ValueError("its head is damaged") from error
    parts = [
        whole[at : at + size]
        for at, size in zip(_starts(begin + head_bytes, sizes), sizes, strict=True)
    ]
    is_whole = [len(part) for part in parts] == sizes and _checksum(parts) == checksum
    if not is_whole or byte_order != sys.byteorder:
        raise ValueError("it is not whole")
    return parts, str(checksum)


def _starts(end_of_head: int, sizes: Sequence[int]) -> list[int]:
    """Where parts begin, so that their numbers can be mapped."""
    starts, end = [], end_of_head
    for size in sizes:
        start = -(-end // _ALIGNED) * _ALIGNED
        starts.append(start)
        end = start + size
    return starts


def _checksum(parts: Sequence[bytes | memoryview]) -> str:
    hasher = blake3()
    for part in parts:
        hasher.update(part)
    return hasher.hexdigest()


def _used_at(path: Path) -> int:
    """When a file was used last; 0 for one that another program dropped just now."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def _drop(path: Path) -> None:
    with contextlib.suppress(OSError):  # Windows keeps a file that is mapped
        path.unlink()
