"""Source 1: change the project to another installed backbone, and back."""

import numpy as np
import pytest
from PySide6.QtWidgets import QPushButton

from app.backbones.controller import Backbones
from app.jobs.job import Job
from app.jobs.slot import Stage
from engine.backbones.library import BackboneLibrary
from engine.collection.backbone_change import PreparedChange, ShotComparison
from engine.collection.state import ImageStatus
from engine.embedding.messages import EmbedBatch, EmbedResult
from engine.project import Project
from engine.worker.protocol import Failed
from tests.support.backbone_jobs import progress
from tests.support.backbone_panel import panel_for, use_button, wait_for
from tests.support.collections import Collection
from tests.support.desk import Desk
from tests.support.live_states import assert_same, own_copy
from tests.support.projects import dump
from tests.support.scripted_workers import Player
from tests.support.sessions import LONG_MS, changed_by, recorded


@pytest.mark.slow
def test_a_change_is_measured_used_and_undone(reviewing: Desk, tinyleaf: str) -> None:
    """With the real worker: the change is applied on confirmation; undo restores it bit for bit."""
    change = reviewing.window.of(Backbones).jobs.change
    panel = panel_for(reviewing)
    before = own_copy(reviewing.state)
    undo_text = reviewing.window.registry.action("undo").text()
    use_button(panel, tinyleaf).click()
    assert panel.tabs.isHidden()
    wait_for(reviewing, change, Stage.DONE)
    assert reviewing.window.registry.action("undo").text() == undo_text
    assert panel.outcome.isVisible()
    assert "Current: " in panel.outcome.text
    assert "New: " in panel.outcome.text
    # One image is a duplicate of another.
    assert "23 of your labels, each held out once." in panel.outcome.text
    jobs = recorded(reviewing.window.session.jobs.job_added)
    changed_by(reviewing.qtbot, reviewing.window.session, panel.outcome.use_button.click)
    assert reviewing.window.toast.message == f"Now using {tinyleaf}"
    assert reviewing.state.model_name == tinyleaf
    assert (reviewing.state.status == ImageStatus.READY).all()
    assert (reviewing.state.label_class == before.label_class).all()
    assert not np.array_equal(reviewing.state.best_score, before.best_score)
    reviewing.wait(
        lambda: panel.computer.rows[0].name == tinyleaf and panel.computer.rows[0].is_used
    )
    assert not panel.tabs.isHidden()
    (undo,) = reviewing.window.toast.findChildren(QPushButton)
    changed_by(reviewing.qtbot, reviewing.window.session, undo.click)
    assert_same(reviewing.state, before, tolerance=0)
    assert "Analysing images" not in {job.title for (job,) in jobs if isinstance(job, Job)}
    assert reviewing.window.toast.message == f"Undone: Change the backbone to {tinyleaf}"


@pytest.mark.slow
def test_what_was_found_out_about_images_waits_with_the_change(
    reviewing: Desk, tinyleaf: str
) -> None:
    """The worker sends it in batches before its result; it is stored with the change."""
    news = (EmbedResult(7, None, "it is gone"), EmbedResult(8, None, "it is gone, too"))
    prepared = PreparedChange(tinyleaf, tinyleaf, "00ff", ShotComparison(0.5, None, 0), 3)
    jobs = reviewing.window.of(Backbones).jobs
    jobs.change.make_job = Player([*(EmbedBatch((each,)) for each in news), prepared])
    use_button(panel_for(reviewing), tinyleaf).click()
    wait_for(reviewing, jobs.change, Stage.DONE)
    assert jobs.ready is not None
    assert jobs.ready.news == news


@pytest.mark.slow
def test_keeping_the_old_one_changes_nothing(
    reviewing: Desk, collection: Collection, tinyleaf: str
) -> None:
    """No undo step, no model version; the panel shows its sources again."""
    panel = panel_for(reviewing)
    use_button(panel, tinyleaf).click()
    wait_for(reviewing, reviewing.window.of(Backbones).jobs.change, Stage.DONE)
    with reviewing.qtbot.assertNotEmitted(reviewing.window.session.change_made):
        panel.outcome.keep_button.click()
    assert panel.outcome.isHidden()
    assert not panel.tabs.isHidden()
    with Project.open(collection.project, for_writing=False) as project:
        assert len(project.models.versions()) == 1


@pytest.mark.slow
def test_a_cancel_leaves_the_project_as_it_was(
    reviewing: Desk, collection: Collection, tinyleaf: str
) -> None:
    """Progress has counts, rate and time left; Cancel takes effect at once."""
    change = reviewing.window.of(Backbones).jobs.change
    change.make_job = Player([progress(16, 64), "wait"], [progress(16, 64), "wait"])
    with Project.open(collection.project, for_writing=False) as project:
        before = dump(project), project.models.versions()
    panel = panel_for(reviewing)
    reviewing.wait(lambda: len(panel.computer.rows) == 2)
    for _ in range(2):
        use_button(panel, tinyleaf).click()
        reviewing.wait(lambda: "16 of 64" in panel.run.progress.facts)
        assert "10\u00a0images/s" in panel.run.progress.facts
        assert "5\u00a0s left" in panel.run.progress.facts
        panel.run.progress.cancel_button.click()
        assert panel.run.progress.facts == "Stopping…"
        reviewing.wait(lambda: change.stage is Stage.IDLE)
        assert not panel.tabs.isHidden()
    with Project.open(collection.project, for_writing=False) as project:
        assert (dump(project), project.models.versions()) == before


def test_a_failure_is_one_line(reviewing: Desk, tinyleaf: str) -> None:
    """A failure is shown in the panel if it is open, else in the status line."""
    change = reviewing.window.of(Backbones).jobs.change
    message = Failed("the disk is full. Free some space")
    change.make_job = Player([message], [message])
    panel = panel_for(reviewing)
    use_button(panel, tinyleaf).click()
    wait_for(reviewing, change, Stage.FAILED)
    assert panel.run.error == "the disk is full. Free some space"
    assert panel.run.failure.isVisible()
    assert not panel.tabs.isHidden()
    use_button(panel, tinyleaf).click()
    panel.close_requested.emit()
    wait_for(reviewing, change, Stage.FAILED)
    assert reviewing.window.toast.message == "the disk is full. Free some space"


@pytest.mark.slow
def test_it_goes_on_while_nobody_looks(reviewing: Desk, tinyleaf: str) -> None:
    """A toast reports that it is finished; its button opens the panel at the decision."""
    panel = panel_for(reviewing)
    use_button(panel, tinyleaf).click()
    panel.close_requested.emit()
    wait_for(reviewing, reviewing.window.of(Backbones).jobs.change, Stage.DONE)
    assert reviewing.window.toast.message == f"{tinyleaf} is ready to use"
    (look,) = reviewing.window.toast.findChildren(QPushButton)
    look.click()
    assert panel.outcome.isVisible()


@pytest.mark.slow
def test_closing_the_project_ends_a_change(reviewing: Desk, tinyleaf: str) -> None:
    """No decision is pending any more."""
    change = reviewing.window.of(Backbones).jobs.change
    change.make_job = Player([progress(1, 64), "wait"])
    panel = panel_for(reviewing)
    use_button(panel, tinyleaf).click()
    reviewing.wait(lambda: change.stage is Stage.RUNNING)
    with reviewing.qtbot.waitSignal(reviewing.window.session.closed, timeout=LONG_MS):
        reviewing.window.session.close()
    reviewing.wait(lambda: change.stage is Stage.IDLE)
    assert reviewing.window.of(Backbones).jobs.ready is None
    assert not panel.isVisible()


@pytest.mark.slow
def test_a_read_only_project_cannot_be_changed(
    desk: Desk, collection: Collection, tinyleaf: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The panel only lists the backbones."""
    monkeypatch.setattr("engine.project.opening.os.access", lambda _path, _mode: False)
    desk.open(collection.project)
    panel = panel_for(desk)
    assert not use_button(panel, tinyleaf).isEnabled()


@pytest.mark.slow
def test_a_lost_backbone_is_reported_and_mended(
    desk: Desk, collection: Collection, tinyleaf: str
) -> None:
    """The project opens with its predictions; a toast opens the panel; leafnet replaces it."""
    from engine.collection.backbone_change import prepare_change, use_backbone

    with Project.open(collection.project) as project:
        prepared = prepare_change(project, collection.caches, tinyleaf, device="cpu")
        use_backbone(project, tinyleaf, prepared.backbone_hash)
    BackboneLibrary().remove(tinyleaf)
    desk.open(collection.project)
    assert (desk.state.status == ImageStatus.READY).all()
    desk.wait(lambda: "project's backbone is missing" in desk.window.toast.message)
    (choose,) = desk.window.toast.findChildren(QPushButton)
    choose.click()
    panel = panel_for(desk)
    desk.wait(lambda: "classes and labels are safe" in panel.lost.text)
    use_button(panel, "leafnet").click()
    wait_for(desk, desk.window.of(Backbones).jobs.change, Stage.DONE)
    changed_by(desk.qtbot, desk.window.session, panel.outcome.use_button.click)
    assert desk.state.model_name == "leafnet"
    desk.wait(lambda: not panel.lost.text)
