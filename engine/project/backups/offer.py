"""What a project can be restored from, and whose each backup is when nobody can be sure which project it was."""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.project.backups.identity import identify, project_id_of
from engine.project.backups.index import BackupIndex, read_index
from engine.project.backups.listing import Backup, backups_of, look_at, named_in, newest_first, placed, verified
from engine.project.backups.place import ID_LETTERS, folders_of
from engine.project.opening import is_open_here


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
