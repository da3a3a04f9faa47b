import signal
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from engine.errors import StorageError
from engine.new_file import DRAFT_SUFFIX
from engine.training import checkpoints
from engine.training.curve import CHECKPOINT_NAME
from engine.training.loop import train
from tests.support.few_shot_problems import colour_training_set
from tests.support.full_disk import full_disk_after
from tests.support.small_trainings import (
    different,
    kill_training,
    small_objective,
    small_settings,
    state_of,
)

PIXELS = colour_training_set().pixels
SETTINGS = small_settings(point_interval=1)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal here")
@pytest.mark.parametrize(("where", "kept"), [("iteration", 6), ("checkpoint", 3)])
def test_killed_training_ends_with_the_same_weights(tmp_path: Path, where: str, kept: int) -> None:
    """After SIGKILL between or within checkpoints, going on ends bit for bit as without it."""
    kill_training(tmp_path, where)
    path = tmp_path / CHECKPOINT_NAME
    assert checkpoints.read(path).iteration == kept
    assert len(list(tmp_path.glob(f".*{DRAFT_SUFFIX}"))) == (where == "checkpoint")
    whole, resumed = small_objective(), small_objective(seed=7)
    uninterrupted = train(whole, PIXELS, SETTINGS)
    assert train(resumed, PIXELS, SETTINGS, tmp_path) == uninterrupted
    assert different(state_of(whole), state_of(resumed)) == []
    assert [file.name for file in tmp_path.iterdir()] == [CHECKPOINT_NAME]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="limits of file sizes are POSIX")
def test_full_disk_stops_the_training_and_keeps_the_checkpoint(tmp_path: Path) -> None:
    """With space again, it goes on from the last good checkpoint to the same weights."""
    whole, stopped, resumed = small_objective(), small_objective(), small_objective(seed=7)
    train(whole, PIXELS, SETTINGS)
    with full_disk_after(0), pytest.raises(StorageError):
        train(stopped, PIXELS, SETTINGS, tmp_path / "nothing yet")
    train_until_full(tmp_path)
    assert checkpoints.read(tmp_path / CHECKPOINT_NAME).iteration == 3
    train(resumed, PIXELS, SETTINGS, tmp_path)
    assert different(state_of(whole), state_of(resumed)) == []


def train_until_full(run: Path) -> None:
    """Let the disk fill up after the first checkpoint."""
    with ExitStack() as stack:

        def fill(iteration: int) -> None:
            if iteration == 4:
                stack.enter_context(full_disk_after(1000))

        with pytest.raises(StorageError, match="the checkpoint before is still there"):
            train(
                small_objective(),
                PIXELS,
                SETTINGS,
                run,
                on_point=lambda point: fill(point.iteration),
            )
