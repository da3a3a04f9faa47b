"""The training panel: opening it, training, and its versions."""

import os
from pathlib import Path

from PySide6.QtWidgets import QPushButton

from app.training.controller import Models
from app.training.job import Phase
from app.training.view import TrainingPanel
from engine.training.curve import TrainingDuration
from tests.support.desk import Desk
from tests.support.scripted_workers import Player
from tests.support.sessions import changed_by
from tests.support.trainings import Trainer, store_other_backbone

DURATION = TrainingDuration(iteration_s=1.0, others_s=40.0)


def prepare(desk: Desk, trainer: Trainer, backbone: Path | None = None) -> None:
    """Replace the window's training by a scripted one."""
    desk.window.of(Models).training._make_job = trainer  # noqa: SLF001 (scripted)
    if backbone is not None:
        desk.window.of(Models).training._store = store_other_backbone(backbone)  # noqa: SLF001


def panel_for(desk: Desk, action: str = "tune_propagation") -> TrainingPanel:
    """Open the panel and wait for the versions, with a scripted estimate of the duration."""
    desk.window.of(Models).forecast.measuring.make_job = Player(*[[DURATION]] * 3)
    desk.window.registry.trigger(action)
    panel = desk.window.of(Models).panel
    assert panel is not None
    desk.wait(lambda: bool(panel.versions.rows))
    return panel


def run_to(desk: Desk, panel: TrainingPanel, phase: Phase) -> None:
    """Press Start and wait for a phase."""
    assert panel.topic is not None
    panel.forms[panel.topic].start_button.click()
    desk.wait(lambda: desk.window.of(Models).training.phase is phase)


def train_and_use(desk: Desk, panel: TrainingPanel) -> None:
    """Train and use the new version."""
    run_to(desk, panel, Phase.DONE)
    changed_by(desk.qtbot, desk.window.session, panel.outcome.use_button.click)


def used_names(panel: TrainingPanel) -> list[str]:
    """Names of versions marked as in use."""
    return [row.name for row in panel.versions.rows if row.is_used]


def shown_buttons(desk: Desk, panel: TrainingPanel) -> list[QPushButton]:
    """Buttons "Use" of the list, once there is one."""

    def shown() -> list[QPushButton]:
        return [button for button in panel.versions.findChildren(QPushButton) if button.isVisible()]

    desk.wait(lambda: bool(shown()))
    return shown()


def trace_of(desk: Desk) -> list[Path]:
    """Files of a training in the cache."""
    folder = desk.window.session.caches.root / "training"
    return [
        Path(place) / name
        for place, folders, files in os.walk(folder)
        for name in (*folders, *files)
    ]


def wait_until_clean(desk: Desk) -> None:
    """Wait until the cache has no files of a training."""
    desk.wait(lambda: not trace_of(desk))
