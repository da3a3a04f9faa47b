"""Check that acknowledged actions are in a project after a disturbance."""

import contextlib
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.cli.main import main
from engine.config import CacheFolders
from engine.errors import ProtoleafError
from engine.project import Project
from tests.trust.acknowledge import Line
from tests.trust.backups import backup_faults
from tests.trust.cache_shown import cache_faults, cache_files
from tests.trust.children import Place
from tests.trust.exports import drafts, export_faults
from tests.trust.outcome import Fault
from tests.trust.seen import digest, machine_part, people_part


@dataclass(frozen=True)
class Verdict:
    """Result of `check`.

    Attributes:
        is_sound: whether it reported the project as valid.
        message: its output.
    """

    is_sound: bool
    message: str


def check(project: Path) -> Verdict:
    """Run the command `check` in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main(["check", str(project), "--json"])
    return Verdict(status == 0, " ".join(f"{out.getvalue()} {err.getvalue()}".split()))


def acknowledged_faults(project: Project, lines: Sequence[Line], start: str) -> list[Fault]:
    """Acknowledged actions that an open project lacks.

    Args:
        project: open for writing: a running, unacknowledged step is undone temporarily.
        lines: acknowledgements.
        start: digest of people's work before.
    """
    done = [line for line in lines if line.kind == "done"]
    chain = [start, *(line.people for line in done)]
    now = digest(people_part(project))
    if now == chain[-1]:
        return _machine_faults(project, lines)
    if any(line.kind == "may" and line.people == now for line in lines[-1:]):
        return []
    for there, back in (
        (project.history.undo, project.history.redo),
        (project.history.redo, project.history.undo),
    ):
        if there() is not None:
            is_found = digest(people_part(project)) == chain[-1]
            faults = _machine_faults(project, lines) if is_found else []
            back()
            if is_found:
                return faults
    return [_lost(chain, done, now)]


def _lost(chain: Sequence[str], done: Sequence[Line], now: str) -> Fault:
    if now not in chain:
        return Fault(
            "lost",
            f"the content is none of the {len(chain)} that were acknowledged",
            max(1, len(done)),
        )
    missing = done[len(chain) - 1 - list(reversed(chain)).index(now) :]
    return Fault("lost", f"lost: {missing[0].did} and {len(missing) - 1} after it", len(missing))


def _machine_faults(project: Project, lines: Sequence[Line]) -> list[Fault]:
    """Missing automatic results of existing images."""
    expected: dict[str, Any] = {}
    for line in lines:
        expected.update(line.machine)
    found = {name: digest(value) for name, value in machine_part(project).items()}
    missing = [
        name for name, value in expected.items() if value is not None and found.get(name) != value
    ]
    if not missing:
        return []
    return [
        Fault(
            "lost", f"what the machine had recorded is missing or differs: {', '.join(missing[:5])}"
        )
    ]


def survivor_faults(
    place: Place,
    lines: Sequence[Line],
    start: str,
    look_at_kept: Callable[..., list[Fault]] = cache_faults,
) -> list[Fault]:
    """Check a project after its writer died, and continue working with it.

    Args:
        place: of the project.
        lines: acknowledgements.
        start: digest of people's work before.
        look_at_kept: check of a large collection; takes place and lines.
    """
    faults: list[Fault] = []
    verdict = check(place.project)
    if not verdict.is_sound:
        faults.append(Fault("other", f"check does not call it sound: {verdict.message}"))
    acknowledged = sum(line.kind == "done" for line in lines)
    try:
        if cache_files(CacheFolders.default().collections):
            faults += look_at_kept(place, lines)
        faults += export_faults(place)
        with Project.open(place.project) as project:
            faults += acknowledged_faults(project, lines, start)
            project.classes.add("after it")
            wanted = digest(people_part(project))
        with Project.open(place.project, for_writing=False) as project:
            if digest(people_part(project)) != wanted:
                faults.append(Fault("lost", "the next action was lost", 1))
    except ProtoleafError as error:
        faults.append(Fault("lost", f"cannot be used any more: {error}", max(1, acknowledged)))
    return faults + backup_faults(place, lines)


def stray_fault(place: Place) -> list[Fault]:
    """Leftover files: next to the project, in the temporary folder, and drafts anywhere."""
    beside = [
        path.name
        for path in place.desk.iterdir()
        if path != place.project and "backup" not in path.name
    ]
    temporary = (
        [f"tmp/{path.name}" for path in place.temporary.iterdir()]
        if place.temporary.exists()
        else []
    )
    kept = [
        path.name
        for root in (place.caches, place.home)
        for path in root.rglob("*")
        if _is_draft(path)
    ]
    names = sorted({*beside, *temporary, *kept, *drafts(place)})
    return [Fault("stray", f"left behind: {', '.join(names[:5])}")] if names else []


def _is_draft(path: Path) -> bool:
    return path.is_file() and (
        path.name.startswith(".") or path.suffix in {".partial", ".tmp", ".draft", ".new"}
    )
