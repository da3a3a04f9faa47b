"""Recognises a full disk, whichever library ran into it, and reports it in one way."""

import errno
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from engine.errors import ProtoleafError, StorageError, reason_of
from engine.files import size_text
from engine.texts import marked

REMEDY = "free some space, then try again"
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
# ERROR_HANDLE_DISK_FULL, ERROR_DISK_FULL, ERROR_DISK_QUOTA_EXCEEDED
_WINDOWS_FULL = frozenset({39, 112, 1295})
_DISK_IS_FULL = marked("the disk is full")
_NEARLY_NOTHING_BYTES = 1 << 20  # below this, a failed write is put down to the space
_PHRASES = (
    "no space left",
    "disk quota exceeded",
    "database or disk is full",
    "not enough space on the disk",
)
_SHORT_WRITES = (
    "requested and",  # numpy: "1000 requested and 512 written"
    "problem writing element",  # numpy: a file that takes no more
    "unexpected pos",  # torch: the position of an archive that could not be written on
    "write failed",
    "short write",
    "write error",
    "failed writing",  # torch and onnx: "PytorchStreamWriter failed writing file"
    "encoder error",  # Pillow: the file took no more
    "disk i/o error",  # SQLite: a temporary, shared or log file that cannot grow
    "no usable temporary directory",  # Python tries each by writing into it
    "unable to open database file",  # SQLite: no room for its log
)


class DiskFullError(StorageError):
    """The disk takes no more."""


def is_full(path: Path | None, error: BaseException) -> bool:
    """Whether an error means that there is no room left.

    Messages without a reason (SQLite's "disk I/O error", a short write of numpy) count where the
    disk of `path`, a file or folder if known, is nearly full, or where a chained error says so.
    """
    return any(_is_disk_full(each) or _short_on(path, each) for each in _chain(error))


def disk_full(path: Path | str, *, needed_bytes: int = 0, free_bytes: int = 0) -> DiskFullError:
    """The error of a full disk, with the needed and the free space where these are known."""
    if not needed_bytes:
        return DiskFullError(_DISK_IS_FULL, found=str(path), remedy=REMEDY)
    return DiskFullError(
        _DISK_IS_FULL,
        expected="{needed} free",
        found="{free} for {path}",
        remedy=REMEDY,
        needed=size_text(needed_bytes),
        free=size_text(free_bytes),
        path=path,
    )


def storage_error(path: Path, error: Exception, what: str, remedy: str = "") -> StorageError:
    """The error of a file that cannot be written: a full disk, or `what` with the reason."""
    if isinstance(error, DiskFullError):
        return error
    if is_full(path, error):
        return disk_full(path)
    return StorageError(
        what, found="{path}: {reason}", remedy=remedy, path=path, reason=reason_of(error)
    )


@contextmanager
def writing(path: Path, what: str, remedy: str = "") -> Iterator[None]:
    """Turn an `OSError` inside the block into a `StorageError`; see `storage_error`."""
    try:
        yield
    except OSError as error:
        raise storage_error(path, error, what, remedy) from error


def _chain(error: BaseException | None) -> list[BaseException]:
    chain: list[BaseException] = []
    while error is not None and error not in chain:
        chain.append(error)
        error = error.__cause__ or error.__context__
    return chain


def _is_disk_full(error: BaseException) -> bool:
    if isinstance(error, DiskFullError):
        return True
    if (
        isinstance(error, sqlite3.Error)
        and getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_FULL
    ):
        return True
    if isinstance(error, OSError) and (
        error.errno in _FULL or getattr(error, "winerror", None) in _WINDOWS_FULL
    ):
        return True
    text = str(error).lower()
    return any(phrase in text for phrase in _PHRASES)


def _short_on(path: Path | None, error: BaseException) -> bool:
    text = str(error).lower()
    if not any(phrase in text for phrase in _SHORT_WRITES):
        return False
    places = [place for place in (path, _temporary()) if place is not None]
    return any(free_bytes(place) < _NEARLY_NOTHING_BYTES for place in places)


def _temporary() -> Path:
    """The temporary folder; `tempfile.gettempdir` would write to it, which a full disk refuses."""
    return Path(
        tempfile.tempdir
        or next(filter(None, map(os.environ.get, ("TMPDIR", "TEMP", "TMP"))), "/tmp")  # noqa: S108
    )


def as_full_disk(error: Exception, *places: Path) -> Exception:
    """Convert the error that ended a command to a `DiskFullError` where a full disk was its cause.

    Args:
        places: files and folders that it worked with, for errors that name none.
    """
    if isinstance(error, DiskFullError) or _DISK_IS_FULL in str(error):
        return error
    if not any(is_full(place, error) for place in places or (None,)):
        return error
    if isinstance(error, ProtoleafError):
        remedy = error.remedy if "space" in error.remedy else REMEDY
        return DiskFullError(
            "the disk is full; {problem}",
            expected=error.expected,
            found=error.found,
            remedy=remedy,
            problem=error.what,
        )
    named = next(
        (each.filename for each in _chain(error) if isinstance(each, OSError) and each.filename),
        None,
    )
    tightest = min(places, key=free_bytes, default=_temporary())
    return disk_full(os.fsdecode(named) if isinstance(named, str | bytes) else tightest)


def free_bytes(path: Path) -> int:
    """Free space for the user on the disk of a path, which need not exist; huge if unknown."""
    for place in (path, *path.absolute().parents):
        with suppress(OSError, ValueError):  # a name may be too long, or none at all
            if os.name != "posix":
                return shutil.disk_usage(place).free
            facts = os.statvfs(place)
            return facts.f_bavail * facts.f_frsize if facts.f_files == 0 or facts.f_favail else 0
    return 1 << 62


def free_space(folder: Path) -> int | None:
    """Bytes free on the disk of a folder, or of its nearest existing parent; None if unknown."""
    for place in (folder, *folder.parents):
        with suppress(OSError, ValueError):
            return shutil.disk_usage(place).free
    return None
