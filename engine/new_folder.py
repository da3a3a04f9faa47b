"""New folders, filled under a hidden name so that no partial one is visible, and temporary ones.

A temporary folder has a lock file. The system releases the lock when its process dies, so a folder
whose lock is free was abandoned: the next process removes it.
"""

import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import StrEnum
from pathlib import Path
from typing import final

from filelock import FileLock, Timeout

from engine.errors import InputError, StorageError, found_at
from engine.files import require_regular
from engine.full_disk import writing
from engine.new_file import flush_folder, private_folder
from engine.texts import Message

PREFIX = "protoleaf-"
HIDDEN_PREFIX = ".protoleaf-"  # in folders of the user
_OWNER = ".owner"
_UNLOCKED_S = 60.0
"""Age of an empty hidden folder without lock, after which its process counts as killed."""
_ATTEMPTS = 5  # a new folder is lost only to a clean-up in the instant before it is locked


@final
class ScratchFolder:
    """A private temporary folder, removed by `remove` or, after a kill, by another process.

    Args:
        parent: of the folder, created when missing; by default the system's temporary folder.

    Raises:
        OSError: it cannot be made.
    """

    def __init__(self, parent: Path | None = None, *, prefix: str = PREFIX) -> None:
        clear_abandoned(parent)
        for _ in range(_ATTEMPTS):
            self.path = _new_folder(parent, prefix)
            self._lock = FileLock(self.path / _OWNER, thread_local=False)
            with suppress(Timeout, FileNotFoundError):
                self._lock.acquire(timeout=0)
                if (self.path / _OWNER).exists():
                    return
        raise FileNotFoundError(f"{self.path} was taken away while it was made")

    def remove(self) -> None:
        """Remove the folder with all its content; from any thread, and again without harm."""
        if os.name != "posix":
            self._lock.release()  # Windows removes no file that is open
        shutil.rmtree(self.path, ignore_errors=True)
        self._lock.release()


@contextmanager
def scratch_folder(parent: Path | None = None) -> Iterator[Path]:
    """A `ScratchFolder` for the time of the block.

    Raises:
        OSError: it cannot be made.
    """
    folder = ScratchFolder(parent)
    try:
        yield folder.path
    finally:
        folder.remove()


def is_in_scratch(path: Path) -> bool:
    """Whether a path is in a `ScratchFolder`, also in the draft of a `new_folder`."""
    return any(
        parent.name.startswith((PREFIX, HIDDEN_PREFIX)) and (parent / _OWNER).exists()
        for parent in path.parents
    )


def clear_abandoned(parent: Path | None = None) -> None:
    """Remove the scratch folders whose owners are dead, as far as possible."""
    with suppress(OSError):
        place = Path(tempfile.gettempdir()) if parent is None else parent
        with os.scandir(place) as entries:
            found = [
                Path(entry.path)
                for entry in entries
                if entry.name.startswith((PREFIX, HIDDEN_PREFIX))
            ]
        for folder in found:
            with suppress(OSError, Timeout):
                _remove_if_abandoned(folder)


def _remove_if_abandoned(folder: Path) -> None:
    owner = folder / _OWNER
    if not _is_ours(folder):
        return
    if not owner.is_file():
        if (
            folder.name.startswith(HIDDEN_PREFIX)
            and time.time() - folder.stat().st_mtime > _UNLOCKED_S
        ):
            folder.rmdir()  # refuses where anything is in it
        return
    lock = FileLock(owner)
    lock.acquire(timeout=0)
    try:
        if os.name == "posix":
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        lock.release()
    shutil.rmtree(folder, ignore_errors=True)


def _is_ours(folder: Path) -> bool:
    """Whether it is a real folder of this user: the system's temporary folder is shared."""
    status = folder.lstat()
    return stat.S_ISDIR(status.st_mode) and (os.name != "posix" or status.st_uid == os.geteuid())


def _new_folder(parent: Path | None, prefix: str) -> Path:
    if parent is not None:
        private_folder(parent)
    return Path(tempfile.mkdtemp(prefix=prefix, dir=parent))


_NOT_WRITTEN = "the folder cannot be written"
_REMEDY = "choose another place"


class Placing(StrEnum):
    """How a user's file is added to a new folder; the file itself is never changed."""

    COPY = "copy"
    HARD_LINK = "hard-link"
    SYMBOLIC_LINK = "symbolic-link"


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Fill a folder that appears under its name whole, or not at all.

    Args:
        path: nothing may be there, or an empty folder; its parent must exist.

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
        StorageError: its parent is missing, or it cannot be looked at.
    """
    with writing(path, _NOT_WRITTEN, _REMEDY):
        if not path.parent.is_dir():
            raise StorageError(
                "there is no such folder",
                found=str(path.parent),
                remedy="make it, or choose another",
            )
        if not os.path.lexists(path):
            return
        if not path.is_dir() or any(path.iterdir()):
            raise InputError(
                "this name is already taken",
                expected="a new folder, or an empty one",
                found=str(path),
                remedy="choose another name; nothing is overwritten",
            )


def place_file(source: Path, target: Path, how: Placing) -> None:
    """Bring a file into a draft of `new_folder`, by copy or by link, with its time of modification.

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
    whole.stat()  # raises for a missing target
    try:
        if how is Placing.HARD_LINK:
            target.hardlink_to(whole)
        else:
            target.symlink_to(whole)
    except OSError as error:
        raise InputError(
            "no {how} can be made",
            found=found_at(whole, error),
            remedy="choose copies, or another disk",
            how=Message("hard link") if how is Placing.HARD_LINK else Message("symbolic link"),
        ) from error


def _publish(draft: Path, real: Path) -> None:
    if os.name != "posix" and real.is_dir():
        real.rmdir()  # Windows renames onto nothing; it is empty, or this refuses
    draft.rename(real)
