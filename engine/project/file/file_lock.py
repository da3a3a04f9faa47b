"""One writer per project file. The lock is on the file itself, and ends with its process.

It locks a byte that SQLite neither reads nor writes (in the page that SQLite reserves for its own
locks), so it holds under every name of the file: links, hard links and new names cannot add a
second writer.

Where available (Linux, macOS), open file description locks are used: unlike the classic ones of
POSIX they survive when another part of this process opens and closes the same file.
"""

import errno
import os
import struct
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import final

from engine.errors import ProjectLockedError, ProjectReadOnlyError, ProtoleafError, StorageError
from engine.new_file import SQLITE_DRAFT_SUFFIX
from engine.project.file.on_disk import Identity

fcntl: ModuleType | None
msvcrt: ModuleType | None
try:
    import fcntl
except ImportError:
    fcntl = None
try:
    import msvcrt
except ImportError:
    msvcrt = None

_BYTE = 0x40000000 + 1024  # SQLite's own lock bytes are the first 512 of this page
_REFUSED = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
_TAKEN = frozenset({errno.EAGAIN, errno.EACCES, errno.EDEADLK})
_BLOCK_BYTES = 4 * 1024 * 1024
_BINARY = getattr(os, "O_BINARY", 0)


@final
class FileLock:
    """A locked project file."""

    def __init__(self, descriptor: int) -> None:
        # closed by `release` only: POSIX would drop the locks of SQLite in this process
        self.descriptor = descriptor
        status = os.fstat(descriptor)
        self.identity: Identity = status.st_dev, status.st_ino

    @property
    def size_bytes(self) -> int:
        """Size of the file now, whatever its name is now."""
        return os.fstat(self.descriptor).st_size

    def read(self, start: int, size_bytes: int) -> bytes:
        """Bytes of the file, whatever its name is now."""
        if hasattr(os, "pread"):
            return os.pread(self.descriptor, size_bytes, start)
        os.lseek(self.descriptor, start, os.SEEK_SET)
        return os.read(self.descriptor, size_bytes)

    def copy_to(self, target: Path, *, is_durable: bool = True) -> None:
        """Copy the bytes of the file into a new private one, flushed if `is_durable`.

        Raises:
            OSError: the target is there already, or cannot be written.
        """
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | _BINARY
        with os.fdopen(os.open(target, flags, 0o600), "wb") as file:
            for start in range(0, self.size_bytes, _BLOCK_BYTES):
                file.write(self.read(start, _BLOCK_BYTES))
            if is_durable:
                file.flush()
                os.fsync(file.fileno())

    def release(self) -> None:
        """Let others write; only after SQLite closed the file."""
        os.close(self.descriptor)


def lock_for_writing(path: Path) -> FileLock:
    """Become the one writer of a project file.

    Raises:
        ProjectLockedError: another program, or this one, has the project open for writing.
        ProjectReadOnlyError: the file must not be written to.
        StorageError: the file cannot be locked at all.
    """
    return _locked(path, os.O_RDWR, is_exclusive=True)


def lock_for_copying(path: Path) -> FileLock:
    """Keep writers out while the bare bytes of a project are copied; several may do so at once.

    Without locks of the file system, the project cannot be opened for writing.

    Raises:
        ProjectLockedError: the project is open for writing elsewhere.
        StorageError: the file cannot be read.
    """
    return _locked(path, os.O_RDONLY, is_exclusive=False)


def _locked(path: Path, flags: int, *, is_exclusive: bool) -> FileLock:
    try:
        descriptor = os.open(path, flags | _BINARY | getattr(os, "O_CLOEXEC", 0))
    except OSError as error:
        if error.errno in _REFUSED:
            raise read_only_error(path) from error
        raise StorageError(
            "the project file cannot be opened",
            found=f"{path} ({error.strerror})",
            remedy="check that its folder is still there",
        ) from error
    try:
        _take(descriptor, is_exclusive=is_exclusive)
    except OSError as error:
        if not is_exclusive and error.errno not in _TAKEN:
            return FileLock(descriptor)
        os.close(descriptor)
        if error.errno in _TAKEN:
            raise ProjectLockedError(
                "the project is open in another window or program",
                found=str(path),
                remedy="close it there, or open it for reading only",
            ) from error
        raise StorageError(
            "the project cannot be locked",
            found=f"{path} ({error.strerror})",
            remedy="copy it to a folder on this computer",
        ) from error
    return FileLock(descriptor)


def _take(descriptor: int, *, is_exclusive: bool) -> None:
    """Lock the byte or raise `OSError`; never waits."""
    if fcntl is None:
        assert msvcrt is not None, "every system has one of the two"
        os.lseek(descriptor, _BYTE, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        return
    kind = fcntl.F_WRLCK if is_exclusive else fcntl.F_RDLCK
    command = getattr(fcntl, "F_OFD_SETLK", None)
    if command is None:
        flags = fcntl.LOCK_EX if is_exclusive else fcntl.LOCK_SH
        fcntl.lockf(descriptor, flags | fcntl.LOCK_NB, 1, _BYTE, os.SEEK_SET)
        return
    if sys.platform == "darwin":
        request = struct.pack("qqihh", _BYTE, 1, 0, kind, os.SEEK_SET)
    else:
        request = struct.pack("hhqqi0q", kind, os.SEEK_SET, _BYTE, 1, 0)
    fcntl.fcntl(descriptor, command, request)


def read_only_error(path: Path) -> ProjectReadOnlyError:
    """The error for a project whose file or folder must not be written to."""
    return ProjectReadOnlyError(
        "the project's file or folder is read-only",
        found=str(path),
        remedy="open it for reading only, or copy it to a folder that you may write to",
    )


_JUST_MADE_S = 0.25  # a draft exists for a moment before it is held
_SURELY_OVER_S = 24 * 3600  # where the file system has no locks


@contextmanager
def held_draft(draft: Path) -> Iterator[None]:
    """Keep others from taking a draft for an abandoned one, where the file system has locks."""
    with ExitStack() as resources:
        with suppress(ProtoleafError):
            resources.callback(lock_for_writing(draft).release)
        yield


def clear_abandoned_project_drafts(folder: Path) -> None:
    """Remove the drafts of project files and backups that killed programs left in a folder."""
    with suppress(OSError):
        for draft in folder.glob(f".*{SQLITE_DRAFT_SUFFIX}"):
            with suppress(OSError):
                if _is_abandoned(draft):
                    draft.unlink()


def _is_abandoned(draft: Path) -> bool:
    age_s = time.time() - draft.stat().st_mtime
    try:
        lock_for_writing(draft).release()
    except ProjectLockedError:
        return False
    except ProtoleafError:
        return age_s > _SURELY_OVER_S
    return age_s > _JUST_MADE_S


def copy_bytes(lock: FileLock, folder: Path, stem: str, suffix: str) -> Path:
    """Copy a locked file outside a transaction; the name is numbered where it is taken.

    Raises:
        OSError: it cannot be written; nothing of it is left.
    """
    for number in count(1):
        copy = folder / (f"{stem}{suffix}" if number == 1 else f"{stem} {number}{suffix}")
        if os.path.lexists(copy):
            continue
        try:
            lock.copy_to(copy)
        except FileExistsError:
            continue
        except OSError:
            with suppress(OSError):
                copy.unlink(missing_ok=True)
            raise
        return copy
    raise AssertionError  # numbers do not end
