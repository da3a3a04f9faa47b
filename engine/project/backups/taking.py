"""Makes a backup: copied while open, sealed, read back, flushed, and only then published."""

import os
from collections.abc import Callable
from datetime import datetime
from itertools import count
from pathlib import Path

from engine.errors import ProjectDamagedError, StorageError
from engine.events import CancelToken, OnProgress, Progress, ignore_progress
from engine.full_disk import storage_error
from engine.new_file import new_file
from engine.project.backups.index import note_backup
from engine.project.backups.place import BackupName, BackupReason, file_name, project_name
from engine.project.connection import Connection, file_and_reason, unsafe_target
from engine.project.file.file_lock import held_draft
from engine.project.file.file_state import (
    Seal,
    has_state,
    mark_of,
    put_seal,
    read_mark,
    reader_of,
    seal_of,
)
from engine.project.file.on_disk import bare_file
from engine.texts import marked

# the writer waits at most while this many pages are copied: 2 MB, a few milliseconds
PAGES_AT_ONCE = 500
_CALM_TRIES = 3
MEGABYTE = 1_000_000

RowCounts = dict[str, int]
OnPart = Callable[[int, int], None]


def take_backup(
    source: Connection,
    folder: Path,
    *,
    project: Path,
    reason: BackupReason,
    when: datetime,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> Path:
    """Back a project up into an existing folder, without overwriting, and return the path.

    Args:
        source: the project, through an unused connection.
        project: the project file, for the backup's name.
        when: with time zone.
        on_progress: is called after each part that was copied.
        cancel: stops between parts; nothing is left.

    Raises:
        ProjectDamagedError: the project itself is not sound.
        StorageError: the folder or the disk refuses, or the written file cannot be read back.
        Cancelled: stopped.
    """
    cancel = cancel or CancelToken()
    name = BackupName(project_name(project), when, reason)
    for number in count(1):
        path = folder / file_name(name, number)
        if os.path.lexists(path):
            continue
        try:
            with new_file(path, replace=False, for_sqlite=True) as draft, held_draft(draft.path):
                _fill(draft.path, source, on_progress, cancel)
        except FileExistsError:
            continue  # one of the same second exists
        except OSError as error:
            raise storage_error(
                path, error, "the backup cannot be written", "choose another folder for it"
            ) from error
        note_backup(project, mark_of(source).project_id, path)
        return path
    raise AssertionError  # numbers do not end


def copy_project(source: Connection, path: Path, *, cancel: CancelToken) -> None:
    """Copy a project into a new file, verified; the project is worked with meanwhile.

    Raises:
        ProjectDamagedError: the project itself is not sound.
        StorageError: something is there, or the disk refuses.
        Cancelled: stopped; nothing is left.
    """
    try:
        with new_file(path, replace=False, for_sqlite=True) as draft, held_draft(draft.path):
            _fill(draft.path, source, ignore_progress, cancel)
    except OSError as error:
        raise storage_error(
            path, error, "the copy cannot be written", "choose another folder for it"
        ) from error


def verify(path: Path, counts: RowCounts | None = None) -> None:
    """Read back an unused backup: structure, references, checksum, and row counts if given.

    Raises:
        ProjectDamagedError: the file is not a valid project.
        StorageError: it differs from the original.
    """
    with bare_file(path) as connection:
        damage = connection.value("PRAGMA integrity_check")
        if damage != "ok":
            raise _damaged(path, str(damage).partition("\n")[0])
        if connection.row("PRAGMA foreign_key_check") is not None:
            raise _damaged(path, marked("a row refers to another one that is missing"))
        if has_state(connection) and seal_of(connection, reader_of(path)) is Seal.BROKEN:
            raise _damaged(path, marked("its bytes have changed since it was written"))
        if counts is not None and row_counts(connection) != counts:
            raise StorageError(
                "the backup differs from the project", found=str(path), remedy="check the disk"
            )


def check_is_whole(path: Path) -> None:
    """Raise `ProjectDamagedError` where a backup has changed since it was verified."""
    with bare_file(path) as connection:
        if has_state(connection) and seal_of(connection, reader_of(path)) is Seal.WHOLE:
            return
    verify(path)


def row_counts(connection: Connection) -> RowCounts:
    """How many rows each table has."""
    tables = connection.rows("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
    count = 'SELECT COUNT(*) FROM "{}"'
    return {name: connection.value(count.format(name)) for (name,) in tables}


def _fill(draft: Path, source: Connection, on_progress: OnProgress, cancel: CancelToken) -> None:
    counts, on_part = None, part_teller(source, on_progress, cancel)
    for _ in range(_CALM_TRIES if has_state(source) else 0):
        counts = counts or _copied_in_parts(draft, source, on_part)
    counts = counts or _copied_at_once(draft, source)
    cancel.raise_if_cancelled()
    verify(draft, counts)


def part_teller(source: Connection, on_progress: OnProgress, cancel: CancelToken) -> OnPart:
    """Reports pages that were copied in MB; a cancel stops before the next part."""
    page_bytes = int(source.value("PRAGMA page_size"))

    def tell(done: int, total: int) -> None:
        cancel.raise_if_cancelled()
        on_progress(
            Progress(done * page_bytes // MEGABYTE, total * page_bytes // MEGABYTE, unit="MB")
        )

    return tell


def _copied_in_parts(draft: Path, source: Connection, on_part: OnPart) -> RowCounts | None:
    """Let the writer write between the parts; None where it did."""
    os.truncate(draft, 0)
    with unsafe_target(draft) as target:
        if not source.copy_in_parts_to(target, PAGES_AT_ONCE, on_part):
            return None
        with source.one_state():
            if read_mark(source) != read_mark(target):
                return None
            counts = row_counts(source)
        _seal(target, draft)
        return counts


def _copied_at_once(draft: Path, source: Connection) -> RowCounts:
    """Hold the writer up once, when it does not stop writing."""
    os.truncate(draft, 0)
    with unsafe_target(draft) as target:
        with source.one_state():
            counts = row_counts(source)
            source.copy_to(target)
        _seal(target, draft)
        return counts


def _seal(target: Connection, draft: Path) -> None:
    if target.value("PRAGMA journal_mode") == "wal":  # of an older version
        target.value("PRAGMA journal_mode = DELETE")
    if has_state(target):
        put_seal(target, reader_of(draft))


def _damaged(path: Path, reason: str) -> ProjectDamagedError:
    found = file_and_reason(path, reason)
    return ProjectDamagedError("the file is damaged", found=found, remedy="take another backup")
