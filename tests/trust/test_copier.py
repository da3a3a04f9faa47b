"""Copies of an open project: complete at every acknowledged moment."""

import json
import shutil

import pytest

from engine.project import Project
from tests.trust.acknowledge import Line
from tests.trust.copier import Copy, copy_many, look_at_copies
from tests.trust.seen import digest, people_part
from tests.trust.stages import Stage
from tests.trust.trials import trial_folder


@pytest.mark.slow
def test_copies_hold_what_was_acknowledged(stage: Stage) -> None:
    """The file is copied while a writer waits, pauses, or works continuously."""
    row = copy_many(stage, 36, seed=3)
    assert row.broken == ()
    assert row.acknowledged >= 12


@pytest.mark.slow
def test_a_copy_that_lacks_an_action_is_found(stage: Stage) -> None:
    """A valid copy without an acknowledged action is reported."""
    with trial_folder(stage.folder) as folder:
        place = stage.lay(folder)
        (folder / "elsewhere 0").mkdir()
        shutil.copyfile(place.project, folder / "elsewhere 0" / "copy.protoleaf")
        with Project.open(place.project, for_writing=False) as project:
            start = digest(people_part(project))
        line = Line("done", "label", "another content", {}, at_s=1.0)
        place.log.write_text(as_line(line), encoding="utf-8")
        faults = look_at_copies(place, [Copy("elsewhere 0", 2.0, 2.1)], start)
    assert [fault.kind for fault in faults] == ["wrong", "lost"]
    assert "lacks 1 of 1" in faults[0].text


def as_line(line: Line) -> str:
    """A line in the log's format."""
    return json.dumps(line.__dict__) + "\n"
