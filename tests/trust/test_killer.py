"""Killed programs: acknowledged actions are stored, interrupted ones leave nothing partial."""

import select
from random import Random

import pytest

from engine.project import Project
from tests.trust.acknowledge import Log
from tests.trust.activities import ACTIVITIES, Activity, label_one
from tests.trust.children import Place, run_apart
from tests.trust.killer import Kill, kill_many, kill_one
from tests.trust.outcome import Trial
from tests.trust.stages import Stage

LONG_S = 60.0
QUICK = tuple(name for name in ACTIVITIES if name != "train")  # loading torch takes seconds


@pytest.mark.slow
def test_nothing_acknowledged_is_lost(stage: Stage) -> None:
    """Every activity is killed at random moments."""
    row = kill_many(stage, 22, seed=7, names=QUICK)
    assert row.broken == ()
    assert row.acknowledged > 100


def _loses_actions(place: Place, log: Log, stage: Stage, chance: Random) -> None:
    with Project.open(place.project) as project:
        for _ in range(3):
            label_one(project, log, chance)
        for _ in range(3):
            project.history.undo()


def _raises(place: Place, log: Log, stage: Stage, chance: Random) -> None:
    raise KeyError("planted")


def _leaves_a_draft(place: Place, log: Log, stage: Stage, chance: Random) -> None:
    (place.desk / "pixels.partial").touch()


def _waits_for_ever() -> None:
    select.select([], [], [])


def planted(run: object, stage: Stage) -> Trial:
    """A trial of an activity that ends before the kill."""
    return kill_one(stage, Kill(Activity("planted", run), LONG_S, 3))  # type: ignore[arg-type]


def test_the_killer_finds_lost_actions(stage: Stage) -> None:
    """Acknowledged actions that are undone silently are counted."""
    found = planted(_loses_actions, stage)
    assert [(fault.kind, fault.count) for fault in found.faults if fault.kind != "stray"] == [
        ("lost", 3)
    ]
    assert found.acknowledged == 3


def test_the_killer_finds_tracebacks_and_drafts(stage: Stage) -> None:
    """A foreign exception and a leftover file are reported."""
    assert "KeyError: 'planted'" in planted(_raises, stage).faults[0].text
    assert "pixels.partial" in planted(_leaves_a_draft, stage).faults[-1].text


def test_a_child_that_hangs_is_found(stage: Stage) -> None:
    """A child without an answer is killed and reported as hanging."""
    assert run_apart(stage.place, _waits_for_ever, limit_s=0.2).is_hang
