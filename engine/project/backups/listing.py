"""The backups that there are, and what each holds. A damaged one is listed as such and disturbs nothing."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from engine.errors import ProtoleafError
from engine.project.backups.index import BackupIndex, backup_key, read_index
from engine.project.backups.place import BackupName, BackupReason, folders_of, read_name
from engine.project.backups.taking import check_is_whole
from engine.project.connection import Connection
from engine.project.file.file_state import has_state, mark_of
from engine.project.file.on_disk import address, check_header
from engine.project.opening import is_open_here
from engine.texts import counted


@dataclass(frozen=True)
class Backup:
    """A backup of a project.

    Attributes:
        path: its file.
        when: when it was made, with time zone.
        reason: why.
        size_bytes: of the file.
        project_id: which project it is of; empty where it cannot tell.
        generation: how often the project had been committed to; the same only where the content is.
        classes, images, labels: how many it holds.
        fault: why it cannot be used; empty for one that can, as far as was looked.
        taken_of: the project file that it was made of; None where that is not known.
        is_of_copy: whether that is a copy of the project which is still there.
    """

    path: Path
    when: datetime
    reason: BackupReason
    size_bytes: int
    project_id: str = ""
    generation: int = -1
    classes: int = 0
    images: int = 0
    labels: int = 0
    fault: str = ""
    taken_of: Path | None = None
    is_of_copy: bool = False

    def is_dated_ahead(self, now: datetime) -> bool:
        """Whether it seems to come from the future: the clock was wrong."""
        return self.when > now


def backups_of(
    project: Path, project_id: str, *, is_verified: bool = False, index: BackupIndex | None = None
) -> list[Backup]:
    """All backups of a project, the newest first; those that were taken of a copy which is still there come last.

    Args:
        project: the project file; it need not be there.
        project_id: which project it is.
        is_verified: whether each is read whole and compared with its seal.
        index: what is known of paths already.
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
    """Backups of one project by what was done in it, whatever the clock said; damaged ones, which cannot tell, last."""
    found = list(backups)
    rounds = _rounds(found, index)
    order: Callable[[Backup], tuple[object, ...]] = lambda backup: (  # noqa: E731 (typed shorthand)
        rounds.get(backup_key(backup.path), 0), backup.generation, backup.when, modified_ns(backup.path),
        backup.path.name,
    )  # fmt: skip
    return sorted(found, key=lambda backup: (backup.generation >= 0, order(backup)), reverse=True)


def _rounds(backups: Iterable[Backup], index: BackupIndex) -> dict[str, int]:
    """How often an older copy had been put in the project's place when a backup was made: its history began anew."""
    generations = {backup_key(backup.path): backup.generation for backup in backups if backup.generation >= 0}
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
    """The same, with which path it was taken of.

    Args:
        backup: a backup.
        project: for which it is listed.
        index: what is known of paths.
    """
    taken_of, whole = index.taken_of(backup.path), Path(os.path.realpath(project))
    elsewhere = index.record_of(taken_of) if taken_of is not None and taken_of != whole else None
    is_of_copy = elsewhere is not None and elsewhere.project_id == backup.project_id and elsewhere.path.is_file()
    return replace(backup, taken_of=taken_of, is_of_copy=is_of_copy)


def modified_ns(path: Path) -> int:
    """When a file was written last; tells backups of one second apart. 0 where it is gone."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def named_in(folder: Path) -> Iterator[tuple[Path, BackupName]]:
    """Files of a folder that are called as backups are; not one that somebody opened as a project here."""
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
    """What a backup holds; no byte of it is changed, and nothing beside it is looked at."""
    try:
        size_bytes = path.stat().st_size
    except OSError as error:
        return Backup(path, name.when, name.reason, 0, fault=error.strerror or "it is gone")
    backup = Backup(path, name.when, name.reason, size_bytes)
    try:
        check_header(path)
        with closing(Connection(path, address(path, "mode=ro&immutable=1"))) as connection:
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
    """A file that somebody takes for a backup, whatever it is called, with the path that it was taken of."""
    written = datetime.fromtimestamp(modified_ns(path) / 1e9).astimezone()
    backup = look_at(path, read_name(path) or BackupName(path.stem, written, BackupReason.ASKED))
    return replace(backup, taken_of=read_index().taken_of(path))


def description(backup: Backup) -> str:
    """What a person must know of a backup before it takes the place of what may be another project."""
    counts = (
        counted(backup.classes, "class", "classes"), counted(backup.images, "image"), counted(backup.labels, "label"),
    )  # fmt: skip
    name = read_name(backup.path)
    of = backup.taken_of or (name.project if name is not None else backup.path)
    return f"{', '.join(counts)}, of {backup.when:%Y-%m-%d %H:%M:%S}, taken of {of}, in {backup.path}"


def sealed_generation(connection: Connection) -> int:
    """Generation of a file as it would be once it was sealed: the same for a project and its backup without changes."""
    if not has_state(connection):
        return 0
    is_sealed = connection.value("SELECT digest FROM file_state") is not None
    return mark_of(connection).generation + (0 if is_sealed else 1)


def _count(connection: Connection, table: str) -> int:
    return int(connection.value(f"SELECT COUNT(*) FROM {table}"))  # noqa: S608 (our names)


def _reason(error: ProtoleafError, path: Path) -> str:
    """Why in a few words: which file it is stands beside them."""
    return error.found.removeprefix(str(path)).strip(" ()") or error.what
