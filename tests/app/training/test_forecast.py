"""Estimated training time, and advice whether to train."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton

from app.training.controller import Models
from app.training.logic import Depth
from engine.backbones import model_files
from engine.project import Change, Project, TrainedModel
from engine.training.curve import TrainingDuration
from tests.support.collections import Collection
from tests.support.desk import Desk
from tests.support.projects import named
from tests.support.scripted_workers import Player
from tests.support.sessions import settle
from tests.support.training_panel import DURATION, panel_for
from tests.support.trainings import FIGURES
from tests.support.widgets import texts

pytestmark = pytest.mark.slow

Key = Qt.Key


def test_the_time_is_measured_when_somebody_looks(reviewing: Desk) -> None:
    """The time is measured once, when the panel is open, and follows the iterations."""
    panel = panel_for(reviewing)
    player = reviewing.window.of(Models).forecast.measuring.make_job
    assert isinstance(player, Player)
    assert player.requests == []
    panel_for(reviewing, "train_backbone")
    form = panel.forms[Depth.BACKBONE]
    reviewing.wait(lambda: "About 4\u00a0minutes." in texts(form))
    assert not form.side.isVisible()  # the backbone in use has a fixed input size
    form.iterations.setFocus()
    form.iterations.selectAll()
    QTest.keyClicks(form.iterations, "500", delay=5)
    assert "About 9\u00a0minutes." in texts(form)


def test_no_advice_where_nothing_is_left_to_gain(reviewing: Desk) -> None:
    """If all held-out labels are right, training cannot help; otherwise it is advised."""
    panel = panel_for(reviewing, "train_backbone")
    form = panel.forms[Depth.BACKBONE]
    reviewing.wait(lambda: "About 4\u00a0minutes." in texts(form))
    assert not any("would likely help" in text for text in texts(form).split("\n"))
    reviewing.choose(0)
    reviewing.press_for_change(Key.Key_3)  # not the most likely class
    advice = "25 labels: training for about 4\u00a0minutes would likely help."
    reviewing.wait(lambda: advice in texts(form))


def test_other_labels_are_measured_anew(reviewing: Desk) -> None:
    """An estimate for fewer labels is stale; several labels in a row cause one measurement."""
    panel = panel_for(reviewing, "train_backbone")
    form = panel.forms[Depth.BACKBONE]
    reviewing.wait(lambda: "About 4\u00a0minutes." in texts(form))
    twice = Player([TrainingDuration(iteration_s=2.0, others_s=40.0)])
    reviewing.window.of(Models).forecast.measuring.make_job = twice
    for _ in range(2):
        reviewing.choose(0)
        reviewing.press_for_change(Key.Key_Return)
    assert "Estimating training time…" in texts(form)
    reviewing.wait(lambda: "About 7\u00a0minutes." in texts(form))
    assert len(twice.requests) == 1


@pytest.mark.parametrize(("after", "is_advised"), [(0.571, False), (0.619, True)])
def test_no_advice_after_a_training_that_did_not_help(
    reviewing: Desk, after: float, is_advised: bool
) -> None:
    """The same labels would give the same result; a better unused version is a reason to train."""
    spoil = _mislabelled(reviewing)
    trained = FIGURES | {"after_accuracy": after, "labelled_images": spoil}

    def store(project: Project) -> Change:
        in_use = project.models.current
        project.models.add_trained(
            TrainedModel("New", in_use.version_id, "{}", "leafnet", b"1", b"2", {}, trained)
        )
        return Change(named(""))

    reviewing.window.session.act(store)
    form = panel_for(reviewing, "train_backbone").forms[Depth.BACKBONE]
    reviewing.wait(lambda: "About 4\u00a0minutes." in texts(form))
    settle(reviewing.qtbot, reviewing.window.session)
    assert ("would likely help" in texts(form)) is is_advised


def _mislabelled(desk: Desk) -> int:
    """Label an image as another class than the most likely one; returns the number of labels."""
    desk.choose(0)
    desk.press_for_change(Key.Key_3)
    settle(desk.qtbot, desk.window.session)
    return int((desk.state.label_class >= 0).sum())


def test_labels_enough_are_reported_once(desk: Desk, collection: Collection) -> None:
    """One label in most classes is too few; once there are enough, one line says so."""
    with Project.open(collection.project) as project:
        by_class: dict[int | None, list[int]] = {}
        for label in project.labels.by_image().values():
            by_class.setdefault(label.class_id, []).append(label.image_id)
        project.labels.remove(
            [image_id for images in list(by_class.values())[:5] for image_id in images[:2]]
        )
    desk.open(collection.project)
    desk.window.registry.trigger("show_to_review")
    toast = desk.window.toast
    _mislabelled(desk)  # where all predictions are right, training cannot help
    while "would likely help" not in toast.message:
        desk.choose(0)
        desk.press_for_change(Key.Key_Return)
    labelled = int((desk.state.label_class >= 0).sum())
    assert toast.message == f"{labelled} labels: training the backbone would likely help."
    desk.choose(0)
    desk.press_for_change(Key.Key_Return)
    assert toast.message == f"{labelled} labels: training the backbone would likely help."
    desk.window.of(Models).forecast.measuring.make_job = Player([DURATION])
    (look,) = toast.findChildren(QPushButton)
    QTest.mouseClick(look, Qt.MouseButton.LeftButton)
    panel = desk.window.of(Models).panel
    assert panel is not None
    assert panel.forms[Depth.BACKBONE].isVisible()
    desk.wait(lambda: not desk.window.of(Models).forecast.is_measuring)


def test_training_the_accurate_backbone_on_few_labels_is_not_proposed(
    reviewing: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The panel shows only the time: with few labels this training was measured to be worse."""
    monkeypatch.setattr(model_files, "ACCURATE", model_files.FAST)
    form = panel_for(reviewing, "train_backbone").forms[Depth.BACKBONE]
    reviewing.wait(lambda: "About 4\u00a0minutes." in texts(form))
    assert not any("would likely help" in text for text in texts(form))


def test_a_program_without_pytorch_says_which_one_trains(
    reviewing: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The form says so before anything is started."""
    monkeypatch.setattr("engine.collection.training.settings.is_packaged", lambda: True)
    monkeypatch.setattr("engine.collection.training.settings.find_spec", lambda _name: None)
    form = panel_for(reviewing, "train_backbone").forms[Depth.BACKBONE]
    assert "Install protoleaf-training instead" in texts(form)
    assert not form.start_button.isEnabled()
