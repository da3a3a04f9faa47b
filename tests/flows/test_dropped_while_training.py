"""Photos dropped while a backbone trains are embedded and classified at once."""

from pathlib import Path

import pytest

from app.training.controller import Models
from app.training.job import Phase
from app.training.logic import Depth, Plan
from engine.collection.state import NO_CLASS, ImageStatus
from tests.support.collections import write_shape
from tests.support.desk import Desk
from tests.support.sessions import LONG_MS
from tests.support.trainings import Trainer, points


@pytest.mark.slow
def test_photos_dropped_while_a_backbone_trains(reviewing: Desk, tmp_path: Path) -> None:
    """The training continues meanwhile."""
    training = reviewing.window.of(Models).training
    training._make_job = Trainer([*points(1), "wait"])  # noqa: SLF001 (a scripted job instead of a child process)
    training.start(Plan(Depth.BACKBONE, 100))
    reviewing.wait(lambda: training.phase is Phase.RUNNING)
    photos = [
        write_shape(tmp_path / "new" / f"{seed}.png", "Blue disc", seed=700 + seed)
        for seed in range(3)
    ]
    known = set(reviewing.state.image_ids.tolist())
    reviewing.drop_files(reviewing.grid, photos)

    def are_predicted() -> bool:
        state = reviewing.state
        new = [
            place
            for place, image_id in enumerate(state.image_ids.tolist())
            if image_id not in known
        ]
        is_ready = (state.status[new] == ImageStatus.READY) & (state.best_class[new] != NO_CLASS)
        return len(new) == len(photos) and bool(is_ready.all())

    reviewing.qtbot.waitUntil(are_predicted, timeout=LONG_MS)
    assert training.phase is Phase.RUNNING
    training.cancel()
    reviewing.wait(lambda: training.phase is Phase.IDLE)
