"""A stopped training is resumed."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.training.controller import Models
from app.training.job import Phase
from app.training.logic import Depth
from engine.project import Project
from tests.support.collections import Collection
from tests.support.desk import Desk
from tests.support.sessions import LONG_MS
from tests.support.stopped_training import leave_stopped
from tests.support.training_panel import panel_for, prepare
from tests.support.trainings import Trainer
from tests.support.widgets import button


def test_a_stopped_training_is_resumed(reviewing: Desk, collection: Collection) -> None:
    """The panel shows where it stopped; Resume continues it, or a new one can be started."""
    window = reviewing.window
    settings: dict[str, int | str] = {"iterations": 40, "start": "current"}
    with Project.open(collection.project, for_writing=False) as project:
        leave_stopped(project, window.session.caches, settings, done=30)
    trainer = Trainer(["wait"])
    prepare(reviewing, trainer)
    panel = panel_for(reviewing, "train_backbone")
    reviewing.wait(panel.stopped.isVisible)
    assert (
        panel.stopped.text.text()
        == "Training stopped after 30 of 40 iterations. It can be resumed."
    )
    assert panel.forms[Depth.BACKBONE].start_button.property("variant") == ""
    QTest.mouseClick(panel.stopped.resume_button, Qt.MouseButton.LeftButton)
    reviewing.wait(lambda: window.of(Models).training.phase is Phase.RUNNING)
    assert trainer.requests[0].settings == settings
    assert not panel.stopped.isVisible()
    QTest.mouseClick(panel.run.progress.cancel_button, Qt.MouseButton.LeftButton)
    reviewing.wait(lambda: window.of(Models).training.phase is Phase.IDLE)
    reviewing.wait(panel.stopped.isVisible)


@pytest.mark.slow
def test_an_unfinished_training_is_offered_when_the_project_is_opened_again(
    reviewing: Desk, collection: Collection
) -> None:
    """A line in the status bar; Resume continues it in the panel."""
    window = reviewing.window
    settings: dict[str, int | str] = {"iterations": 40, "start": "current"}
    with Project.open(collection.project, for_writing=False) as project:
        leave_stopped(project, window.session.caches, settings, done=30)
    with reviewing.qtbot.waitSignal(window.session.closed, timeout=LONG_MS):
        window.session.close()
    trainer = Trainer(["wait"])
    prepare(reviewing, trainer)
    reviewing.open(collection.project)
    reviewing.wait(
        lambda: (
            window.toast.message == "Training stopped after 30 of 40 iterations. It can be resumed."
        )
    )
    QTest.mouseClick(button(window.toast, "Resume"), Qt.MouseButton.LeftButton)
    reviewing.wait(lambda: window.of(Models).training.phase is Phase.RUNNING)
    assert trainer.requests[0].settings == settings
    panel = window.of(Models).panel
    assert panel is not None
    assert panel.run.isVisible()
    QTest.mouseClick(panel.run.progress.cancel_button, Qt.MouseButton.LeftButton)
    reviewing.wait(lambda: window.of(Models).training.phase is Phase.IDLE)
