"""Copies of a project file made during labelling have every acknowledged action.

A copy without a concurrent action must be valid. One that overlaps a commit may be torn, and is
then reported as damaged.
"""

import select
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from engine.errors import ProtoleafError
from engine.project import Project
from tests.trust.acknowledge import Line, Log, read_log
from tests.trust.activities import label_one
from tests.trust.children import Child, Place, run_apart
from tests.trust.outcome import Fault, Outcome, Trial
from tests.trust.seen import digest, people_part
from tests.trust.stages import Stage
from tests.trust.survivor import check
from tests.trust.trials import OnTrial, ending_faults, named, run_trials, trial_folder

INSTRUMENT = "copies"
COPIES_AT_ONCE = 20
PACES = ("by handshake", "at a person's speed", "at full speed")
_THOUGHT_S = 0.03
_STOP = "stop"
_LIMIT_S = 60.0


@dataclass(frozen=True)
class Session:
    """Copies of one project while a writer works.

    Attributes:
        pace: one of `PACES`: the writer waits for each copy, pauses between actions, or does not.
    """

    pace: str
    copies: int
    seed: int


@dataclass(frozen=True)
class Copy:
    """A copy and its time in monotonic seconds."""

    name: str
    begun_s: float
    ended_s: float


def copy_many(stage: Stage, count: int, *, seed: int, on_trial: OnTrial = lambda: None) -> Outcome:
    """Copy an open project a number of times.

    Args:
        stage: of the project.
        count: copies.
        seed: of the random generator.
        on_trial: called after each copy.
    """
    size = min(COPIES_AT_ONCE, max(1, count // len(PACES)))
    sessions = [
        Session(PACES[place % len(PACES)], min(size, count - start), seed * 1_000_000 + start)
        for place, start in enumerate(range(0, count, size))
    ]

    def trial(session: Session) -> Trial:
        found = copy_some(stage, session)
        for _ in range(session.copies):
            on_trial()
        return found

    row = run_trials(INSTRUMENT, sessions, trial)
    return Outcome(INSTRUMENT, count, row.acknowledged, row.faults, row.peak_bytes)


def copy_some(stage: Stage, session: Session) -> Trial:
    """Let a writer work, copy its project repeatedly, and open every copy afterwards."""
    with trial_folder(stage.folder) as folder:
        place = stage.lay(folder)
        writer = Child(place, write_on, place, session.pace, session.seed)
        copies = _copies(place, writer, session)
        (folder / _STOP).touch()
        ending = writer.ending(_LIMIT_S)
        faults = ending_faults(ending, "the writer", place.output())
        looking = run_apart(
            place, look_at_copies, place, copies, str(stage.facts()["people"]), limit_s=4 * _LIMIT_S
        )
        faults += ending_faults(looking, "looking at the copies", place.output())
        faults += looking.answer or ()
        acknowledged = sum(line.kind == "done" for line in read_log(place.log))
        found = named(faults, f"copied {session.pace}, seed {session.seed}")
        return Trial(acknowledged, found, max(ending.peak_bytes, looking.peak_bytes))


def write_on(place: Place, pace: str, seed: int) -> None:
    """Label and undo until stopped, in the child.

    In the handshake each action waits for a file that says the copy is complete.
    """
    log, chance, number = Log(place.log), Random(seed), 0
    with Project.open(place.project) as project:
        while not (place.folder / _STOP).exists():
            if chance.random() < 0.1 and project.history.undo_action is not None:
                log.begin("undo")
                project.history.undo()
                log.acknowledge(project, "undo")
            else:
                label_one(project, log, chance)
            if pace == PACES[0] and not _is_handed_over(place, number):
                return
            if pace == PACES[1]:
                select.select([], [], [], _THOUGHT_S * 2 * chance.random())
            number += 1


def _is_handed_over(place: Place, number: int) -> bool:
    """Wait for the copy of this moment; False if there are no more copies."""
    (place.folder / f"ready {number}").touch()
    while not (place.folder / f"copied {number}").exists():
        if (place.folder / _STOP).exists():
            return False
        select.select([], [], [], 0.001)
    return True


def _copies(place: Place, writer: Child, session: Session) -> Sequence[Copy]:
    chance, copies = Random(session.seed), []
    _wait_until(lambda: place.log.exists() and place.log.stat().st_size > 0, writer)
    for number in range(session.copies):
        if session.pace == PACES[0]:
            _wait_until((place.folder / f"ready {number}").exists, writer)
        else:
            time.sleep(chance.random() * _THOUGHT_S * 2)
        copies.append(_copy(place, number))
        (place.folder / f"copied {number}").touch()
    return copies


def _copy(place: Place, number: int) -> Copy:
    """Read the file from start to end, as copying programs do."""
    folder = place.folder / f"elsewhere {number}"
    folder.mkdir()
    begun = time.monotonic()
    content = place.project.read_bytes()
    ended = time.monotonic()
    (folder / "copy.protoleaf").write_bytes(content)
    return Copy(folder.name, begun, ended)


def _wait_until(happened: Callable[[], bool], writer: Child) -> None:
    limit = time.monotonic() + _LIMIT_S
    while not happened() and writer.is_alive and time.monotonic() < limit:
        time.sleep(0.001)


def look_at_copies(place: Place, copies: Sequence[Copy], start: str) -> list[Fault]:
    """Faults of the copies, in a child."""
    lines = read_log(place.log)
    return [
        fault
        for copy in copies
        for fault in _copy_faults(place.folder / copy.name, copy, lines, start)
    ]


def _copy_faults(folder: Path, copy: Copy, lines: Sequence[Line], start: str) -> list[Fault]:
    file = folder / "copy.protoleaf"
    chain = [start, *(line.people for line in lines if line.kind == "done")]
    before = sum(line.kind == "done" and line.at_s < copy.begun_s for line in lines)
    is_sound = check(file).is_sound
    try:
        with Project.open(file, for_writing=False) as project:
            now = digest(people_part(project))
    except ProtoleafError as error:
        now = ""
        if is_sound:
            return [Fault("wrong", f"{copy.name} is called sound but cannot be read: {error}")]
    if now in chain[before:]:
        return [] if is_sound else [Fault("other", f"{copy.name} is whole and called damaged")]
    if is_sound:
        kept = max((place for place, content in enumerate(chain) if content == now), default=0)
        text = (
            f"{copy.name} is called sound and lacks {before - kept} of {before} acknowledged "
            f"actions"
        )
        return [Fault("wrong", text), Fault("lost", text, max(1, before - kept))]
    if _is_overlapped(copy, lines):
        return []
    return [Fault("lost", f"{copy.name}, which no action overlapped, is damaged", max(1, before))]


def _is_overlapped(copy: Copy, lines: Sequence[Line]) -> bool:
    """Whether an action ran during the copy."""
    begun = 0.0
    for line in lines:
        if line.kind == "begin":
            begun = line.at_s
        elif begun <= copy.ended_s and line.at_s >= copy.begun_s:
            return True
    return lines[-1].kind == "begin" and begun <= copy.ended_s
