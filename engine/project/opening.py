"""Opening a project file: which mode, whose lock, and the older file's way to the present."""

import os
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

from engine.errors import ProjectDamagedError, ProjectLockedError, ProtoleafError, StorageError
from engine.events import CancelToken, OnProgress, ignore_progress
from engine.project.backups.place import BackupReason, make_folder
from engine.project.backups.taking import take_backup
from engine.project.clock import present_time
from engine.project.connection import Connection, damaged_error
from engine.project.file.file_lock import FileLock, lock_for_writing, read_only_error
from engine.project.file.file_state import (
    Read,
    Seal,
    digest_of,
    has_seal,
    has_state,
    mark_of,
    put_seal,
    reader_of,
    seal_of,
)
from engine.project.file.guard import FileGuard
from engine.project.file.logs import open_snapshot, settle_logs
from engine.project.file.on_disk import Identity, address, check_header, check_version, identity_of
from engine.project.migrations import migrate
from engine.project.schema import SCHEMA_VERSION
from engine.project.schema_shape import acting_faults
from engine.project.soundness import faults, has_sound_structure, opening_faults

_LARGEST_IDLE_JOURNAL_BYTES = 1024 * 1024
# how often this process has each file open for writing
_open_files: Counter[Identity] = Counter()


@dataclass
class LeftSeal:
    """The checksum with which a file was closed; None before, and where it has none."""

    digest: bytes | None = None


@dataclass(frozen=True)
class OpenFile:
    """An open project file."""

    connection: Connection  # the file, or a private copy of it, checked and of the present version
    resources: ExitStack  # lock and private copies, released after it was closed
    # the file as it was opened for writing; None for one that is only read
    lock: FileLock | None = None
    seal: Seal = Seal.OPEN  # the state of its seal when it was opened
    left: LeftSeal = field(default_factory=LeftSeal)  # known once it was closed

    @property
    def is_writable(self) -> bool:
        """Whether changes may be made."""
        return self.lock is not None

    def check_place(self) -> None:
        """Raise `ProjectMovedError` where the file was moved, or another program wrote to it."""
        if self.connection.guard is not None:
            self.connection.guard.check()

    def close(self) -> None:
        """Let go of everything."""
        with self.resources:
            pass


def open_for_writing(
    path: Path, *, on_progress: OnProgress = ignore_progress, cancel: CancelToken | None = None
) -> OpenFile:
    """Open a project as its one writer; an older file is backed up and migrated.

    Args:
        on_progress, cancel: of the check of a file that was not closed: seconds for a million
            images.

    Raises:
        ProjectMissingError, ProjectDamagedError, ProjectTooNewError: see `check_header`, or
            unsound.
        ProjectReadOnlyError: the file or its folder must not be written to.
        ProjectLockedError: it is open for writing elsewhere.
        Cancelled: stopped during the check; no data is changed.
    """
    _check_header_unless_open(path)
    if not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)):
        raise read_only_error(path)
    with ExitStack() as resources:
        lock = lock_for_writing(path)
        resources.callback(lock.release)
        _count_as_open(lock.identity, resources)
        settle_logs(path)
        connection = Connection(path, address(path, "mode=rw"))
        resources.callback(connection.close)
        version = _checked_version(connection)
        if version < SCHEMA_VERSION:
            _rehearse_migration(connection, version, _seal_of(connection, lock.read))
            _back_up(connection)
        _make_durable(connection)
        migrate(connection, version)
        connection.write("PRAGMA foreign_keys = ON")
        seal, left = _seal_of(connection, lock.read), LeftSeal()
        _refuse(
            connection, opening_faults(connection, seal, on_progress=on_progress, cancel=cancel)
        )
        connection.guard = FileGuard(path, lock)
        resources.callback(_leave, connection, lock, left)
        return OpenFile(connection, resources.pop_all(), lock, seal, left)
    raise AssertionError  # the stack above never swallows an error


def open_for_reading(
    path: Path,
    *,
    is_checked: bool = True,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> OpenFile:
    """Open a private copy of a project; works in read-only folders and while others write.

    Raises as `open_for_writing`, but not for writing. Unless `is_checked`, the file may be unsound.
    """
    _check_header_unless_open(path)
    with ExitStack() as resources:
        snapshot = open_snapshot(path, resources, is_open_here=is_open_here(path))
        connection = snapshot.connection
        version = _checked_version(connection)
        seal = _seal_of(connection, reader_of(snapshot.path))
        if version < SCHEMA_VERSION:
            _refuse(connection, acting_faults(connection))
            seal = _seal_once_migrated(seal)
            # an older file may have had a write-ahead log
            connection.value("PRAGMA journal_mode = DELETE")
            migrate(connection, version)
        if is_checked:
            has_writer = snapshot.has_writer
            lines = opening_faults(
                connection, seal, has_writer=has_writer, on_progress=on_progress, cancel=cancel
            )
            _refuse(connection, lines)
        connection.write("PRAGMA query_only = ON")
        if os.name == "posix":
            # SQLite goes on without the name, and a kill leaves nothing.
            shutil.rmtree(snapshot.path.parent, ignore_errors=True)
        return OpenFile(connection, resources.pop_all(), seal=seal)
    raise AssertionError  # the stack above never swallows an error


@dataclass(frozen=True)
class CheckedFile:
    """Result of the check of a project file."""

    faults: list[str] = field(default_factory=list)  # one line for each
    classes: int = 0  # how many a sound file has, as the next ones
    images: int = 0
    labels: int = 0


def checked(
    path: Path, *, on_progress: OnProgress = ignore_progress, cancel: CancelToken | None = None
) -> CheckedFile:
    """Look for every fault of a project file in a private copy of it; the file keeps every byte.

    Raises:
        ProjectMissingError, ProjectTooNewError: see `check_header`.
        StorageError: it cannot be looked at.
        Cancelled: stopped.
    """
    try:
        with closing(open_for_reading(path, is_checked=False)) as file:
            found = faults(file.connection, file.seal, on_progress=on_progress, cancel=cancel)
            return CheckedFile(found) if found else CheckedFile([], *_counts(file.connection))
    except ProjectDamagedError as error:
        return CheckedFile([str(error)])


def _counts(connection: Connection) -> Iterator[int]:
    for table in ("class", "image", "label"):
        yield int(connection.value(f"SELECT COUNT(*) FROM {table}"))  # noqa: S608


def _leave(connection: Connection, lock: FileLock, left: LeftSeal) -> None:
    """Seal the file and take its journal away, before it is closed."""
    guard, connection.guard = connection.guard, None
    assert isinstance(guard, FileGuard), "every file that is open for writing has one"
    if guard.has_stopped:
        return
    guard.check()
    with suppress(ProtoleafError):  # a file without seal is as good, it only takes longer to open
        if has_seal(connection) or has_sound_structure(connection):
            put_seal(connection, lock.read)
            connection.value("PRAGMA journal_mode = DELETE")
            left.digest = digest_of(connection)


def _refuse(connection: Connection, lines: list[str]) -> None:
    if lines:
        more = f" and {len(lines) - 1} more faults" if len(lines) > 1 else ""
        raise damaged_error(connection.path, f"{lines[0]}{more}")


def _rehearse_migration(connection: Connection, version: int, seal: Seal) -> None:
    """Refuse an older project that would not be sound afterwards, before anything is written."""
    _refuse(connection, acting_faults(connection))
    with closing(Connection(connection.path, ":memory:")) as memory:
        connection.copy_to(memory)
        migrate(memory, version)
        _refuse(memory, opening_faults(memory, _seal_once_migrated(seal)))


def _seal_once_migrated(seal: Seal) -> Seal:
    """Drop a valid checksum with the first migration step; an invalid one stays as a fault."""
    return Seal.BROKEN if seal is Seal.BROKEN else Seal.OPEN


def _back_up(connection: Connection) -> None:
    """Back an older project up; without a backup nothing is migrated, since no undo leads back."""
    path = connection.path
    try:
        folder = make_folder(path, mark_of(connection).project_id)
        take_backup(
            connection, folder, project=path, reason=BackupReason.MIGRATION, when=present_time()
        )
    except StorageError as error:
        raise StorageError(
            "the project is of an older version and could not be backed up, so it was left as it "
            "is",
            found="{problem} ({detail})",
            remedy=error.remedy,
            problem=error.what,
            detail=error.found,
        ) from error


def _seal_of(connection: Connection, read: Read) -> Seal:
    """The state of the seal; unreadable counts as open, so that the whole file is checked."""
    try:
        return seal_of(connection, read) if has_state(connection) else Seal.OPEN
    except ProjectDamagedError:
        return Seal.OPEN


def _check_header_unless_open(path: Path) -> None:
    """Check the header, but never of a file that this process has open.

    POSIX drops all of a process's classic locks on a file once it closes any descriptor of it,
    those of SQLite in the middle of a commit among them.
    """
    if not is_open_here(path):
        check_header(path)


def is_open_here(path: Path) -> bool:
    """Whether this process has a file open for writing; see `_check_header_unless_open`."""
    return identity_of(path) in _open_files


def _count_as_open(identity: Identity, resources: ExitStack) -> None:
    _open_files[identity] += 1

    def forget() -> None:
        _open_files[identity] -= 1
        if not _open_files[identity]:
            del _open_files[identity]

    resources.callback(forget)


def _checked_version(connection: Connection) -> int:
    # The header may be older than a log, so SQLite's first reading of this file counts as well.
    version = int(connection.value("PRAGMA user_version"))
    check_version(connection.path, version)
    connection.value("SELECT COUNT(*) FROM sqlite_schema")
    return version


def _make_durable(connection: Connection) -> None:
    """One file that is whole whenever an action was acknowledged: no write-ahead log."""
    mode = connection.value("PRAGMA journal_mode = PERSIST")
    if mode != "persist":
        raise ProjectLockedError(
            "the project is open in another program",
            found=str(connection.path),
            remedy="close it there",
        )
    connection.value(f"PRAGMA journal_size_limit = {_LARGEST_IDLE_JOURNAL_BYTES}")
    connection.write("PRAGMA synchronous = FULL")
