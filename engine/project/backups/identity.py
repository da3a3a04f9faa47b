"""Which project a file is, or was before it was damaged: by its own word, its bare bytes, or the backup index."""

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine.errors import ProtoleafError
from engine.project.backups.index import BackupIndex, file_number_of, read_index
from engine.project.backups.listing import Backup, backups_of, look_at, named_in, newest_first, placed, verified
from engine.project.backups.place import ID_LETTERS, folders_of
from engine.project.connection import Connection
from engine.project.file.file_state import FileMark, Seal, has_state, mark_of, marks_in, reader_of, seal_of
from engine.project.file.on_disk import JOURNAL_SUFFIX, LOG_SUFFIX, address, check_header, side_file
from engine.project.opening import is_open_here

_ALIKE: Final = 8
"""So many of 16 bytes are the same only in a damaged copy of an identity; by chance hardly ever two are."""


def mark_in_file(path: Path) -> FileMark | None:
    """What a file says of itself; None where it is not there or too damaged for SQLite. No byte of it is changed."""
    try:
        check_header(path)
        with closing(Connection(path, address(path, "mode=ro&immutable=1"))) as connection:
            return mark_of(connection)
    except ProtoleafError:
        return None


def project_id_of(path: Path) -> str | None:
    """Which project a file says it is; None where it is not there or too damaged to tell."""
    mark = mark_in_file(path)
    return None if mark is None else mark.project_id


def identify(project: Path, index: BackupIndex | None = None) -> str | None:
    """Which project is, or was, at a path.

    What the file says counts when such a project was seen on this computer: damage may have changed what it says. Of a
    file that says nothing, the index tells what it was, as long as it is still the same file.

    Args:
        project: the project file; it may be damaged or gone.
        index: what is known of paths already.

    Returns:
        Its identity; None where nobody can be sure.
    """
    index = read_index() if index is None else index
    stored_id = project_id_of(project)
    if stored_id is not None and stored_id in index.project_ids:
        return stored_id
    known = index.project_ids | _backed_up(project)
    if stored_id is not None and stored_id in known:
        return stored_id
    raw = [mark.project_id for mark in marks_in(project)]
    readings = [stored_id, *raw] if stored_id is not None else raw
    fitting = {each for reading in readings for each in known if _is_alike(reading, each)}
    if fitting:
        return fitting.pop() if len(fitting) == 1 else None
    return _unseen(project, readings, stored_id, index) if readings else _remembered(project, known, index)


def _backed_up(project: Path) -> frozenset[str]:
    """The projects of which there are backups under this name."""
    paths = [path for folder in folders_of(project, None) for path, _ in named_in(folder)]
    return frozenset(stored_id for path in paths if (stored_id := project_id_of(path)) is not None)


def last_generation(project: Path) -> int:
    """How often a project was committed to, as far as a damaged file still says; 0 where it does not."""
    mark = mark_in_file(project)
    found = [mark] if mark is not None else marks_in(project)
    return max((each.generation for each in found), default=0)


def _unseen(project: Path, readings: Sequence[str], stored_id: str | None, index: BackupIndex) -> str | None:
    """A project that nobody saw here; where another one was seen in this file, damage may be what made it unknown."""
    seen = index.record_of(project)
    if seen is not None and seen.file_number == file_number_of(project):
        return stored_id if _is_sealed(project) else None
    return stored_id or (readings[0] if len(set(readings)) == 1 else None)


def _remembered(project: Path, known: Iterable[str], index: BackupIndex) -> str | None:
    """What the index says of a file that says nothing, and else the logs beside it."""
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
        with closing(Connection(project, address(project, "mode=ro&immutable=1"))) as connection:
            return has_state(connection) and seal_of(connection, reader_of(project)) is Seal.WHOLE
    except (ProtoleafError, OSError):
        return False


def _is_alike(one: str, other: str) -> bool:
    pairs = zip(bytes.fromhex(one), bytes.fromhex(other), strict=False)
    return sum(first == second for first, second in pairs) >= _ALIKE


@dataclass(frozen=True)
class Offer:
    """What a project can be restored from.

    Attributes:
        project_id: which project it is; None where nobody can be sure.
        own: its own backups, the newest first, those of its copies last; () where nobody can be sure.
        others: backups of other projects of its name, project by project; those that are likeliest its own first.
    """

    project_id: str | None
    own: tuple[Backup, ...]
    others: tuple[Backup, ...]

    @property
    def all(self) -> tuple[Backup, ...]:
        """In the order of their numbers."""
        return self.own + self.others


def offer_for(project: Path, *, is_verified: bool = False) -> Offer:
    """Which backups there are for a project that may be damaged or gone, and whose each is.

    Args:
        project: the project file.
        is_verified: whether each is read whole and compared with its seal.
    """
    index = read_index()
    named = [look_at(path, name) for folder in folders_of(project, None) for path, name in named_in(folder)]
    project_id = identify(project, index)
    own = [] if project_id is None else backups_of(project, project_id, index=index)
    owned = {backup.path for backup in own}
    others = _grouped([backup for backup in named if backup.path not in owned], project, index)
    look: Callable[[Backup], Backup] = verified if is_verified else lambda backup: backup
    return Offer(project_id, tuple(map(look, own)), tuple(map(look, others)))


def owner_of(backup: Backup) -> str:
    """What is the same for all backups of one project, also for a damaged one: how its folder's name ends."""
    return backup.project_id[:ID_LETTERS] or backup.path.parent.name.rpartition(" ")[2]


def _grouped(backups: Iterable[Backup], project: Path, index: BackupIndex) -> list[Backup]:
    """Backups of several projects, each's together: first what was taken of this path, last what is alive elsewhere."""
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
    if any(backup.taken_of == whole for backup in group) or whole in index.paths_of(project_id):
        return 0
    return 2 if any(_is_alive(path, project_id) for path in index.paths_of(project_id)) else 1


def _is_alive(path: Path, project_id: str) -> bool:
    """Whether a project is still where it was seen."""
    return is_open_here(path) or project_id_of(path) == project_id
