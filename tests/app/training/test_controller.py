"""From the menu to another model version and back, with trainings that take no time."""

import os
import threading
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton

from app.training.job import Phase, Training
from app.training.logic import Depth
from app.training.view import TrainingPanel
from engine.collection.state import NO_CLASS, ImageStatus
from engine.events import Progress
from engine.project import Project
from engine.runtime.providers import ListDevices
from engine.scratch_folder import ScratchFolder
from engine.training.expected_time import TrainingDuration
from engine.worker.protocol import Failed
from tests.support.collections import Collection
from tests.support.desk import CONTROL, Desk
from tests.support.killed import killed_in_scratch_folder
from tests.support.projects import dump
from tests.support.scripted_workers import Player
from tests.support.sessions import changed_by, recorded, settle
from tests.support.stopped_training import leave_stopped
from tests.support.trainings import Trainer, other_backbone, points, result, store_other_backbone
from tests.support.widgets import button, scroll_area, texts

Key = Qt.Key
DURATION = TrainingDuration(iteration_s=1.0, others_s=40.0)


@pytest.fixture
def backbone(tmp_path: Path) -> Path:
    """Another backbone than the bundled one."""
    return other_backbone(tmp_path / "own models")


def prepare(desk: Desk, trainer: Trainer, backbone: Path | None = None) -> None:
    """Let the window train with a fake trainer."""
    desk.window.training._make_job = trainer  # noqa: SLF001 (a scripted job takes the place of a child process)
    if backbone is not None:
        desk.window.training._store = store_other_backbone(backbone)  # noqa: SLF001 (a scripted job takes the place of a child process)


def panel_for(desk: Desk, action: str = "tune_propagation") -> TrainingPanel:
    """Choose the action; the panel, once it lists the versions. How long training takes is told by a script."""
    desk.window.models.forecast._make_job = Player(*[[DURATION]] * 3)  # noqa: SLF001 (a scripted job takes the place of a child process)
    desk.window.registry.trigger(action)
    panel = desk.window.models.panel
    assert panel is not None
    desk.wait(lambda: bool(panel.versions.rows))
    return panel


def run_to(desk: Desk, panel: TrainingPanel, phase: Phase) -> None:
    """Press Start and wait for a phase."""
    assert panel.topic is not None
    panel.forms[panel.topic].start_button.click()
    desk.wait(lambda: desk.window.training.phase is phase)


def train_and_use(desk: Desk, panel: TrainingPanel) -> None:
    """Train to the end and take the new version into use."""
    run_to(desk, panel, Phase.DONE)
    changed_by(desk.qtbot, desk.window.session, panel.outcome.use_button.click)


def used_names(panel: TrainingPanel) -> list[str]:
    """Names of the versions that are marked as in use."""
    return [row.name for row in panel.versions.rows if row.is_used]


def shown_buttons(desk: Desk, panel: TrainingPanel) -> list[QPushButton]:
    """Buttons "Use" of the list, once there is one."""

    def shown() -> list[QPushButton]:
        return [button for button in panel.versions.findChildren(QPushButton) if button.isVisible()]

    desk.wait(lambda: bool(shown()))
    return shown()


def trace_of(desk: Desk) -> list[Path]:
    """What a training left in the cache."""
    folder = desk.window.session.caches.root / "training"
    return [Path(place) / name for place, folders, files in os.walk(folder) for name in (*folders, *files)]


def wait_until_clean(desk: Desk) -> None:
    """Wait until the cache holds nothing of a training."""
    desk.wait(lambda: not trace_of(desk))


def test_the_panel_stands_beside_the_collection(reviewing: Desk) -> None:
    """It takes the inspector's place, the grid goes on, and Esc brings the inspector back."""
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


def test_the_keyboard_reaches_settings_and_buttons(reviewing: Desk) -> None:
    """By Tab, from the top to Start; the part that scrolls is no stop, and the page keys scroll it."""
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


def test_the_palette_knows_the_actions(reviewing: Desk) -> None:
    """Three rows of the menu Model, found by their words."""
    reviewing.press(Key.Key_K, CONTROL)
    for words, action in (("tune prop", "Tune propagation"), ("train the", "Train the backbone"), ("model v", "Model")):
        rows = reviewing.type_into_palette(words)
        assert rows[0].title.startswith(action)
        assert rows[0].subtitle == "Model"
    reviewing.press(Key.Key_Return)
    panel = reviewing.window.models.panel
    assert panel is not None
    assert panel.topic is None
    assert not any(form.isVisible() for form in panel.forms.values())
    reviewing.wait(lambda: [row.name for row in panel.versions.rows] == ["leafnet"])


def test_points_and_progress_arrive_while_it_runs(reviewing: Desk) -> None:
    """Curves grow, the facts tell how far it is, the status bar too, and nobody can start a second one."""
    prepare(reviewing, Trainer([*points(4), "wait"]))
    panel = panel_for(reviewing)
    run_to(reviewing, panel, Phase.RUNNING)
    training = reviewing.window.training
    reviewing.wait(lambda: len(training.curves.accuracy.values) == 5)
    assert training.curves.loss.iterations == [0, 10, 20, 30, 40]
    assert panel.run.facts.startswith("40 of 40")
    assert "20 iterations/s" in panel.run.facts
    job_bar = reviewing.window.status_line.job_bar
    assert "Tuning propagation" in texts(job_bar)
    assert "nothing is kept" in button(job_bar, "Stop").toolTip()
    assert not panel.forms[Depth.PROPAGATION].isVisible()
    chart = panel.run.chart
    assert chart is not None
    chart.redraw()
    assert chart._accuracy.getData()[1].tolist() == training.curves.accuracy.values  # noqa: SLF001 (curves are read from the plotting library)
    assert "66.0 %" in chart.accessibleName()
    panel.run.cancel_button.click()
    reviewing.wait(lambda: training.phase is Phase.IDLE)


def test_a_cancel_is_answered_at_once(reviewing: Desk) -> None:
    """Whoever has pressed it sees so, though the step that was begun goes on for a moment."""
    prepare(reviewing, Trainer([*points(2), "wait"]))
    panel = panel_for(reviewing)
    run_to(reviewing, panel, Phase.RUNNING)
    panel.run.cancel_button.click()
    assert panel.run.facts == "Stopping…"
    assert not panel.run.cancel_button.isEnabled()
    reviewing.window.training.progressed.emit(Progress(1, 2))
    assert panel.run.facts == "Stopping…"
    reviewing.wait(lambda: reviewing.window.training.phase is Phase.IDLE)
    assert panel.run.cancel_button.isEnabled()


def test_a_slow_cache_disk_holds_no_window_up(reviewing: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """The training's folder is made on another thread; a cancel does not wait for it, and then it leaves no trace."""
    prepare(reviewing, Trainer())
    panel = panel_for(reviewing)
    asked, answers, askers = threading.Event(), threading.Event(), list[threading.Thread]()

    def slow_folder(parent: Path) -> ScratchFolder:
        askers.append(threading.current_thread())
        asked.set()
        assert answers.wait(30)
        return ScratchFolder(parent)

    monkeypatch.setattr("app.training.job.ScratchFolder", slow_folder)
    run_to(reviewing, panel, Phase.WAITING)
    assert asked.wait(30)
    reviewing.window.training.cancel()
    assert reviewing.window.training.phase is Phase.IDLE
    answers.set()
    assert threading.main_thread() not in askers
    for thread in askers:
        thread.join()
    wait_until_clean(reviewing)


def test_the_answers_are_in_sight_in_a_low_window(reviewing: Desk, backbone: Path) -> None:
    """The panel scrolls to them when the training ends."""
    prepare(reviewing, Trainer([*points(4), result()]), backbone)
    reviewing.window.resize(1200, 480)
    panel = panel_for(reviewing)
    run_to(reviewing, panel, Phase.DONE)
    button = panel.outcome.keep_button
    reviewing.wait(lambda: button.visibleRegion().boundingRect() == button.rect())
    assert button.isEnabled()


def test_a_cancel_leaves_no_trace(reviewing: Desk, collection: Collection) -> None:
    """No version, no step to undo, nothing in the cache; the panel is ready to start again."""
    prepare(reviewing, Trainer([*points(2), "wait"], [*points(2), "wait"]))
    with Project.open(collection.project, for_writing=False) as project:
        before = dump(project), project.model_versions()
    undo_text = reviewing.window.registry.action("undo").text()
    panel = panel_for(reviewing)
    for _ in range(2):
        run_to(reviewing, panel, Phase.RUNNING)
        reviewing.wait(lambda: bool(trace_of(reviewing)))
        panel.run.cancel_button.click()
        reviewing.wait(lambda: reviewing.window.training.phase is Phase.IDLE)
        wait_until_clean(reviewing)
    assert panel.forms[Depth.PROPAGATION].isVisible()
    assert not panel.failure.isVisible()
    assert reviewing.window.registry.action("undo").text() == undo_text
    with Project.open(collection.project, for_writing=False) as project:
        assert (dump(project), project.model_versions()) == before


def test_what_a_killed_window_left_goes_at_the_next_start(desk: Desk, tmp_path: Path) -> None:
    """The folder of its training is nobody's any more."""
    killed_in_scratch_folder(desk.window.session.caches.root / "training")
    assert trace_of(desk)
    Training(desk.window.session)
    wait_until_clean(desk)


def test_a_failure_is_one_line_in_the_panel(reviewing: Desk) -> None:
    """The worker's own sentence, and Start is there again."""
    trainer = Trainer([*points(1), Failed("the disk is full. Free some space")], ["wait"])
    prepare(reviewing, trainer)
    panel = panel_for(reviewing)
    run_to(reviewing, panel, Phase.FAILED)
    assert panel.failure.isVisible()
    assert [label.text() for label in panel.failure.findChildren(QLabel)] == ["the disk is full. Free some space"]
    assert panel.forms[Depth.PROPAGATION].start_button.isEnabled()
    wait_until_clean(reviewing)
    run_to(reviewing, panel, Phase.RUNNING)
    assert not panel.failure.isVisible()
    panel.run.cancel_button.click()
    reviewing.wait(lambda: reviewing.window.training.phase is Phase.IDLE)


def test_a_crash_says_that_the_project_is_as_it_was(reviewing: Desk) -> None:
    """A worker that dies is a sentence too; while the panel is away, the foot of the window says it."""
    prepare(reviewing, Trainer([*points(1), "die"]))
    panel = panel_for(reviewing)
    panel.forms[Depth.PROPAGATION].start_button.click()
    panel.close_requested.emit()
    reviewing.wait(lambda: reviewing.window.training.phase is Phase.FAILED)
    assert reviewing.window.toast.message == (
        "Tuning propagation ended unexpectedly. The project is as it was; start it again."
    )


def test_the_new_version_is_used_and_undone(reviewing: Desk, backbone: Path) -> None:
    """Figures, one click, a toast; Ctrl+Z brings the former one back; both stay in the list."""
    prepare(reviewing, Trainer([*points(4), result()]), backbone)
    panel = panel_for(reviewing)
    run_to(reviewing, panel, Phase.DONE)
    assert "Current: 57.1 %" in panel.outcome.text
    assert "New: 61.9 %" in panel.outcome.text
    assert "42 held-out images" in panel.outcome.text
    assert panel.run.chart is not None
    assert panel.run.chart._kept.getData()[0].tolist() == [30]  # noqa: SLF001 (curves are read from the plotting library)
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
    """No step to undo; the new version can be taken from the list later."""
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


def test_another_backbone_looks_at_all_images_again(reviewing: Desk, backbone: Path) -> None:
    """Choosing it starts the reading by itself; undo needs none, as the old embeddings are still there."""
    prepare(reviewing, Trainer([result()]), backbone)
    train_and_use(reviewing, panel_for(reviewing, "train_backbone"))
    assert (reviewing.state.status == ImageStatus.WAITING).any() or reviewing.window.embedding.job is not None
    reviewing.wait_until_read()
    assert reviewing.state.model_name == "leafnet"
    assert (reviewing.state.best_class != NO_CLASS).all()
    jobs = recorded(reviewing.window.session.jobs.job_added)
    reviewing.grid.setFocus()
    reviewing.press_for_change(Key.Key_Z, CONTROL)
    assert (reviewing.state.status == ImageStatus.READY).all()
    assert jobs == []


def test_a_version_whose_files_are_gone_is_not_taken(reviewing: Desk, backbone: Path) -> None:
    """One line says so, and the version in use stays."""
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


def test_the_end_is_told_when_the_panel_is_away(reviewing: Desk, backbone: Path) -> None:
    """A toast with the figures; its button opens the panel at the decision."""
    prepare(reviewing, Trainer([*points(2), result()]), backbone)
    panel = panel_for(reviewing)
    panel.forms[Depth.PROPAGATION].start_button.click()
    panel.close_requested.emit()
    reviewing.wait(lambda: reviewing.window.training.phase is Phase.DONE)
    assert "61.9 %" in reviewing.window.toast.message
    (look,) = reviewing.window.toast.findChildren(QPushButton)
    look.click()
    assert panel.isVisible()
    assert panel.outcome.isVisible()
    assert panel.topic is Depth.PROPAGATION


def test_training_waits_for_other_heavy_work(reviewing: Desk) -> None:
    """One heavy job at a time: the second is queued, says so, and can be cancelled while it waits."""
    prepare(reviewing, Trainer([*points(1), "wait"]))
    other = Player(["wait"])("Embedding images", ListDevices())
    reviewing.window.session.jobs.run(other)
    panel = panel_for(reviewing)
    run_to(reviewing, panel, Phase.WAITING)
    assert "Waiting for other work" in panel.run.facts
    assert panel.run.cancel_button.isVisible()
    other.cancel()
    reviewing.wait(lambda: reviewing.window.training.phase is Phase.RUNNING)
    panel.run.cancel_button.click()
    reviewing.wait(lambda: reviewing.window.training.phase is Phase.IDLE)


def test_closing_the_project_ends_the_training(reviewing: Desk) -> None:
    """Nothing is left, and the panel is gone with the project."""
    prepare(reviewing, Trainer([*points(1), "wait"]))
    panel = panel_for(reviewing)
    run_to(reviewing, panel, Phase.RUNNING)
    with reviewing.qtbot.waitSignal(reviewing.window.session.closed):
        reviewing.window.session.close()
    reviewing.wait(lambda: reviewing.window.training.phase is Phase.IDLE)
    wait_until_clean(reviewing)
    assert not reviewing.window.session.jobs.jobs
    assert not panel.isVisible()


def test_without_labels_there_is_nothing_to_learn_from(desk: Desk, tmp_path: Path) -> None:
    """Start is off, and the panel says what to do."""
    with desk.qtbot.waitSignal(desk.window.session.loaded):
        desk.window.session.create(tmp_path / "empty.protoleaf")
    panel = panel_for(desk)
    form = panel.forms[Depth.PROPAGATION]
    assert not form.start_button.isEnabled()
    assert "Label at least" in texts(form)


def test_a_read_only_project_only_lists_its_versions(
    desk: Desk, collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Training is off in the menu, and no version can be chosen."""
    with Project.open(collection.project) as project:
        project.add_model_version(backbone_name="leafnet", backbone_hash="00ff")
    monkeypatch.setattr("engine.project.opening.os.access", lambda _path, _mode: False)
    desk.open(collection.project)
    assert not desk.window.registry.action("tune_propagation").isEnabled()
    assert not desk.window.registry.action("train_backbone").isEnabled()
    panel = panel_for(desk, "show_model_versions")
    assert [button.isEnabled() for button in shown_buttons(desk, panel)] == [False]


def test_the_plan_reaches_the_worker(reviewing: Desk) -> None:
    """What was chosen in the panel, by the names that the worker knows."""
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
    panel.run.cancel_button.click()
    reviewing.wait(lambda: reviewing.window.training.phase is Phase.IDLE)
    settle(reviewing.qtbot, reviewing.window.session)
    assert np.isin(reviewing.state.status, ImageStatus.READY).all()


def test_the_button_says_start(reviewing: Desk) -> None:
    """In both forms."""
    panel = panel_for(reviewing)
    assert {form.start_button.text() for form in panel.forms.values()} == {"Start"}


def test_the_time_is_measured_when_somebody_looks(reviewing: Desk) -> None:
    """Not before the panel is there; then it follows the iterations as they are typed, and is measured once."""
    panel = panel_for(reviewing)
    player = reviewing.window.models.forecast._make_job  # noqa: SLF001 (what was asked for)
    assert isinstance(player, Player)
    assert player.requests == []
    panel_for(reviewing, "train_backbone")
    form = panel.forms[Depth.BACKBONE]
    reviewing.wait(lambda: "Takes about 4 minutes." in texts(form))
    assert "24 labels: training for about 4 minutes would likely help." in texts(form)
    assert not form.side.isVisible()  # the backbone in use learns at its own
    form.iterations.setFocus()
    form.iterations.selectAll()
    QTest.keyClicks(form.iterations, "500", delay=5)
    assert "Takes about 9 minutes." in texts(form)


def test_labels_enough_are_told_once(desk: Desk, collection: Collection) -> None:
    """One label each in most classes is too few; Enter on some cards makes them enough, and one line says so."""
    with Project.open(collection.project) as project:
        by_class: dict[int | None, list[int]] = {}
        for label in project.labels().values():
            by_class.setdefault(label.class_id, []).append(label.image_id)
        project.unlabel([image_id for images in list(by_class.values())[:5] for image_id in images[:2]])
    desk.open(collection.project)
    desk.window.registry.trigger("show_to_review")
    said = desk.window.toast
    while "would likely help" not in said.message:
        desk.choose(0)
        desk.press_for_change(Key.Key_Return)
    labelled = int((desk.state.label_class >= 0).sum())
    assert said.message == f"{labelled} labels: training the backbone would likely help."
    desk.choose(0)
    desk.press_for_change(Key.Key_Return)
    assert said.message == f"{labelled} labels: training the backbone would likely help."
    desk.window.models.forecast._make_job = Player([DURATION])  # noqa: SLF001 (a scripted job takes the place of a child process)
    (look,) = said.findChildren(QPushButton)
    QTest.mouseClick(look, Qt.MouseButton.LeftButton)
    panel = desk.window.models.panel
    assert panel is not None
    assert panel.forms[Depth.BACKBONE].isVisible()
    desk.wait(lambda: not desk.window.models.forecast.is_measuring)


def test_a_stopped_training_is_resumed(reviewing: Desk, collection: Collection) -> None:
    """Told where it stopped; Resume asks for the same training, and a new one can be started instead."""
    window = reviewing.window
    settings: dict[str, int | str] = {"iterations": 40, "start": "current"}
    with Project.open(collection.project, for_writing=False) as project:
        leave_stopped(project, window.session.caches, settings, done=30)
    trainer = Trainer(["wait"])
    prepare(reviewing, trainer)
    panel = panel_for(reviewing, "train_backbone")
    reviewing.wait(panel.stopped.isVisible)
    assert panel.stopped.text == "A training was stopped after 30 of 40 iterations. Nothing of it is lost."
    assert panel.forms[Depth.BACKBONE].start_button.property("variant") == ""
    QTest.mouseClick(panel.stopped.resume_button, Qt.MouseButton.LeftButton)
    reviewing.wait(lambda: window.training.phase is Phase.RUNNING)
    assert trainer.requests[0].settings == settings
    assert not panel.stopped.isVisible()
    QTest.mouseClick(panel.run.cancel_button, Qt.MouseButton.LeftButton)
    reviewing.wait(lambda: window.training.phase is Phase.IDLE)
    reviewing.wait(panel.stopped.isVisible)
