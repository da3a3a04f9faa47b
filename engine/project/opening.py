"""Opening a project file: which mode, whose lock, and the older file's way to the present."""

import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote

from engine.errors import ProjectDamagedError, ProjectReadOnlyError, StorageError
from engine.project.connection import Connection
from engine.project.file_header import check_header, check_version
from engine.project.lock import lock_for_writing, read_only_error
from engine.project.migrations import backup_before_migration, migrate
from engine.project.schema import SCHEMA_VERSION, TABLE_NAMES

_open_files: Final[Counter[tuple[int, int]]] = Counter()
"""How often this process has each file open, by device and number."""


@dataclass(frozen=True)
class OpenFile:
    """An open project file.

    Attributes:
        connection: the file, checked and of the present version.
        resources: what must be let go after it was closed: lock, private copies.
        is_writable: whether changes may be made.
    """

    connection: Connection
    resources: ExitStack
    is_writable: bool

    def close(self) -> None:
        """Let go of everything."""
        with self.resources:
            self.connection.close()


def open_for_writing(path: Path) -> OpenFile:
    """Open a project as its one writer; an older file is backed up and migrated.

    Raises:
        ProjectMissingError, ProjectDamagedError, ProjectTooNewError: see `check_header`.
        ProjectReadOnlyError: the file or its folder must not be written to.
        ProjectLockedError: somebody else writes.
    """
    _check_header_unless_open(path)
    if not _may_write(path):
        raise read_only_error(path)
    with ExitStack() as resources:
        resources.callback(lock_for_writing(path).release)
        connection = Connection(path, _address(path, "mode=rw"))
        resources.callback(connection.close)
        version = _checked_version(connection)
        _make_durable(connection)
        if version < SCHEMA_VERSION:
            backup_before_migration(connection, version)
            migrate(connection, version)
        _check_tables(connection)
        _remember_open(path, resources)
        return OpenFile(connection, resources.pop_all(), is_writable=True)
    raise AssertionError  # the stack above never swallows an error


def open_for_reading(path: Path) -> OpenFile:
    """Open a project without changing it; works in read-only folders and beside a writer.

    Raises:
        ProjectMissingError, ProjectDamagedError, ProjectTooNewError: see `check_header`.
    """
    _check_header_unless_open(path)
    with ExitStack() as resources:
        connection, version = _readable(path, resources)
        if version < SCHEMA_VERSION:
            connection = _migrated_in_memory(connection, version, resources)
        connection.write("PRAGMA query_only = ON")
        _check_tables(connection)
        _remember_open(path, resources)
        return OpenFile(connection, resources.pop_all(), is_writable=False)
    raise AssertionError  # the stack above never swallows an error


def _check_header_unless_open(path: Path) -> None:
    """Look at the header, but never of a file that this process has open.

    POSIX drops all of a process's locks on a file as soon as it closes any descriptor of it. Without its locks, SQLite
    in another process would take itself for the only one, and merge and delete the write-ahead log under us.
    """
    try:
        is_open = _identity(path) in _open_files
    except OSError:
        is_open = False  # not there, or not to be looked at: the header check says it in words
    if not is_open:
        check_header(path)


def _remember_open(path: Path, resources: ExitStack) -> None:
    identity = _identity(path)
    _open_files[identity] += 1

    def forget() -> None:
        _open_files[identity] -= 1
        if not _open_files[identity]:
            del _open_files[identity]

    resources.callback(forget)


def _identity(path: Path) -> tuple[int, int]:
    """Device and number of the file: the same under every name that leads to it."""
    status = path.stat()
    return status.st_dev, status.st_ino


def _readable(path: Path, resources: ExitStack) -> tuple[Connection, int]:
    if _may_write(path):
        # Not mode=ro: the last one to close must be able to merge the write-ahead log into the file.
        return _connected(path, _address(path, "mode=rw"), resources)
    try:
        return _connected(path, _address(path, "mode=ro"), resources)
    except (StorageError, ProjectReadOnlyError):
        # SQLite cannot make its companion files here. Nobody else can write, so the file alone is the truth,
        # unless a crash left changes in the write-ahead log.
        if _log_path(path).exists():
            return _connected(path, _address(_private_copy(path, resources), "mode=rw"), resources)
        return _connected(path, _address(path, "mode=ro&immutable=1"), resources)


def _connected(path: Path, address: str, resources: ExitStack) -> tuple[Connection, int]:
    connection = Connection(path, address)
    try:
        version = _checked_version(connection)
    except BaseException:
        connection.close()
        raise
    resources.callback(connection.close)
    return connection, version


def _private_copy(path: Path, resources: ExitStack) -> Path:
    folder = Path(resources.enter_context(tempfile.TemporaryDirectory(prefix="protoleaf-")))
    copy = folder / "copy.protoleaf"
    shutil.copyfile(path, copy)
    shutil.copyfile(_log_path(path), _log_path(copy))
    return copy


def _migrated_in_memory(connection: Connection, version: int, resources: ExitStack) -> Connection:
    memory = Connection(connection.path, ":memory:")
    resources.callback(memory.close)
    connection.copy_to(memory)
    migrate(memory, version)
    return memory


def _checked_version(connection: Connection) -> int:
    # The header may be older than the write-ahead log, so SQLite is asked as well. It is its first look into the file.
    version = int(connection.value("PRAGMA user_version"))
    check_version(connection.path, version)
    connection.value("SELECT COUNT(*) FROM sqlite_schema")
    return version


def _make_durable(connection: Connection) -> None:
    connection.write("PRAGMA foreign_keys = ON")
    if connection.value("PRAGMA journal_mode = WAL") != "wal":
        # Some network file systems have no shared memory.
        connection.value("PRAGMA journal_mode = DELETE")
    connection.write("PRAGMA synchronous = FULL")


def _check_tables(connection: Connection) -> None:
    found = {name for (name,) in connection.rows("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    if missing := sorted(TABLE_NAMES - found):
        raise ProjectDamagedError(
            "the project file is incomplete",
            found=f"{connection.path} without {', '.join(missing)}",
            remedy="open an earlier copy of the file; the damaged file is left as it is",
        )


def _may_write(path: Path) -> bool:
    may: Callable[[Path], bool] = lambda each: os.access(each, os.W_OK)  # noqa: E731 (typed shorthand)
    return may(path) and may(path.parent)


def _log_path(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


def _address(path: Path, options: str) -> str:
    plain = path.as_posix()
    root = "" if plain.startswith("/") else "/"
    return f"file://{root}{quote(os.fsencode(plain))}?{options}"
