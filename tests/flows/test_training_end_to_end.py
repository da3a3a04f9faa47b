"""Tuning with the real worker: from Start to a version that classifies, and undo."""

import numpy as np
import pytest
from PySide6.QtCore import Qt

from app.training.controller import Models
from app.training.job import Phase
from app.training.logic import Depth
from engine.collection.fitting import STAGE_SETTING
from engine.collection.state import NO_CLASS, ImageStatus
from engine.project import Change, Project
from tests.support.collections import Collection
from tests.support.desk import CONTROL, Desk
from tests.support.sessions import changed_by, recorded

TRAINING_MS = 120_000
"""The child process imports PyTorch first, which may be slow."""


def _without_the_collection(project: Project) -> Change:
    """Switch off the collection stage, which would decide the eight images of each class alone."""
    return project.policies.set_setting(STAGE_SETTING, False)


@pytest.mark.slow
def test_tuned_propagation_is_used_and_undone(reviewing: Desk, collection: Collection) -> None:
    """A few iterations in a child process; the new version classifies without another embedding."""
    window = reviewing.window
    changed_by(reviewing.qtbot, window.session, lambda: window.session.act(_without_the_collection))
    window.registry.trigger("tune_propagation")
    panel = window.of(Models).panel
    assert panel is not None
    form = panel.forms[Depth.PROPAGATION]
    form.iterations.setValue(10)
    form.start_button.click()
    reviewing.qtbot.waitUntil(lambda: not window.of(Models).training.is_busy, timeout=TRAINING_MS)
    assert (window.of(Models).training.phase, window.of(Models).training.error) == (Phase.DONE, "")
    assert window.of(Models).training.curves.accuracy.values
    assert panel.outcome.isVisible()
    reviewing.wait(lambda: [row.is_used for row in panel.versions.rows] == [False, True])
    jobs = recorded(window.session.jobs.job_added)
    changed_by(reviewing.qtbot, window.session, panel.outcome.use_button.click)
    assert window.toast.message == "Now using Tuned propagation 1"
    assert reviewing.state.model_name == "Tuned propagation 1"
    assert (reviewing.state.status == ImageStatus.READY).all()
    assert (reviewing.state.best_class != NO_CLASS).all()
    assert jobs == []
    tuned_scores = reviewing.state.best_score.copy()
    reviewing.grid.setFocus()
    reviewing.press_for_change(Qt.Key.Key_Z, CONTROL)
    assert reviewing.state.model_name == "leafnet"
    assert not np.array_equal(tuned_scores, reviewing.state.best_score)
    reviewing.leave()
    with Project.open(collection.project) as project:
        assert [version.label for version in project.models.versions()] == [
            "leafnet",
            "Tuned propagation 1",
        ]
        assert project.models.current.label == "leafnet"
        assert project.check() == []
