"""Logs of a project before it is opened, and reading a project from a private copy.

A project's own log is for SQLite to finish, all others are set aside.

A kill within a commit leaves a journal, and the file is whole only together with it. But a journal,
or a write-ahead log of an older version, also stays behind when a backup replaces the file, and
SQLite would apply it to that. A foreign log is renamed, never applied, never deleted.
"""

import logging
import os
import shutil
import struct
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from engine.errors import ProjectLockedError, ProjectReadOnlyError, ProtoleafError, StorageError
from engine.files import open_regular
from engine.full_disk import storage_error
from engine.new_folder import ScratchFolder, scratch_folder
from engine.project.connection import Connection, Row, unsafe_target
from engine.project.file.file_lock import FileLock, lock_for_copying
from engine.project.file.file_state import (
    FileMark,
    Seal,
    has_seal,
    mark_of,
    read_mark,
    reader_of,
    seal_of,
)
from engine.project.file.on_disk import (
    JOURNAL_MAGIC,
    JOURNAL_SUFFIX,
    LOG_SUFFIX,
    address,
    bare_file,
    has_write_ahead_log,
    is_hot,
    set_aside,
    side_file,
)
from engine.project.schema import SCHEMA_VERSION
from engine.project.soundness import faults

T = TypeVar("T")

# magic, records, nonce, pages before, sector size, page size
_HEADER = struct.Struct(">8sIIIII")
_PAGE_NUMBER_BYTES = 4
_SMALLEST_PAGE_BYTES = 512
_LARGEST_PAGE_BYTES = 65536
_SELECT_STEPS = "SELECT step_id, text, done_at FROM journal_step ORDER BY step_id"
# sealing changes the header and the row with the mark, and nothing that anybody made
_PAGES_OF_A_SEAL = 2
_EMPTY_LOG_BYTES = 32  # a write-ahead log's header without any page
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class JournalStart:
    """The header of SQLite's rollback journal, which has pages from before the current commit.

    Our commits change the mark of the file first (`FileGuard`), so it is in the first page of our
    journals.
    """

    record_count: int  # how many pages it holds, as far as they were flushed
    page: bytes  # what its first page held before the commit

    def mark_of(self, identity: bytes) -> FileMark | None:
        """The mark of a project in the first page; None for another page or project."""
        place = self.page.find(identity)
        mark = self.page[place:] if place >= 0 else b""
        return FileMark.from_bytes(mark) if len(mark) >= len(bytes(FileMark(identity, 0))) else None


def _read_journal_start(path: Path) -> JournalStart | None:
    """Read the beginning of a journal; None where it is not a journal or holds no whole page."""
    try:
        with open_regular(path) as file:
            header = file.read(_HEADER.size)
            if len(header) < _HEADER.size:
                return None
            magic, record_count, _nonce, _pages, sector_bytes, page_bytes = _HEADER.unpack(header)
            if (
                magic != JOURNAL_MAGIC
                or not _SMALLEST_PAGE_BYTES <= page_bytes <= _LARGEST_PAGE_BYTES
            ):
                return None
            file.seek(min(sector_bytes, _LARGEST_PAGE_BYTES))
            record = file.read(_PAGE_NUMBER_BYTES + page_bytes)
    except OSError:
        return None
    if len(record) < _PAGE_NUMBER_BYTES + page_bytes:
        return None
    return JournalStart(record_count, record[_PAGE_NUMBER_BYTES:])


def settle_logs(path: Path) -> tuple[Path, ...]:
    """Set foreign logs of a locked project aside, before SQLite opens it; returns their new paths.

    Raises:
        StorageError: a log that does not belong cannot be renamed.
    """
    own = own_log(path)
    found = [
        log
        for suffix in (LOG_SUFFIX, JOURNAL_SUFFIX)
        if _would_be_applied(log := side_file(path, suffix))
    ]
    foreign = [set_aside(log) for log in found if log != own]
    for log in foreign:
        _log.warning("a log that does not belong to %s was set aside as %s", path.name, log.name)
    if own is not None and own not in found:
        # the file was renamed after the kill, and its journal was not
        own.rename(side_file(path, JOURNAL_SUFFIX))
    return tuple(foreign)


def own_log(path: Path) -> Path | None:
    """The log of an incompletely committed project; None where the file alone is whole.

    A journal may still have an earlier name of the project.
    """
    log, journal = side_file(path, LOG_SUFFIX), side_file(path, JOURNAL_SUFFIX)
    if has_write_ahead_log(path):
        return log if _would_be_applied(log) and _fits(path, log) else None
    if is_hot(journal) and _is_own(path, journal):
        return journal
    # Whether a seal holds takes reading the whole file, which opening does anyway.
    candidates = () if _of_bare_file(path, has_seal) else _journals_without_file(path)
    return next((each for each in candidates if is_hot(each) and _is_own(path, each)), None)


@contextmanager
def _private_copy(path: Path, log: Path | None) -> Iterator[tuple[Connection, Path]]:
    """Copy a project and one log to a scratch folder, where SQLite may merge them."""
    with scratch_folder() as folder:
        copy = folder / "copy.protoleaf"
        shutil.copyfile(path, copy)
        if log is not None:
            suffix = LOG_SUFFIX if log.name.endswith(LOG_SUFFIX) else JOURNAL_SUFFIX
            shutil.copyfile(log, side_file(copy, suffix))
        with closing(Connection(path, address(copy, "mode=rw"))) as connection:
            yield connection, copy


def _would_be_applied(log: Path) -> bool:
    if log.name.endswith(JOURNAL_SUFFIX):
        return is_hot(log)
    with suppress(OSError):
        return log.stat().st_size > _EMPTY_LOG_BYTES
    return False


def _is_own(path: Path, journal: Path) -> bool:
    """Whether the journal is of the commit before, or in the middle of, which the file is."""
    start = _read_journal_start(journal)
    mark = _of_bare_file(path, read_mark)
    if start is None or mark is None:
        return start is not None and _fits(path, journal)
    before = start.mark_of(mark.identity)
    if before is None:
        return mark.generation == 0 and _is_of_migration(path, journal, mark)
    seal = _of_bare_file(path, lambda connection: seal_of(connection, reader_of(path)))
    if seal is Seal.WHOLE and start.record_count > _PAGES_OF_A_SEAL:
        return mark == before and _fits(path, journal)
    return mark in (before, before.next) and _fits(path, journal)


def _journals_without_file(path: Path) -> Iterator[Path]:
    """Journals in the project's folder whose own file is missing."""
    try:
        with os.scandir(path.parent) as entries:
            names = sorted(entry.name for entry in entries if entry.name.endswith(JOURNAL_SUFFIX))
    except OSError:
        return
    for name in names:
        if not path.with_name(name.removesuffix(JOURNAL_SUFFIX)).exists():
            yield path.with_name(name)


def _of_bare_file(path: Path, read: Callable[[Connection], T]) -> T | None:
    """The state of the file alone, without any log; None if unreadable."""
    try:
        with bare_file(path) as connection:
            return read(connection)
    except ProtoleafError:
        return None


def _fits(path: Path, log: Path) -> bool:
    """Whether file and log together are a sound project with all the history of the file alone.

    A log that was applied to another state of the file leaves pages that do not fit one another.
    """
    try:
        alone: list[Row] = []
        if log.name.endswith(LOG_SUFFIX):
            with _private_copy(path, None) as (connection, _):
                alone = connection.rows(_SELECT_STEPS)
        with _private_copy(path, log) as (together, copy):
            if int(together.value("PRAGMA user_version")) == SCHEMA_VERSION:
                return not faults(together, seal_of(together, reader_of(copy)))
            is_sound = together.value("PRAGMA integrity_check") == "ok"
            return is_sound and together.rows(_SELECT_STEPS)[: len(alone)] == alone
    except (ProtoleafError, OSError):
        return False


def _is_of_migration(path: Path, journal: Path, mark: FileMark) -> bool:
    """Whether the journal rolls back the migration by which the file got its mark."""
    try:
        with _private_copy(path, journal) as (before, _):
            is_older = int(before.value("PRAGMA user_version")) < SCHEMA_VERSION
            is_sound = before.value("PRAGMA integrity_check") == "ok"
            return is_older and is_sound and mark_of(before).identity == mark.identity
    except (ProtoleafError, OSError):
        return False


_TRIES = 100
_PAUSE_S = 0.05


@dataclass(frozen=True)
class Snapshot:
    """A private copy of a project."""

    connection: Connection  # the copy; its errors name the project's path
    path: Path  # where the copy is, alone in a folder
    has_writer: bool  # whether a program has the project open, and has checked it


def open_snapshot(path: Path, resources: ExitStack, *, is_open_here: bool) -> Snapshot:
    """Copy a project and open the copy, which lives as long as `resources`.

    `is_open_here`: whether this process has the project open for writing.

    Raises:
        ProjectDamagedError: the file cannot be copied because it is damaged.
        ProjectLockedError: it is busy for seconds.
        StorageError: there is no room for a copy, or the file cannot be read.
    """
    try:
        folder = ScratchFolder()
    except OSError as error:
        raise _no_room_error(path, Path(tempfile.gettempdir()), error) from error
    resources.callback(folder.remove)
    copy = folder.path / "copy.protoleaf"
    has_writer = _copy_project(path, copy, is_open_here=is_open_here)
    connection = Connection(path, address(copy, "mode=rw"))
    resources.callback(connection.close)
    connection.value("SELECT COUNT(*) FROM sqlite_schema")  # brings a log together with its file
    return Snapshot(connection, copy, has_writer)


def _copy_project(path: Path, copy: Path, *, is_open_here: bool) -> bool:
    """Copy a project with its log; returns whether it is open for writing elsewhere."""
    if is_open_here:
        _copy_while_writing(path, copy)
        return True
    for _ in range(_TRIES):
        try:
            lock = lock_for_copying(path)
        except ProjectLockedError:
            try:
                _copy_while_writing(path, copy)
            except (ProjectReadOnlyError, StorageError):
                if copy.exists():  # it is the copy that fails
                    raise
                time.sleep(_PAUSE_S)  # the writer is just opening, or died
            else:
                return True
        else:
            _copy_alone(path, copy, lock)
            return False
    raise ProjectLockedError(
        "the project is busy in another program", found=str(path), remedy="try again"
    )


def _copy_while_writing(path: Path, copy: Path) -> None:
    """Let SQLite copy: the writer waits with its next commit that long."""
    with closing(Connection(path, address(path, "mode=ro"))) as source:
        source.value("SELECT COUNT(*) FROM sqlite_schema")  # refuses where a commit is unfinished
        with unsafe_target(copy) as target:
            source.copy_to(target)


def _copy_alone(path: Path, copy: Path, lock: FileLock) -> None:
    """Copy the bytes without SQLite, which would apply any log; the file must be locked."""
    try:
        log = own_log(path)
        lock.copy_to(copy, is_durable=False)
        if log is not None:
            shutil.copyfile(log, copy.with_name(copy.name + log.name[log.name.rindex("-") :]))
    except OSError as error:
        raise _no_room_error(path, copy.parent, error) from error
    finally:
        lock.release()


def _no_room_error(path: Path, folder: Path, error: OSError) -> StorageError:
    return storage_error(
        folder,
        error,
        f"{path} cannot be copied to the folder for temporary files to be read",
        "free some space there, or set TMPDIR to another folder",
    )
