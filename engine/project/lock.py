"""One writer for each project file. The lock belongs to the process and dies with it, however it dies."""

import errno
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from engine.errors import ProjectLockedError, ProjectReadOnlyError, ProtoleafError, StorageError

LOCK_SUFFIX: Final = ".lock"
_REFUSED: Final = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})


def lock_for_writing(path: Path) -> FileLock:
    """Become the one writer of a project file.

    Returns:
        The lock; `release()` gives it back, from any thread.

    Raises:
        ProjectLockedError: another program, or this one, has the project open for writing.
        ProjectReadOnlyError: the folder does not take a lock file.
        StorageError: the folder cannot be used at all.
    """
    lock = FileLock(f"{path.resolve()}{LOCK_SUFFIX}", thread_local=False)  # one lock under every name of the file
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise ProjectLockedError(
            "the project is open in another window or program",
            found=str(path),
            remedy="close it there, or open it for reading only",
        ) from error
    except OSError as error:
        raise _refusal(path, error) from error
    return lock


def _refusal(path: Path, error: OSError) -> ProtoleafError:
    if error.errno in _REFUSED:
        return read_only_error(path)
    return StorageError(
        "the project cannot be locked",
        found=f"{path} ({error.strerror})",
        remedy="copy it to a folder on this computer",
    )


def read_only_error(path: Path) -> ProjectReadOnlyError:
    """The error for a project whose file or folder must not be written to."""
    return ProjectReadOnlyError(
        "the project's file or folder is read-only",
        found=str(path),
        remedy="open it for reading only, or copy it to a folder that you may write to",
    )
