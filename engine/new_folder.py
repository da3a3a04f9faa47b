"""New folders: filled under a hidden name first, so that a half-made one is never seen under the real one.

A killed process leaves its draft beside the folder that was asked for; the next folder made there takes it away.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import StrEnum
from pathlib import Path
from typing import Final

from engine.errors import InputError, StorageError
from engine.full_disk import writing
from engine.new_file import flush_folder
from engine.regular_file import require_regular
from engine.scratch_folder import HIDDEN_PREFIX, ScratchFolder

_NOT_WRITTEN: Final = "the folder cannot be written"
_REMEDY: Final = "choose another place"


class Placing(StrEnum):
    """How a file of the person's comes into a folder of ours; the file itself is never changed."""

    COPY = "copy"
    HARD_LINK = "hard-link"
    SYMBOLIC_LINK = "symbolic-link"


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Fill a folder that appears under its name whole, or not at all.

    Args:
        path: where it is to be: nothing may be there, or an empty folder. The folder around it must exist.

    Raises:
        InputError: something is there.
        StorageError: the folder or the disk refuses.
    """
    real = Path(os.path.realpath(path))
    check_is_free(real)
    with writing(path, _NOT_WRITTEN, _REMEDY):
        scratch = ScratchFolder(real.parent, prefix=HIDDEN_PREFIX)
    try:
        draft = scratch.path / "new"
        with writing(path, _NOT_WRITTEN, _REMEDY):
            draft.mkdir()
            yield draft
            flush_folder(draft)
            _publish(draft, real)
            flush_folder(real.parent)
    finally:
        scratch.remove()


def check_is_free(path: Path) -> None:
    """Refuse a name under which no folder can be made, before any work is done for it.

    Raises:
        InputError: something other than an empty folder is there.
        StorageError: there is no folder around it, or it cannot be looked at.
    """
    with writing(path, _NOT_WRITTEN, _REMEDY):
        if not path.parent.is_dir():
            raise StorageError("there is no such folder", found=str(path.parent), remedy="make it, or choose another")
        if not os.path.lexists(path):
            return
        if not path.is_dir() or any(path.iterdir()):
            raise InputError(
                "there is something of this name already",
                expected="a new folder, or an empty one",
                found=str(path),
                remedy="choose another name; nothing is written over",
            )


def place_file(source: Path, target: Path, how: Placing) -> None:
    """Bring a file into a draft of `new_folder`, by copy or by link; times of modification go along.

    Raises:
        InputError: the disk has no such links, or `source` is on another one.
        OSError: the file cannot be read, or the disk refuses.
    """
    if how is Placing.COPY:
        require_regular(source)
        shutil.copyfile(source, target)
        with suppress(OSError):
            status = source.stat()
            os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))
        return
    whole = Path(os.path.realpath(source))
    whole.stat()  # a link to nowhere helps nobody
    try:
        if how is Placing.HARD_LINK:
            target.hardlink_to(whole)
        else:
            target.symlink_to(whole)
    except OSError as error:
        raise InputError(
            "no {how} can be made",
            found=f"{whole}: {error.strerror or error}",
            remedy="choose copies, or another disk",
            how=how.value.replace("-", " "),
        ) from error


def _publish(draft: Path, real: Path) -> None:
    if os.name != "posix" and real.is_dir():
        real.rmdir()  # Windows renames onto nothing; it is empty, or this refuses
    draft.rename(real)
