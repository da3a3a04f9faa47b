"""A project file before SQLite opens it: address, identity, header, and its logs."""

import contextlib
import os
import stat
import struct
from collections.abc import Iterator
from datetime import datetime
from itertools import count
from pathlib import Path
from urllib.parse import quote

from engine.config import ARCHIVE_SUFFIX
from engine.errors import (
    ProjectDamagedError,
    ProjectMissingError,
    ProjectTooNewError,
    StorageError,
    reason_of,
)
from engine.files import open_regular
from engine.project.connection import Connection, file_and_reason
from engine.project.schema import APPLICATION_ID, SCHEMA_VERSION
from engine.texts import marked

LOG_SUFFIX = "-wal"
JOURNAL_SUFFIX = "-journal"
INDEX_SUFFIX = "-shm"
SIDE_SUFFIXES = (LOG_SUFFIX, INDEX_SUFFIX, JOURNAL_SUFFIX)

# device and number of a file: the same under every name that leads to it
Identity = tuple[int, int]


def address(path: Path, options: str) -> str:
    """The `file:` URI of an absolute path for SQLite, with options like `mode=ro&immutable=1`."""
    plain = path.as_posix()
    root = "" if plain.startswith("/") else "/"
    return f"file://{root}{quote(os.fsencode(plain))}?{options}"


@contextlib.contextmanager
def bare_file(path: Path) -> Iterator[Connection]:
    """Open a file read-only, without applying any log."""
    with contextlib.closing(Connection(path, address(path, "mode=ro&immutable=1"))) as connection:
        yield connection


def side_file(path: Path, suffix: str) -> Path:
    """The side file of a database with this suffix."""
    return path.with_name(path.name + suffix)


def identity_of(path: Path) -> Identity | None:
    """Which file is at a path now; None where none can be found."""
    try:
        status = os.stat(path)  # noqa: PTH116 (runs with every action)
    except OSError:
        return None
    return status.st_dev, status.st_ino


_HEADER_BYTES = 100
_MAGIC = b"SQLite format 3\x00"
_ZIP = b"PK"
_VERSION_AT = 60  # PRAGMA user_version, 4 bytes, big-endian
_APPLICATION_AT = 68
_MODES_AT = 18  # for writing and reading, one byte each
_WAL_MODE = 2


def check_header(path: Path) -> None:
    """Refuse a file that cannot be one of our projects, without changing it.

    Raises:
        ProjectMissingError: no file is there.
        ProjectDamagedError: it is not a project.
        ProjectTooNewError: a newer version of the program wrote it.
        StorageError: it cannot be read.
    """
    header = _read_header(path)
    if header.startswith(_ZIP) and path.suffix == ARCHIVE_SUFFIX:
        raise ProjectDamagedError(
            "{path} is a copy of a project with its photos",
            remedy="unpack it first: protoleaf unpack FILE",
            path=path,
        )
    if not header.startswith(_MAGIC) or len(header) < _HEADER_BYTES:
        found = "a file that was cut off" if header.startswith(_MAGIC) else "another kind of file"
        raise _no_project(path, found if header else marked("an empty file"))
    (application_id,) = struct.unpack_from(">i", header, _APPLICATION_AT)
    if application_id != APPLICATION_ID:
        raise _no_project(path, marked("a database of another program"))
    (version,) = struct.unpack_from(">i", header, _VERSION_AT)
    check_version(path, version)


def is_of_this_program(path: Path) -> bool:
    """Whether a file is a project or a backup, of any version; False if unreadable."""
    try:
        header = _read_header(path)
    except (ProjectMissingError, ProjectDamagedError, StorageError):
        return False
    application = header[_APPLICATION_AT : _APPLICATION_AT + 4]
    return header.startswith(_MAGIC) and application == struct.pack(">i", APPLICATION_ID)


def check_version(path: Path, version: int) -> None:
    """Raise `ProjectTooNewError` or `ProjectDamagedError` for an unsupported version."""
    if version < 1:
        raise ProjectDamagedError(
            "the project file has a version that does not exist",
            expected="1 to {known_version}",
            found="{version} in {path}",
            remedy="open an earlier copy of the file, or restore a backup; this file is left as "
            "it is",
            known_version=SCHEMA_VERSION,
            version=version,
            path=path,
        )
    if version > SCHEMA_VERSION:
        raise ProjectTooNewError(
            "the project was made by a newer version of Protoleaf",
            expected="file version {known_version} or older",
            found="{version} in {path}",
            remedy="update Protoleaf to open it",
            known_version=SCHEMA_VERSION,
            version=version,
            path=path,
        )


def has_write_ahead_log(path: Path) -> bool:
    """Whether a project was last written with a write-ahead log, as by early versions."""
    return _WAL_MODE in _read_header(path)[_MODES_AT : _MODES_AT + 2]


def _read_header(path: Path) -> bytes:
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise _no_project(path, marked("a folder or device"))
        with open_regular(path) as file:
            return file.read(_HEADER_BYTES)
    except FileNotFoundError as error:
        raise ProjectMissingError(
            "there is no project file",
            found=str(path),
            remedy="check the name, or create a new project",
        ) from error
    except OSError as error:
        found = file_and_reason(path, reason_of(error))
        remedy = "check the permissions of the file"
        raise StorageError("the project file cannot be read", found=found, remedy=remedy) from error


def _no_project(path: Path, found: str) -> ProjectDamagedError:
    return ProjectDamagedError(
        "{path} is not a Protoleaf project or is damaged",
        found=found,
        remedy="choose another file, or open an earlier copy of the file; this file is left as "
        "it is",
        path=path,
    )


JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")


def is_hot(journal: Path) -> bool:
    """Whether SQLite would take this journal for an unfinished commit and apply it."""
    try:
        with open_regular(journal) as file:
            return file.read(len(JOURNAL_MAGIC)) == JOURNAL_MAGIC
    except OSError:
        return False


def set_aside(log: Path) -> Path:
    """Rename a foreign log, so that it is never applied. It is never deleted.

    Returns its new path, such as `birds.protoleaf-journal.set-aside-20260102-030405`. Raises
    `StorageError`.
    """
    stamp = datetime.now().astimezone().strftime("%Y%m%d-%H%M%S")
    names = (
        f"{log.name}.set-aside-{stamp}" + (f"-{number}" if number > 1 else "")
        for number in count(1)
    )
    target = next(path for path in map(log.with_name, names) if not os.path.lexists(path))
    try:
        log.rename(target)
    except OSError as error:
        raise StorageError(
            "a log of another version of the project is in its folder and cannot be renamed",
            found=file_and_reason(log, reason_of(error)),
            remedy="move it to another folder, then open the project again",
        ) from error
    if log.name.endswith(LOG_SUFFIX):
        # an index of the log, which SQLite makes again when it needs one
        with contextlib.suppress(OSError):
            log.with_name(log.name.removesuffix(LOG_SUFFIX) + INDEX_SUFFIX).unlink(missing_ok=True)
    return target
