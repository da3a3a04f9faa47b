"""Running jobs and training results in the pseudo-language, with scripted workers."""

from dataclasses import replace
from pathlib import Path

import pytest

from app.training.controller import Models
from app.training.job import Phase
from app.training.logic import Depth
from engine.collection.training.settings import TrainingStage
from engine.events import Progress
from tests.support.backbone_jobs import progress
from tests.support.collections import cache_of_test
from tests.support.desk import Desk
from tests.support.pseudo_reader import Reader
from tests.support.scripted_workers import ScriptedWorkers, Step
from tests.support.training_panel import panel_for, prepare, run_to
from tests.support.trainings import Trainer, other_backbone, points, result
from tests.support.unread import unread_collection


@pytest.fixture
def backbone(tmp_path: Path) -> Path:
    """A backbone other than the bundled one."""
    return other_backbone(tmp_path / "own models")


@pytest.mark.slow
def test_images_are_being_read(desk: Desk, reader: Reader, tmp_path: Path) -> None:
    """Progress, speed, device and time left; then cancelled, with pending images."""
    running = replace(progress(3, 12), note="CPU")
    desk.window.embedding._start_worker = ScriptedWorkers([[running, "wait"]] * 3)  # noqa: SLF001 (a scripted job)
    desk.open(unread_collection(tmp_path / "unread", cache_of_test()).project)
    bar = desk.window.status_line.job_bar
    desk.wait(lambda: "3" in bar.facts)
    reader.read("embedding")
    desk.window.embedding.cancel()
    desk.wait(lambda: not bar.is_running)
    reader.read("embedding-stopped")


def test_a_device_gives_up(desk: Desk, reader: Reader, tmp_path: Path) -> None:
    """The worker ends with a reason."""
    desk.window.embedding._start_worker = ScriptedWorkers([["die"]], [["die"]], [["die"]])  # noqa: SLF001 (a scripted job)
    desk.open(unread_collection(tmp_path / "unread", cache_of_test()).project)
    desk.wait(lambda: bool(desk.window.toast.message))
    reader.read("embedding-failed")


@pytest.mark.slow
@pytest.mark.parametrize("action", ["tune_propagation", "train_backbone"])
def test_a_training_runs(action: str, reviewing: Desk, reader: Reader, backbone: Path) -> None:
    """Each stage in panel and status bar; then with the panel closed; then cancelled."""
    stages: list[Step] = [Progress(0, 0, unit="", note=stage) for stage in TrainingStage]
    window = reviewing.window
    for number, stage in enumerate([*stages, points(2)[-2]]):
        prepare(reviewing, Trainer([stage, "wait"]), backbone)
        panel = panel_for(reviewing, action)
        run_to(reviewing, panel, Phase.RUNNING)
        reviewing.wait(lambda: window.of(Models).training.progress is not None)
        reader.read(f"{action}-{number}")
        panel.close_requested.emit()
        reader.read(f"{action}-{number}-away")
        window.of(Models).training.cancel()
        reviewing.wait(lambda: window.of(Models).training.phase is Phase.IDLE)
    reader.read(f"{action}-stopped")


@pytest.mark.slow
@pytest.mark.parametrize("after", [0.619, 0.5, None])
def test_what_came_of_a_training(
    after: float | None, reviewing: Desk, reader: Reader, backbone: Path
) -> None:
    """Better, not better, not measured: figures, versions, and the message about the choice."""
    before = None if after is None else 0.571
    prepare(
        reviewing,
        Trainer([*points(4), result(before_accuracy=before, after_accuracy=after)]),
        backbone,
    )
    panel = panel_for(reviewing)
    panel.forms[Depth.PROPAGATION].start_button.click()
    panel.close_requested.emit()
    reviewing.wait(lambda: reviewing.window.of(Models).training.phase is Phase.DONE)
    assert reviewing.window.toast.message
    reader.read("trained-away")
    panel = panel_for(reviewing)
    reviewing.wait(lambda: len(panel.versions.rows) == 2)
    reader.read("trained")
    reviewing.window.toast.hide()
    panel.outcome.use_button.click()
    reviewing.wait(lambda: bool(reviewing.window.toast.message))
    reader.read("version-in-use")


@pytest.mark.slow
def test_a_training_fails(reviewing: Desk, reader: Reader) -> None:
    """The reason of a dead worker, in the panel and in the toast."""
    prepare(reviewing, Trainer(["die"], ["die"]))
    panel = panel_for(reviewing)
    run_to(reviewing, panel, Phase.FAILED)
    reader.read("training-failed")
    panel.forms[Depth.PROPAGATION].start_button.click()
    panel.close_requested.emit()
    reviewing.wait(lambda: bool(reviewing.window.toast.message))
    reader.read("training-failed-away")
