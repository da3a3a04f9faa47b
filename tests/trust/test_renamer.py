"""Files renamed, replaced, deleted and linked while open or after a kill."""

from random import Random

import pytest

from tests.trust.outcome import Outcome
from tests.trust.renamer import Move, move_one
from tests.trust.scenes import SCENES, Scene
from tests.trust.stages import Stage
from tests.trust.trials import trial_folder


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENES)
def test_nothing_is_lost_without_an_error(stage: Stage, name: str) -> None:
    """Acknowledged actions are in some file, there is one writer, an older copy is unchanged."""
    found = move_one(stage, Move(name, 17))
    assert Outcome(name, 1, found.acknowledged, found.faults).broken == ()


@pytest.mark.slow
def test_a_missing_action_is_found(stage: Stage) -> None:
    """A file restored to a state before its last actions is reported."""
    with trial_folder(stage.folder) as folder:
        scene = Scene(stage.lay(folder), stage, Random(1))
        puppet = scene.writer()
        puppet.label(4)
        scene.end(puppet)
        scene.project.write_bytes(stage.place.project.read_bytes())
        for path in scene.place.desk.iterdir():
            if path != scene.project:
                path.unlink()
        scene.expect_all()
        scene.expect(scene.project, "another content")
    assert [fault.kind for fault in scene.faults] == ["lost", "wrong"]
    assert scene.faults[0].count >= 1
