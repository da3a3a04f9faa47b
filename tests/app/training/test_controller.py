"""The training panel with scripted jobs: started, watched, cancelled, rejected."""

import threading
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from app.training.controller import Models
from app.training.job import Phase, Training
from app.training.logic import Depth
from app.training.wording import stage_text
from engine.collection.state import ImageStatus
from engine.collection.training.settings import TrainingStage
from engine.events import Progress
from engine.new_folder import ScratchFolder
from engine.project import Project
from engine.runtime.providers import ListDevices
from engine.worker.protocol import Failed
from tests.support.collections import Collection
from tests.support.desk import CONTROL, Desk
from tests.support.killed import killed_in_scratch_folder
from tests.support.projects import dump
from tests.support.scripted_workers import Player, Step
from tests.support.sessions import LONG_MS, settle
from tests.support.training_panel import panel_for, prepare, run_to, trace_of, wait_until_clean
from tests.support.trainings import Trainer, points
from tests.support.widgets import button, scroll_area, texts

Key = Qt.Key


@pytest.mark.slow
def test_the_panel_stands_beside_the_collection(reviewing: Desk) -> None:
    """It replaces the inspector, the grid stays usable, and Esc shows the inspector again."""
    panel = panel_for(reviewing)
    assert panel.isVisible()
    assert not reviewing.window.inspector.isVisible()
    assert panel.forms[Depth.PROPAGATION].isVisible()
    assert "24 images" in texts(panel.forms[Depth.PROPAGATION])
    reviewing.wait(lambda: panel.width() == reviewing.window.side.width())
    reviewing.grid.setFocus()
    reviewing.grid.select_row(0)
    image_id = reviewing.grid.current_id
    assert image_id is not None
    reviewing.press_for_change(Key.Key_Return)
    assert reviewing.label_of(image_id)
    panel.setFocus()
    reviewing.press(Key.Key_Escape)
    assert not panel.isVisible()
    assert reviewing.window.inspector.isVisible()


@pytest.mark.slow
def test_the_keyboard_reaches_settings_and_buttons(reviewing: Desk) -> None:
    """Tab goes from the top to Start past the scroll area, which page keys scroll."""
    reviewing.window.resize(reviewing.window.minimumSizeHint())
    panel = panel_for(reviewing, "train_backbone")
    form = panel.forms[Depth.BACKBONE]
    reviewing.wait(form.start_button.isEnabled)
    button(panel, "Close").setFocus()
    for expected in (form.iterations, form.start_from, form.start_button):
        reviewing.press(Key.Key_Tab)
        assert reviewing.window.focusWidget() is expected
        assert not expected.visibleRegion().isEmpty()
    panel.setFocus()
    bar = scroll_area(panel).verticalScrollBar()
    bar.setValue(0)
    reviewing.press(Key.Key_PageDown)
    assert bar.value() == min(bar.pageStep(), bar.maximum()) > 0


@pytest.mark.slow
def test_the_palette_knows_the_actions(reviewing: Desk) -> None:
    """Three actions of the menu Model, found by their words."""
    reviewing.press(Key.Key_K, CONTROL)
    for words, action in (
        ("tune prop", "Tune propagation"),
        ("train the", "Train the backbone"),
        ("model v", "Model"),
    ):
        rows = reviewing.type_into_palette(words)
        assert rows[0].title.startswith(action)
        assert rows[0].subtitle == "Model"
    reviewing.press(Key.Key_Return)
    panel = reviewing.window.of(Models).panel
    assert panel is not None
    assert panel.topic is None
    assert not any(form.isVisible() for form in panel.forms.values())
    reviewing.wait(lambda: [row.name for row in panel.versions.rows] == ["leafnet"])


@pytest.mark.slow
def test_points_and_progress_arrive_while_it_runs(reviewing: Desk) -> None:
    """Curves grow, panel and status bar show progress, and no second training can be started."""
    prepare(reviewing, Trainer([*points(4), "wait"]))
    panel = panel_for(reviewing)
    run_to(reviewing, panel, Phase.RUNNING)
    training = reviewing.window.of(Models).training
    reviewing.wait(lambda: len(training.curves.accuracy.values) == 5)
    assert training.curves.loss.iterations == [0, 10, 20, 30, 40]
    assert panel.run.progress.facts.startswith("40 of 40")
    assert "20\N{NO-BREAK SPACE}iterations/s" in panel.run.progress.facts
    job_bar = reviewing.window.status_line.job_bar
    assert "Tuning propagation" in texts(job_bar)
    assert "nothing is saved" in button(job_bar, "Stop").toolTip()
    assert not panel.forms[Depth.PROPAGATION].isVisible()
    chart = panel.run.chart
    chart.redraw()
    assert chart.accuracy.curves == ((training.curves.accuracy, True),)
    assert "66.0%" in chart.accessibleName()
    panel.run.progress.cancel_button.click()
    reviewing.wait(lambda: training.phase is Phase.IDLE)


@pytest.mark.slow
def test_what_happens_is_named_where_nothing_is_counted(reviewing: Desk) -> None:
    """Before and after the iterations the line names the stage; Cancel stays enabled."""
    steps: list[Step] = [Progress(115, 115, "images", 50.0, note="reading images")]
    steps += [Progress(0, 0, "", note=TrainingStage.PREPARING), "wait"]
    prepare(reviewing, Trainer(steps))
    panel = panel_for(reviewing, "train_backbone")
    run_to(reviewing, panel, Phase.RUNNING)
    reviewing.wait(lambda: panel.run.progress.facts == "Preparing the network…")
    assert texts(reviewing.window.status_line.job_bar).split("\n") == [
        "Training the backbone",
        "preparing the network",
    ]
    assert panel.run.progress.cancel_button.isEnabled()
    assert [stage_text(stage) for stage in TrainingStage] == [
        "Preparing the network…",
        "Embedding the labelled images…",
        "Saving the new backbone…",
        "Measuring on held-out images…",
    ]
    panel.run.progress.cancel_button.click()
    reviewing.wait(lambda: reviewing.window.of(Models).training.phase is Phase.IDLE)


@pytest.mark.slow
def test_a_cancel_is_answered_at_once(reviewing: Desk) -> None:
    """The panel shows it at once, although the current step still runs."""
    prepare(reviewing, Trainer([*points(2), "wait"]))
    panel = panel_for(reviewing)
    run_to(reviewing, panel, Phase.RUNNING)
    panel.run.progress.cancel_button.click()
    assert panel.run.progress.facts == "Stopping…"
    assert not panel.run.progress.cancel_button.isEnabled()
    reviewing.window.of(Models).training.progressed.emit(Progress(1, 2))
    assert panel.run.progress.facts == "Stopping…"
    reviewing.wait(lambda: reviewing.window.of(Models).training.phase is Phase.IDLE)
    assert panel.run.progress.cancel_button.isEnabled()


def test_a_slow_cache_disk_holds_no_window_up(
    reviewing: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The scratch folder is made on a thread; a cancel does not wait, and no folder is left."""
    prepare(reviewing, Trainer())
    panel = panel_for(reviewing)
    asked, answers, askers = threading.Event(), threading.Event(), list[threading.Thread]()

    def slow_folder(parent: Path) -> ScratchFolder:
        askers.append(threading.current_thread())
        asked.set()
        assert answers.wait(LONG_MS / 1000)
        return ScratchFolder(parent)

    monkeypatch.setattr("app.training.job.ScratchFolder", slow_folder)
    run_to(reviewing, panel, Phase.WAITING)
    assert asked.wait(LONG_MS / 1000)
    reviewing.window.of(Models).training.cancel()
    assert reviewing.window.of(Models).training.phase is Phase.IDLE
    answers.set()
    assert threading.main_thread() not in askers
    for thread in askers:
        thread.join()
    wait_until_clean(reviewing)


@pytest.mark.slow
def test_a_cancel_leaves_no_trace(reviewing: Desk, collection: Collection) -> None:
    """No version, no undo step, nothing in the cache; training can be started again."""
    prepare(reviewing, Trainer([*points(2), "wait"], [*points(2), "wait"]))
    with Project.open(collection.project, for_writing=False) as project:
        before = dump(project), project.models.versions()
    undo_text = reviewing.window.registry.action("undo").text()
    panel = panel_for(reviewing)
    for _ in range(2):
        run_to(reviewing, panel, Phase.RUNNING)
        reviewing.wait(lambda: bool(trace_of(reviewing)))
        panel.run.progress.cancel_button.click()
        reviewing.wait(lambda: reviewing.window.of(Models).training.phase is Phase.IDLE)
        wait_until_clean(reviewing)
    assert panel.forms[Depth.PROPAGATION].isVisible()
    assert not panel.failure.isVisible()
    assert reviewing.window.registry.action("undo").text() == undo_text
    with Project.open(collection.project, for_writing=False) as project:
        assert (dump(project), project.models.versions()) == before


@pytest.mark.slow
def test_what_a_killed_window_left_goes_at_the_next_start(desk: Desk, tmp_path: Path) -> None:
    """The scratch folder of its training is stale."""
    killed_in_scratch_folder(desk.window.session.caches.root / "training")
    assert trace_of(desk)
    Training(desk.window.session)
    wait_until_clean(desk)


@pytest.mark.slow
def test_a_failure_is_one_line_in_the_panel(reviewing: Desk) -> None:
    """The worker's message; Start is enabled again."""
    trainer = Trainer([*points(1), Failed("the disk is full. Free some space")], ["wait"])
    prepare(reviewing, trainer)
    panel = panel_for(reviewing)
    run_to(reviewing, panel, Phase.FAILED)
    assert panel.failure.isVisible()
    assert [label.text() for label in panel.failure.findChildren(QLabel)] == [
        "the disk is full. Free some space"
    ]
    assert panel.forms[Depth.PROPAGATION].start_button.isEnabled()
    wait_until_clean(reviewing)
    run_to(reviewing, panel, Phase.RUNNING)
    assert not panel.failure.isVisible()
    panel.run.progress.cancel_button.click()
    reviewing.wait(lambda: reviewing.window.of(Models).training.phase is Phase.IDLE)


@pytest.mark.slow
def test_a_failure_goes_when_the_project_is_changed(reviewing: Desk) -> None:
    """A new label may have been what was missing: the message is cleared."""
    prepare(reviewing, Trainer([*points(1), Failed("there are too few labelled images")]))
    panel = panel_for(reviewing)
    run_to(reviewing, panel, Phase.FAILED)
    assert panel.failure.isVisible()
    reviewing.choose(0)
    reviewing.press_for_change(Key.Key_Return)
    assert not panel.failure.isVisible()
    assert panel.forms[Depth.PROPAGATION].isVisible()


@pytest.mark.slow
def test_the_focus_stays_when_a_training_starts(reviewing: Desk) -> None:
    """Start is hidden while focused; the next Space presses nothing."""
    prepare(reviewing, Trainer([*points(1), "wait"]))
    panel = panel_for(reviewing)
    panel.forms[Depth.PROPAGATION].start_button.setFocus()
    reviewing.press(Key.Key_Space)
    reviewing.wait(lambda: reviewing.window.of(Models).training.phase is Phase.RUNNING)
    assert panel.hasFocus()
    panel.run.progress.cancel_button.click()
    reviewing.wait(lambda: reviewing.window.of(Models).training.phase is Phase.IDLE)


@pytest.mark.slow
def test_a_crash_says_that_the_project_is_as_it_was(reviewing: Desk) -> None:
    """A worker that dies gives a sentence; with the panel closed, a toast shows it."""
    prepare(reviewing, Trainer([*points(1), "die"]))
    panel = panel_for(reviewing)
    panel.forms[Depth.PROPAGATION].start_button.click()
    panel.close_requested.emit()
    reviewing.wait(lambda: reviewing.window.of(Models).training.phase is Phase.FAILED)
    assert reviewing.window.toast.message == (
        "Tuning propagation ended unexpectedly. The project is as it was; start it again."
    )


@pytest.mark.slow
def test_training_waits_for_other_heavy_work(reviewing: Desk) -> None:
    """The second heavy job is queued, says so, and can be cancelled while pending."""
    prepare(reviewing, Trainer([*points(1), "wait"]))
    other = Player(["wait"])("Analysing images", ListDevices())
    reviewing.window.session.jobs.run(other)
    panel = panel_for(reviewing)
    run_to(reviewing, panel, Phase.WAITING)
    assert "Waiting for other work" in panel.run.progress.facts
    assert panel.run.progress.cancel_button.isVisible()
    other.cancel()
    reviewing.wait(lambda: reviewing.window.of(Models).training.phase is Phase.RUNNING)
    panel.run.progress.cancel_button.click()
    reviewing.wait(lambda: reviewing.window.of(Models).training.phase is Phase.IDLE)


@pytest.mark.slow
def test_closing_the_project_ends_the_training(reviewing: Desk) -> None:
    """Nothing is left, and the panel is closed with the project."""
    prepare(reviewing, Trainer([*points(1), "wait"]))
    panel = panel_for(reviewing)
    run_to(reviewing, panel, Phase.RUNNING)
    with reviewing.qtbot.waitSignal(reviewing.window.session.closed, timeout=LONG_MS):
        reviewing.window.session.close()
    reviewing.wait(lambda: reviewing.window.of(Models).training.phase is Phase.IDLE)
    wait_until_clean(reviewing)
    assert not reviewing.window.session.jobs.jobs
    assert not panel.isVisible()


@pytest.mark.slow
def test_closing_the_project_asks_while_it_trains(reviewing: Desk) -> None:
    """Ctrl+W asks and stops nothing; the button or a second Ctrl+W closes."""
    prepare(reviewing, Trainer([*points(1), "wait"]))
    panel, session, toast = (
        panel_for(reviewing, "train_backbone"),
        reviewing.window.session,
        reviewing.window.toast,
    )
    run_to(reviewing, panel, Phase.RUNNING)
    reviewing.grid.setFocus()
    reviewing.press(Key.Key_W, CONTROL)
    question = (
        "The backbone is being trained. Closing the project stops it; you can resume it later."
    )
    assert toast.message == question
    assert session.info is not None
    assert reviewing.window.of(Models).training.phase is Phase.RUNNING
    with reviewing.qtbot.waitSignal(session.closed, timeout=LONG_MS):
        QTest.mouseClick(button(toast, "Stop and close"), Qt.MouseButton.LeftButton)
    reviewing.wait(lambda: reviewing.window.of(Models).training.phase is Phase.IDLE)
    wait_until_clean(reviewing)


@pytest.mark.slow
def test_asking_twice_closes(reviewing: Desk) -> None:
    """A second Ctrl+W closes the project."""
    prepare(reviewing, Trainer([*points(1), "wait"]))
    panel = panel_for(reviewing)
    run_to(reviewing, panel, Phase.RUNNING)
    reviewing.grid.setFocus()
    reviewing.press(Key.Key_W, CONTROL)
    assert (
        reviewing.window.toast.message
        == "Propagation is being tuned. Closing the project stops it."
    )
    with reviewing.qtbot.waitSignal(reviewing.window.session.closed, timeout=LONG_MS):
        reviewing.press(Key.Key_W, CONTROL)
    reviewing.wait(lambda: reviewing.window.of(Models).training.phase is Phase.IDLE)
    wait_until_clean(reviewing)


@pytest.mark.slow
def test_without_labels_there_is_nothing_to_learn_from(desk: Desk, tmp_path: Path) -> None:
    """Start is disabled, and the panel gives the remedy."""
    with desk.qtbot.waitSignal(desk.window.session.loaded, timeout=LONG_MS):
        desk.window.session.create(tmp_path / "empty.protoleaf")
    panel = panel_for(desk)
    form = panel.forms[Depth.PROPAGATION]
    assert not form.start_button.isEnabled()
    assert "Label at least" in texts(form)


@pytest.mark.slow
def test_the_plan_reaches_the_worker(reviewing: Desk) -> None:
    """The request has the worker's names for the settings."""
    trainer = Trainer(["wait"])
    prepare(reviewing, trainer)
    panel = panel_for(reviewing, "train_backbone")
    form = panel.forms[Depth.BACKBONE]
    form.start_from.setCurrentIndex(1)
    form.iterations.setValue(30)
    run_to(reviewing, panel, Phase.RUNNING)
    (request,) = trainer.requests
    assert request.depth == "backbone"
    assert request.settings == {"iterations": 30, "start": "conv4", "side": 84}
    assert request.out.is_relative_to(reviewing.window.session.caches.root)
    panel.run.progress.cancel_button.click()
    reviewing.wait(lambda: reviewing.window.of(Models).training.phase is Phase.IDLE)
    settle(reviewing.qtbot, reviewing.window.session)
    assert np.isin(reviewing.state.status, ImageStatus.READY).all()


@pytest.mark.slow
def test_the_button_says_start(reviewing: Desk) -> None:
    """The button of both forms says Start."""
    panel = panel_for(reviewing)
    assert {form.start_button.text() for form in panel.forms.values()} == {"Start"}
