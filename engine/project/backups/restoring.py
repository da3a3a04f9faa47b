"""Replaces a project by a backup: the present is saved first, and a whole file always exists."""

import os
import stat
from collections.abc import Callable
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path

from engine.errors import (
    InputError,
    ProjectDamagedError,
    ProjectError,
    ProjectMissingError,
    StorageError,
)
from engine.events import CancelToken, OnProgress, Progress, ignore_progress
from engine.full_disk import storage_error
from engine.new_file import new_file
from engine.project.backups.index import note_opening
from engine.project.backups.listing import (
    backup_at,
    backups_of,
    description,
    identify,
    last_generation,
)
from engine.project.backups.place import BackupReason, make_folder
from engine.project.backups.taking import MEGABYTE, PAGES_AT_ONCE, part_teller, take_backup, verify
from engine.project.connection import Connection, unsafe_target
from engine.project.file.file_lock import (
    FileLock,
    clear_abandoned_project_drafts,
    copy_bytes,
    held_draft,
    lock_for_writing,
)
from engine.project.file.file_state import mark_of, put_seal, read_mark, reader_of, write_mark
from engine.project.file.logs import settle_logs
from engine.project.file.on_disk import (
    JOURNAL_SUFFIX,
    LOG_SUFFIX,
    address,
    identity_of,
    is_hot,
    set_aside,
    side_file,
)
from engine.project.opening import OpenFile, open_for_reading


@dataclass(frozen=True)
class Restoration:
    """Result of a restoration."""

    project: Path
    kept: Path | None  # where the state from before is; None where there was no file
    was_damaged: bool = False  # whether that state was damaged, and only its bytes were copied


@dataclass(frozen=True)
class _Watch:
    """Who sees how far a restoration is, and may stop it."""

    on_progress: OnProgress
    cancel: CancelToken

    def within(self, before: int, after: int) -> "_Watch":
        """For one of several copies: so many MB are copied before it, and so many after."""

        def tell(progress: Progress) -> None:
            total = before + progress.total + after
            self.on_progress(replace(progress, done=before + progress.done, total=total))

        return replace(self, on_progress=tell)


def restore(
    project: Path,
    backup: Path,
    *,
    is_other_allowed: bool = False,
    is_doubt_allowed: bool = False,
    when: datetime,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> Restoration:
    """Restore a project from a backup, or from any copy of a project. Undo continues from there.

    Args:
        project: the file, absolute; it may be damaged or missing, but must not be open.
        is_other_allowed: whether it may be of another project.
        is_doubt_allowed: whether to restore where it is uncertain which project it was: after the
            user was shown what the backup holds and of what it was taken, or named its file.
        when: now, with time zone.
        on_progress: is called after each part that was copied, of the present and of the backup.
        cancel: stops between parts.

    Raises:
        ProjectMissingError, ProjectDamagedError, ProjectTooNewError: the backup cannot be used.
        InputError: it is of another project or may be, or is the project itself.
        ProjectLockedError, ProjectReadOnlyError: the project cannot be written to now.
        StorageError: the disk refuses; the project is as it was.
        Cancelled: stopped; the project is as it was.
    """
    watch = _Watch(on_progress, cancel or CancelToken())
    clear_abandoned_project_drafts(project.parent)
    check = partial(
        _check_owner,
        project,
        backup,
        is_other_allowed=is_other_allowed,
        is_doubt_allowed=is_doubt_allowed,
    )
    if not project.exists():
        return _restore_missing(project, backup, check, watch)
    if identity_of(project) == identity_of(backup):
        raise InputError("this is the project itself, not a backup of it", found=str(backup))
    lock = lock_for_writing(project)
    with ExitStack() as held:
        held.callback(lock.release)
        with closing(_opened(backup, watch.cancel)) as source:
            check(source.connection)
            beyond = _latest_generation(project, source.connection)
            settle_logs(project)
            present_mb, backup_mb = (path.stat().st_size // MEGABYTE for path in (project, backup))
            kept, was_damaged = _keep_present(project, lock, when, watch.within(0, backup_mb))
            if os.name != "posix":
                held.close()  # Windows replaces no open file
            mode = stat.S_IMODE(project.stat().st_mode)
            _write(
                project,
                source,
                watch.within(present_mb, 0),
                mode=mode,
                is_replacing=True,
                beyond=beyond,
            )
            _set_logs_aside(project)
            note_opening(project, mark_of(source.connection).project_id)
    return Restoration(project, kept, was_damaged)


def _opened(backup: Path, cancel: CancelToken) -> OpenFile:
    """A private copy of the backup, of the present version, with every fault looked for."""
    try:
        return open_for_reading(backup, cancel=cancel)
    except ProjectMissingError as error:
        raise ProjectMissingError(
            "there is no such backup",
            found=str(backup),
            remedy="choose one that `protoleaf backups list` shows",
        ) from error
    except ProjectDamagedError as error:
        raise ProjectDamagedError(
            "the backup is damaged and was not restored",
            found=error.found or error.what,
            remedy="choose another backup; the project is as it was",
        ) from error


def _restore_missing(
    project: Path, backup: Path, check: Callable[[Connection], None], watch: _Watch
) -> Restoration:
    if not project.parent.is_dir():
        raise StorageError(
            "there is no such folder", found=str(project.parent), remedy="create it first"
        )
    with closing(_opened(backup, watch.cancel)) as source:
        check(source.connection)
        beyond = _latest_generation(project, source.connection)
        _write(project, source, watch, mode=0o600, is_replacing=False, beyond=beyond)
        note_opening(project, mark_of(source.connection).project_id)
    _set_logs_aside(project)
    return Restoration(project, None)


def _check_owner(
    project: Path,
    backup: Path,
    source: Connection,
    *,
    is_other_allowed: bool,
    is_doubt_allowed: bool,
) -> None:
    """Refuse a backup that is or may be of another project, and describe it."""
    if is_other_allowed:
        return
    present, its_own = identify(project), mark_of(source).project_id
    if present == its_own or (present is None and is_doubt_allowed):
        return
    found = description(backup_at(backup))
    if present is not None:
        raise InputError(
            "this is a backup of another project",
            found=found,
            remedy="restore it with --other if it is what you want",
        )
    raise InputError(
        "the damaged project cannot be identified, so the backup may be of another one",
        found=found,
        remedy="if it is the right one, give its file instead of a number, or add --other",
    )


def _keep_present(
    project: Path, lock: FileLock, when: datetime, watch: _Watch
) -> tuple[Path, bool]:
    """Save the present as a backup, or copy its bytes if too damaged: returns path and which.

    Raises `StorageError` where neither is possible; then nothing may be replaced.
    """
    try:
        with closing(Connection(project, address(project, "mode=rw"))) as present:
            folder = make_folder(project, mark_of(present).project_id)
            made = take_backup(
                present,
                folder,
                project=project,
                reason=BackupReason.RESTORE,
                when=when,
                on_progress=watch.on_progress,
                cancel=watch.cancel,
            )
            return made, False
    except (ProjectError, InputError):
        stem = f"{project.stem} (damaged {when:%Y-%m-%d %H-%M-%S})"
    try:
        return copy_bytes(lock, project.parent, stem, project.suffix), True
    except OSError as error:
        raise storage_error(
            project,
            error,
            "the damaged project could not be saved, so nothing was restored",
            "free some space",
        ) from error


def _latest_generation(project: Path, source: Connection) -> int:
    """The highest generation among the present state and the backups."""
    backups = backups_of(project, mark_of(source).project_id)
    return max(last_generation(project), *(backup.generation for backup in backups), 0)


def _write(
    project: Path, source: OpenFile, watch: _Watch, *, mode: int, is_replacing: bool, beyond: int
) -> None:
    """Write the backup next to the project, read it back, and publish it atomically.

    Its generation exceeds that of the present, so that no two states of a project have the same
    one.
    """
    try:
        with (
            new_file(project, replace=is_replacing, for_sqlite=True) as draft,
            held_draft(draft.path),
        ):
            with unsafe_target(draft.path) as target:
                on_part = part_teller(source.connection, watch.on_progress, watch.cancel)
                source.connection.copy_in_parts_to(target, PAGES_AT_ONCE, on_part)
                mark = read_mark(target)
                write_mark(target, replace(mark, generation=max(mark.generation, beyond) + 1))
                put_seal(target, reader_of(draft.path))
            verify(draft.path)
            draft.path.chmod(mode)
            watch.cancel.raise_if_cancelled()
    except OSError as error:
        raise storage_error(
            project, error, "the backup could not be put in the project's place"
        ) from error


def _set_logs_aside(project: Path) -> None:
    """Logs of the state before; the sealed file needs none, and none is ever applied to it."""
    log, journal = side_file(project, LOG_SUFFIX), side_file(project, JOURNAL_SUFFIX)
    with suppress(StorageError):
        if log.exists():
            set_aside(log)
        if is_hot(journal):
            set_aside(journal)
