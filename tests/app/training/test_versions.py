"""The result of training: figures, use the new version or keep the old one, undo."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton

from app.session.embed_job import EmbedJob
from app.training.controller import Models
from app.training.job import Phase
from app.training.logic import Depth
from engine.collection.state import NO_CLASS, ImageStatus
from engine.project import Project
from tests.support.collections import Collection
from tests.support.desk import CONTROL, Desk
from tests.support.sessions import changed_by, recorded
from tests.support.training_panel import (
    panel_for,
    prepare,
    run_to,
    shown_buttons,
    train_and_use,
    used_names,
    wait_until_clean,
)
from tests.support.trainings import Trainer, points, result

pytestmark = pytest.mark.slow

Key = Qt.Key


def test_the_answers_are_visible_in_a_low_window(reviewing: Desk, backbone: Path) -> None:
    """The panel scrolls to them when training ends."""
    prepare(reviewing, Trainer([*points(4), result()]), backbone)
    reviewing.window.resize(1200, 480)
    panel = panel_for(reviewing)
    run_to(reviewing, panel, Phase.DONE)
    button = panel.outcome.keep_button
    reviewing.wait(lambda: button.visibleRegion().boundingRect() == button.rect())
    assert button.isEnabled()


def test_the_new_version_is_used_and_undone(reviewing: Desk, backbone: Path) -> None:
    """Figures, one click, a toast; Ctrl+Z restores the old version; both are listed."""
    prepare(reviewing, Trainer([*points(4), result()]), backbone)
    panel = panel_for(reviewing)
    run_to(reviewing, panel, Phase.DONE)
    assert "Current: 57.1%" in panel.outcome.text
    assert "New: 61.9%" in panel.outcome.text
    assert "42 held-out images" in panel.outcome.text
    ring = panel.run.chart.accuracy.ring
    assert ring is not None
    assert ring[0] == 30
    reviewing.wait(lambda: len(panel.versions.rows) == 2)
    assert used_names(panel) == ["leafnet"]
    changed_by(reviewing.qtbot, reviewing.window.session, panel.outcome.use_button.click)
    assert reviewing.window.toast.message == "Now using otherleaf"
    reviewing.wait(lambda: used_names(panel) == ["otherleaf"])
    assert panel.forms[Depth.PROPAGATION].isVisible()
    reviewing.grid.setFocus()
    reviewing.press_for_change(Key.Key_Z, CONTROL)
    reviewing.wait(lambda: used_names(panel) == ["leafnet"])
    assert [row.name for row in panel.versions.rows] == ["otherleaf", "leafnet"]
    wait_until_clean(reviewing)


def test_the_toast_takes_the_choice_back(reviewing: Desk, backbone: Path) -> None:
    """Its button is Undo."""
    prepare(reviewing, Trainer([result()]), backbone)
    panel = panel_for(reviewing)
    train_and_use(reviewing, panel)
    (undo,) = reviewing.window.toast.findChildren(QPushButton)
    assert undo.text() == "Undo"
    changed_by(reviewing.qtbot, reviewing.window.session, undo.click)
    reviewing.wait(lambda: used_names(panel) == ["leafnet"])


def test_keeping_the_current_version_changes_nothing(reviewing: Desk, backbone: Path) -> None:
    """No undo step; the new version can be chosen from the list later."""
    prepare(reviewing, Trainer([result(after_accuracy=0.5)]), backbone)
    panel = panel_for(reviewing)
    run_to(reviewing, panel, Phase.DONE)
    assert "not better" in panel.outcome.text
    assert panel.outcome.keep_button.property("variant") == "primary"
    changes = recorded(reviewing.window.session.change_made)
    panel.outcome.keep_button.click()
    assert not panel.outcome.isVisible()
    assert changes == []
    reviewing.wait(lambda: len(panel.versions.rows) == 2)
    (use,) = shown_buttons(reviewing, panel)
    changed_by(reviewing.qtbot, reviewing.window.session, use.click)
    reviewing.wait(lambda: used_names(panel) == ["otherleaf"])


def in_one_view(jobs: Sequence[tuple[object, ...]]) -> list[EmbedJob]:
    """Embedding jobs for a single view; those for all views may start on a slow machine."""
    return [job for (job,) in jobs if isinstance(job, EmbedJob) and not job.wanted.in_views]


def test_another_backbone_looks_at_all_images_again(reviewing: Desk, backbone: Path) -> None:
    """Choosing it starts embedding; undo needs none, as the old embeddings are cached."""
    prepare(reviewing, Trainer([result()]), backbone)
    panel = panel_for(reviewing, "train_backbone")
    run_to(reviewing, panel, Phase.DONE)
    readings = recorded(reviewing.window.session.jobs.job_added)
    changed_by(reviewing.qtbot, reviewing.window.session, panel.outcome.use_button.click)
    reviewing.wait_until_read()
    assert len(in_one_view(readings)) == 1
    assert reviewing.state.model_name == "leafnet"
    assert (reviewing.state.best_class != NO_CLASS).all()
    jobs = recorded(reviewing.window.session.jobs.job_added)
    reviewing.grid.setFocus()
    reviewing.press_for_change(Key.Key_Z, CONTROL)
    assert (reviewing.state.status == ImageStatus.READY).all()
    assert in_one_view(jobs) == []


def test_a_version_whose_files_are_gone_is_not_taken(reviewing: Desk, backbone: Path) -> None:
    """One line reports it, and the version in use stays."""
    prepare(reviewing, Trainer([result()]), backbone)
    panel = panel_for(reviewing)
    run_to(reviewing, panel, Phase.DONE)
    backbone.unlink()
    with reviewing.qtbot.assertNotEmitted(reviewing.window.session.change_made):
        panel.outcome.use_button.click()
        reviewing.wait(lambda: bool(reviewing.window.toast.message))
    assert "otherleaf" in reviewing.window.toast.message
    assert used_names(panel) == ["leafnet"]
    assert panel.outcome.isVisible()


def test_the_end_is_reported_when_the_panel_is_away(reviewing: Desk, backbone: Path) -> None:
    """A toast with the figures; its button opens the panel at the decision."""
    prepare(reviewing, Trainer([*points(2), result()]), backbone)
    panel = panel_for(reviewing)
    panel.forms[Depth.PROPAGATION].start_button.click()
    panel.close_requested.emit()
    reviewing.wait(lambda: reviewing.window.of(Models).training.phase is Phase.DONE)
    assert "61.9%" in reviewing.window.toast.message
    (look,) = reviewing.window.toast.findChildren(QPushButton)
    look.click()
    assert panel.isVisible()
    assert panel.outcome.isVisible()
    assert panel.topic is Depth.PROPAGATION


def test_a_read_only_project_only_lists_its_versions(
    desk: Desk, collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Training is disabled in the menu, and no version can be chosen."""
    with Project.open(collection.project) as project:
        project.models.add(backbone_name="leafnet", backbone_hash="00ff")
    monkeypatch.setattr("engine.project.opening.os.access", lambda _path, _mode: False)
    desk.open(collection.project)
    assert not desk.window.registry.action("tune_propagation").isEnabled()
    assert not desk.window.registry.action("train_backbone").isEnabled()
    panel = panel_for(desk, "show_model_versions")
    assert [button.isEnabled() for button in shown_buttons(desk, panel)] == [False]
