"""Backups of an open project: when one is due, and making it without interrupting the work."""

import logging
from collections.abc import Callable, Collection, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import final

from engine.errors import ProjectLockedError, ProjectMovedError, ProtoleafError, reason_of
from engine.events import CancelToken, OnProgress, ignore_progress
from engine.project.backups.contents import Contents, read_contents
from engine.project.backups.listing import (
    Backup,
    backups_of,
    look_at,
    mark_in_file,
    modified_ns,
    named_in,
    sealed_generation,
    verified,
)
from engine.project.backups.place import (
    BackupReason,
    check_takes_files,
    folders_of,
    make_folder,
    project_name,
    read_name,
)
from engine.project.backups.taking import copy_project, take_backup
from engine.project.clock import present_time
from engine.project.connection import Connection
from engine.project.file.file_lock import clear_abandoned_project_drafts
from engine.project.file.file_state import mark_of
from engine.project.file.on_disk import Identity, address, identity_of
from engine.project.opening import open_for_reading

_log = logging.getLogger(__name__)
A_DAY = timedelta(days=1)
MANY = 1_000  # an action on more labels, images or classes than this is preceded by a backup

Clock = Callable[[], datetime]


@final
class ProjectBackups:
    """Makes and lists backups of a project that is open for writing; thread-safe.

    It has connections of its own, so the project can be worked with meanwhile.
    """

    def __init__(
        self, path: Path, project_id: str, identity: Identity | None, clock: Clock = present_time
    ) -> None:
        self.path = path
        self.project_id = project_id
        self._identity = identity
        self._clock = clock

    def take(
        self, reason: BackupReason = BackupReason.ASKED, *, cancel: CancelToken | None = None
    ) -> Backup:
        """Make a backup now, verified, and let superfluous ones go.

        Raises:
            ProjectDamagedError: the project itself is not sound.
            StorageError: the folder or the disk refuses.
            ProjectMovedError: the file is not where it was opened.
            Cancelled: stopped.
        """
        folder = make_folder(self.path, self.project_id)
        with closing(self._connection()) as source:
            path = take_backup(
                source, folder, project=self.path, reason=reason, when=self._clock(), cancel=cancel
            )
        try:
            self._check_place()
        except ProjectMovedError:
            path.unlink()  # it may be of another file
            raise
        _thin(folder, self.path, self.project_id, self._clock(), kept=path)
        return _made(path)

    def copy_to(self, path: Path, *, cancel: CancelToken | None = None) -> None:
        """Write a copy of the project to give away; see `copy_project`."""
        with closing(self._connection()) as source:
            copy_project(source, path, cancel=cancel or CancelToken())

    def take_daily(self, *, cancel: CancelToken | None = None) -> Backup | None:
        """Make a backup unless the newest is of the last 24 hours or of the current state.

        See `take`. Also deletes drafts of killed processes next to project and backups.
        """
        for folder in (self.path.parent, *folders_of(self.path, self.project_id)):
            clear_abandoned_project_drafts(folder)
        newest = self.newest()
        if newest is not None and self._clock() - newest.when < A_DAY:
            return None
        return self._take_unless_same(newest, BackupReason.DAY, cancel)

    def take_quarterly(self, *, cancel: CancelToken | None = None) -> Backup | None:
        """Make a backup, as `take`, unless nothing changed; to be called every 15 minutes."""
        return self._take_unless_same(self.newest(), BackupReason.QUARTER_HOUR, cancel)

    def before(self, reason: BackupReason) -> str:
        """Make a backup before an action; returns why there is none, for display, or ""."""
        newest = self.newest()
        try:
            if (
                newest is None
                or not newest.reason.is_before_action
                or newest.generation != self._generation()
            ):
                self.take(reason)
        except ProtoleafError as error:
            _log.warning("no backup was made %s: %s", reason.value, error)
            return reason_of(error)
        return ""

    def all(self) -> list[Backup]:
        """All backups, the newest first; see `backups_of`."""
        return backups_of(self.path, self.project_id)

    def contents(self) -> Contents:
        """User data of the project, for a comparison with a backup."""
        with closing(self._connection()) as connection:
            return read_contents(connection)

    def newest(self) -> Backup | None:
        """The newest sound backup of this project under its present name; None without one."""
        now, called = self._clock(), project_name(self.path)
        found = [
            (name.when, modified_ns(path), path, name)
            for folder in folders_of(self.path, self.project_id)
            for path, name in named_in(folder)
            if name.project == called and name.when <= now
        ]
        for _, _, path, name in sorted(found, key=lambda each: each[:3], reverse=True):
            backup = verified(look_at(path, name))
            if backup.project_id == self.project_id and not backup.fault:
                return backup
        return None

    def _take_unless_same(
        self, newest: Backup | None, reason: BackupReason, cancel: CancelToken | None
    ) -> Backup | None:
        try:
            is_same = newest is not None and newest.generation == self._generation()
            return None if is_same or self._is_empty() else self.take(reason, cancel=cancel)
        except ProjectLockedError:
            return None  # a long action is being written; the next quarter of an hour comes soon

    def _generation(self) -> int:
        with closing(self._connection()) as connection:
            return sealed_generation(connection)

    def _is_empty(self) -> bool:
        with closing(self._connection()) as connection:
            return not connection.value(
                "SELECT EXISTS (SELECT 1 FROM class) OR EXISTS (SELECT 1 FROM image)"
            )

    def _connection(self) -> Connection:
        self._check_place()
        return Connection(self.path, address(self.path, "mode=ro"))

    def _check_place(self) -> None:
        if self._identity is not None and identity_of(self.path) != self._identity:
            raise ProjectMovedError(
                "the project file is no longer where it was opened, so no backup can be made",
                found=str(self.path),
            )


def back_up(
    project: Path,
    folder: Path | None = None,
    *,
    clock: Clock = present_time,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> Backup:
    """Make a backup of a project on request; the project may be open anywhere.

    Without a folder it is added to the other backups, which are then thinned out.

    Raises:
        ProjectMissingError, ProjectDamagedError, ProjectTooNewError: see `Project.open`.
        StorageError: the folder or the disk refuses.
        Cancelled: stopped; nothing is left.
    """
    if folder is not None:
        check_takes_files(folder)
    with closing(open_for_reading(project)) as file:
        project_id = mark_of(file.connection).project_id
        where = folder or make_folder(project, project_id)
        path = take_backup(
            file.connection,
            where,
            project=project,
            reason=BackupReason.ASKED,
            when=clock(),
            on_progress=on_progress,
            cancel=cancel,
        )
    if folder is None:
        _thin(where, project, project_id, clock(), kept=path)
    return _made(path)


def _made(path: Path) -> Backup:
    name = read_name(path)
    assert name is not None, "we named it"
    return look_at(path, name)


def _thin(folder: Path, project: Path, project_id: str, now: datetime, *, kept: Path) -> None:
    """Thin out the backups of a project in a folder, except `kept`.

    Files of other projects or names, also former names of this one, and damaged ones are not
    touched.
    """
    clear_abandoned_project_drafts(folder)
    called = project_name(project)
    named = [
        (path, name, mark_in_file(path))
        for path, name in named_in(folder)
        if name.project == called
    ]
    ours = [
        (path, Moment(name.when, name.reason, mark.generation))
        for path, name, mark in named
        if mark is not None and mark.project_id == project_id
    ]
    for place in superfluous([moment for _, moment in ours], now):
        if ours[place][0] != kept:
            with suppress(OSError):
                ours[place][0].unlink()


Slot = Callable[[datetime], int | tuple[int, ...]]  # the period of a backup

KEPT_BEFORE_ACTIONS = timedelta(days=14)
_LATEST = 8  # states that stay in any case
_QUARTER_S = 900
_HOUR_S = 3600


@dataclass(frozen=True)
class Moment:
    """What thinning must know of a backup; `when` has a time zone."""

    when: datetime
    reason: BackupReason
    generation: int = 0


def superfluous(moments: Sequence[Moment], now: datetime) -> list[int]:
    """Which of the sound backups of a project may be deleted, as positions in `moments`.

    The newest of each of the last 8 quarter hours, 24 hours, 14 days and 12 weeks with any are
    retained, so a long holiday costs nothing. The eight latest states are retained, whatever their
    dates. Backups before an action are retained for two weeks at least, those made on request until
    they are deleted by hand, and those dated in the future (a clock was wrong) is left alone.
    """
    past = [place for place, each in enumerate(moments) if each.when <= now]
    newest_first = sorted(
        past, key=lambda place: (moments[place].when, moments[place].reason.value), reverse=True
    )
    kept = {
        place
        for slot, count in _TIERS
        for place in _newest_of_each(moments, newest_first, slot, count)
    }
    kept.update(place for place in past if _stays(moments[place], now))
    kept.update(
        sorted(newest_first, key=lambda place: moments[place].generation, reverse=True)[:_LATEST]
    )
    return [place for place in past if place not in kept]


def _newest_of_each(
    moments: Sequence[Moment], newest_first: Sequence[int], slot: Slot, count: int
) -> Collection[int]:
    newest: dict[int | tuple[int, ...], int] = {}
    for place in newest_first:
        newest.setdefault(slot(moments[place].when), place)
    return list(newest.values())[:count]


def _stays(moment: Moment, now: datetime) -> bool:
    if moment.reason is BackupReason.ASKED:
        return True
    return moment.reason.is_before_action and now - moment.when <= KEPT_BEFORE_ACTIONS


_TIERS: Sequence[tuple[Slot, int]] = (
    (lambda when: int(when.timestamp() // _QUARTER_S), 8),
    (lambda when: int(when.timestamp() // _HOUR_S), 24),
    (lambda when: when.toordinal(), 14),
    (lambda when: tuple(when.isocalendar())[:2], 12),
)
