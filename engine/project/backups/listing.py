"""Existing backups and their content. A damaged one is listed as such."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from engine.errors import ProtoleafError, reason_of
from engine.project.backups.index import BackupIndex, backup_key, file_number_of, read_index
from engine.project.backups.place import ID_LETTERS, BackupName, BackupReason, folders_of, read_name
from engine.project.backups.taking import check_is_whole
from engine.project.connection import Connection
from engine.project.file.file_state import (
    FileMark,
    Seal,
    has_seal,
    has_state,
    mark_of,
    marks_in,
    reader_of,
    seal_of,
)
from engine.project.file.on_disk import (
    JOURNAL_SUFFIX,
    LOG_SUFFIX,
    bare_file,
    check_header,
    side_file,
)
from engine.project.opening import is_open_here
from engine.texts import counted


@dataclass(frozen=True)
class Backup:
    """A backup of a project, with counts of its contents."""

    path: Path
    when: datetime  # when it was made, with time zone
    reason: BackupReason
    size_bytes: int
    project_id: str = ""  # which project it is of; empty where the file is too damaged
    # how often the project had been committed to; the same only where the content is
    generation: int = -1
    classes: int = 0
    images: int = 0
    labels: int = 0
    fault: str = ""  # why it cannot be used; empty where no fault was found
    taken_of: Path | None = None  # the project file that it was made of, if known
    is_of_copy: bool = False  # whether that is a copy of the project which is still there

    def is_dated_ahead(self, now: datetime) -> bool:
        """Whether it is dated in the future: the clock was wrong."""
        return self.when > now


def backups_of(
    project: Path, project_id: str, *, is_verified: bool = False, index: BackupIndex | None = None
) -> list[Backup]:
    """All backups of a project, newest first; those taken of another existing copy last.

    The project file may be missing. If `is_verified`, each backup is read and compared with its
    checksum.
    """
    index = read_index() if index is None else index
    found = [
        placed(backup, project, index)
        for folder in folders_of(project, project_id)
        for path, name in named_in(folder)
        if (backup := look_at(path, name)).project_id in ("", project_id)
    ]
    found = newest_first(found, index)
    found.sort(key=lambda backup: backup.is_of_copy)
    return [verified(backup) for backup in found] if is_verified else found


def newest_first(backups: Iterable[Backup], index: BackupIndex) -> list[Backup]:
    """Backups of one project by generation, independent of the clock; damaged ones last."""
    found = list(backups)
    rounds = _rounds(found, index)

    def order(backup: Backup) -> tuple[object, ...]:
        path, generation = backup.path, backup.generation
        return (
            generation >= 0,
            rounds.get(backup_key(path), 0),
            generation,
            backup.when,
            modified_ns(path),
            path.name,
        )

    return sorted(found, key=order, reverse=True)


def _rounds(backups: Iterable[Backup], index: BackupIndex) -> dict[str, int]:
    """How often an older copy had replaced the project when a backup was made."""
    generations = {
        backup_key(backup.path): backup.generation for backup in backups if backup.generation >= 0
    }
    rounds = {}
    for record in index.records:
        number, before = 0, -1
        for key in record.taken:
            if key in generations:
                number += generations[key] < before
                before = generations[key]
                rounds[key] = number
    return rounds


def placed(backup: Backup, project: Path, index: BackupIndex) -> Backup:
    """A backup, listed for a project file, with the path that it was taken of."""
    taken_of, whole = index.taken_of(backup.path), Path(os.path.realpath(project))
    elsewhere = index.record_of(taken_of) if taken_of is not None and taken_of != whole else None
    is_of_copy = (
        elsewhere is not None
        and elsewhere.project_id == backup.project_id
        and elsewhere.path.is_file()
    )
    return replace(backup, taken_of=taken_of, is_of_copy=is_of_copy)


def modified_ns(path: Path) -> int:
    """When a file was written last; distinguishes backups of one second. 0 if missing."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def named_in(folder: Path) -> Iterator[tuple[Path, BackupName]]:
    """Files of a folder named as backups, except one that is open as a project here."""
    try:
        paths = sorted(folder.iterdir())
    except OSError:
        return
    for path in paths:
        name = read_name(path)
        if name is not None and not path.is_symlink() and path.is_file() and not is_open_here(path):
            yield path, name


def verified(backup: Backup) -> Backup:
    """The same after the whole file was read: with its fault, if it has one."""
    if backup.fault:
        return backup
    try:
        check_is_whole(backup.path)
    except ProtoleafError as error:
        return replace(backup, fault=_reason(error, backup.path))
    return backup


def look_at(path: Path, name: BackupName) -> Backup:
    """The content of a backup, read without any log and without changes."""
    try:
        size_bytes = path.stat().st_size
    except OSError as error:
        return Backup(path, name.when, name.reason, 0, fault=reason_of(error))
    backup = Backup(path, name.when, name.reason, size_bytes)
    try:
        check_header(path)
        with bare_file(path) as connection:
            return replace(
                backup,
                project_id=mark_of(connection).project_id,
                generation=sealed_generation(connection),
                classes=_count(connection, "class"),
                images=_count(connection, "image"),
                labels=_count(connection, "label"),
            )
    except ProtoleafError as error:
        return replace(backup, fault=_reason(error, path))


def backup_at(path: Path) -> Backup:
    """A file of any name as a backup, with the path that it was taken of."""
    written = datetime.fromtimestamp(modified_ns(path) / 1e9).astimezone()
    backup = look_at(path, read_name(path) or BackupName(path.stem, written, BackupReason.ASKED))
    return replace(backup, taken_of=read_index().taken_of(path))


@dataclass(frozen=True)
class BackupOrigin:
    """What a backup that was opened as a project was made of.

    Attributes:
        name: of the project.
        when: the backup was made, with time zone.
        project: its file, where that is known and still there.
    """

    name: str
    when: datetime
    project: Path | None


def origin_of(path: Path) -> BackupOrigin | None:
    """Where a file comes from that has the name of a backup; None for any other file."""
    name = read_name(path)
    if name is None:
        return None
    taken_of = read_index().taken_of(path)
    is_there = taken_of is not None and taken_of.is_file()
    return BackupOrigin(name.project, name.when, taken_of if is_there else None)


def description(backup: Backup) -> str:
    """A backup in words, to decide whether it may replace another project."""
    classes, images = counted(backup.classes, "class", "classes"), counted(backup.images, "image")
    name = read_name(backup.path)
    of = backup.taken_of or (name.project if name is not None else backup.path)
    when = f"{backup.when:%Y-%m-%d %H:%M:%S}"
    content = f"{classes}, {images}, {counted(backup.labels, 'label')}"
    return f"{content}, of {when}, taken of {of}, in {backup.path}"


def sealed_generation(connection: Connection) -> int:
    """Generation of a file once sealed: the same for a project and its unchanged backup."""
    if not has_state(connection):
        return 0
    return mark_of(connection).generation + (not has_seal(connection))


def _count(connection: Connection, table: str) -> int:
    return int(connection.value(f"SELECT COUNT(*) FROM {table}"))  # noqa: S608


def _reason(error: ProtoleafError, path: Path) -> str:
    """The reason in a few words, without the file."""
    found: str = error.found.fields.get("reason", error.found)
    return error.what if found in ("", str(path)) else found


_ALIKE = 8
"""Equal bytes of 16 that mean a damaged copy of an identity; hardly ever by chance."""


def mark_in_file(path: Path) -> FileMark | None:
    """The mark in a file; None where it is missing or unreadable for SQLite. Nothing is changed."""
    try:
        check_header(path)
        with bare_file(path) as connection:
            return mark_of(connection)
    except ProtoleafError:
        return None


def project_id_of(path: Path) -> str | None:
    """The project id in a file; None where it is missing or too damaged to be read."""
    mark = mark_in_file(path)
    return None if mark is None else mark.project_id


def identify(project: Path, index: BackupIndex | None = None) -> str | None:
    """Which project is, or was, at a path, even if damaged or missing; None where uncertain.

    An id in the file counts when such a project was seen on this computer: it may be damaged. For a
    file without one the index is used, if it is still the same file.
    """
    index = read_index() if index is None else index
    stored_id = project_id_of(project)
    if stored_id is not None and stored_id in index.project_ids:
        return stored_id
    named = (path for folder in folders_of(project, None) for path, _ in named_in(folder))
    known = index.project_ids | {
        backed_up for path in named if (backed_up := project_id_of(path)) is not None
    }
    if stored_id is not None and stored_id in known:
        return stored_id
    raw = [mark.project_id for mark in marks_in(project)]
    readings = [stored_id, *raw] if stored_id is not None else raw
    fitting = {each for reading in readings for each in known if _is_alike(reading, each)}
    if fitting:
        return fitting.pop() if len(fitting) == 1 else None
    return (
        _unseen(project, readings, stored_id, index)
        if readings
        else _remembered(project, known, index)
    )


def last_generation(project: Path) -> int:
    """Generation of a project file, damaged or not; 0 where it cannot be found."""
    mark = mark_in_file(project)
    found = [mark] if mark is not None else marks_in(project)
    return max((each.generation for each in found), default=0)


def _unseen(
    project: Path, readings: Sequence[str], stored_id: str | None, index: BackupIndex
) -> str | None:
    """An unseen id; where another one was seen in this file, damage may have changed it."""
    seen = index.record_of(project)
    if seen is not None and seen.file_number == file_number_of(project):
        return stored_id if _is_sealed(project) else None
    return stored_id or (readings[0] if len(set(readings)) == 1 else None)


def _remembered(project: Path, known: Iterable[str], index: BackupIndex) -> str | None:
    """The id by the index for a file without one, or else by its logs."""
    seen = index.record_of(project)
    if seen is not None and (seen.file_number == file_number_of(project) or not project.exists()):
        return seen.project_id
    if seen is not None:
        return None  # another file was put there since
    logs = (side_file(project, suffix) for suffix in (JOURNAL_SUFFIX, LOG_SUFFIX))
    found = {mark.project_id for log in logs for mark in marks_in(log)}.intersection(known)
    return found.pop() if len(found) == 1 else None


def _is_sealed(project: Path) -> bool:
    try:
        with bare_file(project) as connection:
            return has_state(connection) and seal_of(connection, reader_of(project)) is Seal.WHOLE
    except (ProtoleafError, OSError):
        return False


def _is_alike(one: str, other: str) -> bool:
    pairs = zip(bytes.fromhex(one), bytes.fromhex(other), strict=False)
    return sum(first == second for first, second in pairs) >= _ALIKE


@dataclass(frozen=True)
class Offer:
    """Backups and copies that a project can be restored from."""

    project_id: str | None  # which project it is; None where that is uncertain
    # its own backups, the newest first, those of its copies last; () without a project id
    own: tuple[Backup, ...]
    # of other projects of its name, project by project, those most likely its own first
    others: tuple[Backup, ...]

    @property
    def all(self) -> tuple[Backup, ...]:
        """In the order of their numbers."""
        return self.own + self.others


def offer_for(project: Path, *, is_verified: bool = False) -> Offer:
    """Backups of a possibly damaged or missing project; verified as by `backups_of`."""
    index = read_index()
    named = [
        look_at(path, name)
        for folder in folders_of(project, None)
        for path, name in named_in(folder)
    ]
    project_id = identify(project, index)
    own = [] if project_id is None else backups_of(project, project_id, index=index)
    owned = {backup.path for backup in own}
    others = _grouped([backup for backup in named if backup.path not in owned], project, index)
    if is_verified:
        own, others = list(map(verified, own)), list(map(verified, others))
    return Offer(project_id, tuple(own), tuple(others))


def owner_of(backup: Backup) -> str:
    """The start of the project's id, for a damaged backup by the name of its folder."""
    return backup.project_id[:ID_LETTERS] or backup.path.parent.name.rpartition(" ")[2]


def _grouped(backups: Iterable[Backup], project: Path, index: BackupIndex) -> list[Backup]:
    """Backups of several projects in groups: those taken of this path first."""
    groups: dict[str, list[Backup]] = {}
    for backup in backups:
        groups.setdefault(owner_of(backup), []).append(placed(backup, project, index))
    ordered = [newest_first(group, index) for group in groups.values()]
    ordered.sort(key=lambda group: (group[0].generation >= 0, group[0].when), reverse=True)
    ordered.sort(key=lambda group: _distance(group, project, index))
    return [backup for group in ordered for backup in group]


def _distance(group: Sequence[Backup], project: Path, index: BackupIndex) -> int:
    """How unlikely it is that these backups are of the project at a path."""
    project_id, whole = group[0].project_id, Path(os.path.realpath(project))
    paths = index.paths_of(project_id)
    if any(backup.taken_of == whole for backup in group) or whole in paths:
        return 0
    return (
        2 if any(is_open_here(path) or project_id_of(path) == project_id for path in paths) else 1
    )
