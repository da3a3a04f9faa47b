"""The backups that there are, and what each holds. A damaged one is listed as such and disturbs nothing."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from engine.errors import ProtoleafError
from engine.project.backups.naming import BackupName, BackupReason, read_name
from engine.project.backups.place import folders_of
from engine.project.backups.taking import check_is_whole
from engine.project.connection import Connection
from engine.project.file.address import address
from engine.project.file.file_state import has_state, mark_of
from engine.project.file.header import check_header
from engine.project.opening import is_open_here


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


def backups_of(project: Path, project_id: str | None, *, is_verified: bool = False) -> list[Backup]:
    """All backups of a project, the newest first.

    Args:
        project: the project file; it need not be there.
        project_id: None where the file is too damaged to tell; then its name decides.
        is_verified: whether each is read whole and compared with its seal.
    """
    found = [
        backup
        for folder in folders_of(project, project_id)
        for path, name in named_in(folder)
        if (backup := _listed(path, name, project_id)) is not None
    ]
    found.sort(key=lambda backup: (backup.when, modified_ns(backup.path), backup.path.name), reverse=True)
    return [verified(backup) for backup in found] if is_verified else found


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


def project_id_of(path: Path) -> str | None:
    """Which project a file is; None where it is not there or too damaged to tell. No byte of it is changed."""
    try:
        check_header(path)
        with closing(Connection(path, address(path, "mode=ro&immutable=1"))) as connection:
            return mark_of(connection).project_id
    except ProtoleafError:
        return None


def sealed_generation(connection: Connection) -> int:
    """Generation of a file as it would be once it was sealed: the same for a project and its backup without changes."""
    if not has_state(connection):
        return 0
    is_sealed = connection.value("SELECT digest FROM file_state") is not None
    return mark_of(connection).generation + (0 if is_sealed else 1)


def _listed(path: Path, name: BackupName, project_id: str | None) -> Backup | None:
    """A backup of this project; None where it is one of another."""
    backup = look_at(path, name)
    is_other = project_id is not None and backup.project_id not in ("", project_id)
    return None if is_other else backup


def _count(connection: Connection, table: str) -> int:
    return int(connection.value(f"SELECT COUNT(*) FROM {table}"))  # noqa: S608 (our names)


def _reason(error: ProtoleafError, path: Path) -> str:
    """Why in a few words: which file it is stands beside them."""
    return error.found.removeprefix(str(path)).strip(" ()") or error.what
