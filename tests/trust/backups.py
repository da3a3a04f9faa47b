"""Backups of a project: each is valid, and acknowledged ones exist."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from engine.config import backups_folder
from engine.errors import ProtoleafError
from engine.project import Project
from tests.trust.acknowledge import Line
from tests.trust.children import Place
from tests.trust.outcome import Fault
from tests.trust.seen import digest, people_part

SQLITE_MAGIC = b"SQLite format 3"
BACKED_UP = "backup"
RESTORED = "restore"


def backups_of(place: Place) -> Sequence[Path]:
    """Project files next to the project, in the home and the backup folder, without drafts."""
    roots = dict.fromkeys((place.desk, place.home, backups_folder()))
    found = [path for root in roots for path in sorted(root.rglob("*")) if is_project(path)]
    found = list(dict.fromkeys(found))
    return [path for path in found if path != place.project and not path.name.startswith(".")]


def is_project(path: Path) -> bool:
    """Whether a file is a database, not a log or link."""
    if not path.is_file() or path.is_symlink():
        return False
    with path.open("rb") as file:
        return file.read(len(SQLITE_MAGIC)) == SQLITE_MAGIC


def content_of(path: Path) -> str:
    """Digest of people's work in a project file, or why it cannot be read."""
    try:
        with Project.open(path, for_writing=False) as project:
            return digest(people_part(project))
    except ProtoleafError as error:
        return str(error)


def backup_faults(place: Place, lines: Sequence[Line]) -> list[Fault]:
    """Invalid backups, and acknowledged ones that are missing.

    Args:
        place: of the project.
        lines: acknowledgements; a restore must have saved the previous state.
    """
    backups = backups_of(place)
    faults = [
        Fault("other", f"{path.name}: {fault}")
        for path in backups
        for fault in _reported_by_check(path)
    ]
    done = [line for line in lines if line.kind == "done"]
    wanted = [line for line in done if line.did == BACKED_UP]
    wanted += [before for before, line in pairwise(done) if line.did == RESTORED]
    if wanted:
        contents = {content_of(path) for path in backups}
        missing = sum(line.people not in contents for line in wanted)
        faults += (
            [Fault("lost", f"{missing} of {len(wanted)} backups are not there", missing)]
            if missing
            else []
        )
    return faults


def _reported_by_check(path: Path) -> list[str]:
    try:
        return Project.faults_of(path)[:1]
    except ProtoleafError as error:
        return [str(error)]
