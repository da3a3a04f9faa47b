"""Temporary folders that do not outlive their owner: what a killed process left goes when the next one starts.

Each holds a lock file. The system gives the lock back when its process dies, however it dies, so a folder whose lock is
free belongs to nobody any more.
"""

import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, final

from filelock import FileLock, Timeout

from engine.new_file import private_folder

PREFIX: Final = "protoleaf-"
HIDDEN_PREFIX: Final = ".protoleaf-"
"""Where a person may look: beside their own files."""
_OWNER: Final = ".owner"
_UNLOCKED_S: Final = 60.0
"""An empty hidden folder that nobody locked for so long was left by a process that was killed before it could."""
_ATTEMPTS: Final = 5  # a new folder is lost only to somebody who clears up in the instant before it is locked


@final
class ScratchFolder:
    """A private folder with a random name, taken away by `remove` or, after a kill, by the next process.

    Args:
        parent: where it is made, made when missing; the system's folder for temporary files when left out.

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
        """Take the folder away with all that is in it; from any thread, and again without harm."""
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


def clear_abandoned(parent: Path | None = None) -> None:
    """Remove the scratch folders whose owners are dead; what cannot be removed is left without a word."""
    with suppress(OSError):
        place = Path(tempfile.gettempdir()) if parent is None else parent
        with os.scandir(place) as entries:
            found = [Path(entry.path) for entry in entries if entry.name.startswith((PREFIX, HIDDEN_PREFIX))]
        for folder in found:
            with suppress(OSError, Timeout):
                _remove_if_abandoned(folder)


def _remove_if_abandoned(folder: Path) -> None:
    owner = folder / _OWNER
    if not _is_ours(folder):
        return
    if not owner.is_file():
        if folder.name.startswith(HIDDEN_PREFIX) and time.time() - folder.stat().st_mtime > _UNLOCKED_S:
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
    """Whether it is a real folder of this user: others may put anything into the system's temporary folder."""
    status = folder.lstat()
    return stat.S_ISDIR(status.st_mode) and (os.name != "posix" or status.st_uid == os.geteuid())


def _new_folder(parent: Path | None, prefix: str) -> Path:
    if parent is not None:
        private_folder(parent)
    return Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
