"""Choosing the device, reporting its failure, and switching the collection stage."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QPushButton, QRadioButton

from app.backbones.controller import Backbones
from app.computing.controller import Computing
from app.computing.view import ComputingPanel
from app.image_grid.held_order import Order
from app.jobs.slot import Stage
from app.settings import Settings
from app.theme import set_scheme
from app.training.controller import Models
from engine.collection.fitting import STAGE_SETTING
from engine.collection.recommendations import Recommendation, RecommendationKind
from engine.project import Project
from engine.project.models import ProjectPolicies
from engine.runtime.providers import ListDevices
from engine.worker.protocol import Failed
from tests.support.backbone_jobs import progress
from tests.support.backbone_panel import WORKER_MS
from tests.support.clipping import clipped
from tests.support.collections import LEAVES, Collection
from tests.support.desk import CONTROL, Desk
from tests.support.live_states import assert_same, own_copy
from tests.support.scripted_workers import Player, ScriptedWorkers, ended
from tests.support.sessions import LONG_MS, changed_by, settle
from tests.support.surveys import WHY, WITH_GPU, WITHOUT_GPU
from tests.support.training_panel import DURATION
from tests.support.widgets import scroll_area

Key = Qt.Key
NOTICE = "NVIDIA H200 failed (CUDA failure 700: illegal address); continuing on the CPU"
REFUSAL = "the device cuda cannot be used: no NVIDIA driver is installed; install the NVIDIA driver"


def panel_of(desk: Desk, survey: Any = WITHOUT_GPU) -> ComputingPanel:
    """The panel, once the devices are tested."""
    desk.window.of(Computing).looking.make_job = Player([survey])
    desk.window.registry.trigger("choose_device")
    panel = desk.window.of(Computing).panel
    assert panel is not None
    desk.wait(lambda: desk.window.of(Computing).looking.stage is Stage.DONE)
    return panel


def toast_button(desk: Desk) -> QPushButton:
    """The button of the toast."""
    (button,) = desk.window.toast.findChildren(QPushButton)
    return button


@pytest.fixture
def restarted(desk: Desk, settings: Settings) -> Iterator[Callable[[], Desk]]:
    """Restart the program with the same settings."""
    again: list[Desk] = []

    def restart() -> Desk:
        desk.leave()
        again.append(Desk(desk.qtbot, settings))
        return again[0]

    yield restart
    for each in again:
        each.leave()


# -- the panel


@pytest.mark.slow
def test_it_opens_by_key_palette_and_chip(desk: Desk) -> None:
    """Also without a project; Esc restores the focus; the devices are tested once."""
    computing = desk.window.of(Computing)
    computing.looking.make_job = player = Player([WITHOUT_GPU])
    desk.press(Key.Key_D, CONTROL)
    panel = computing.panel
    assert panel is not None
    assert panel.isVisible()
    assert panel.note == "Testing the devices of this computer…"
    assert panel.collection_line == ""
    desk.wait(lambda: computing.looking.stage is Stage.DONE)
    assert desk.window.focusWidget() is panel.buttons["auto"]
    desk.press(Key.Key_Escape)
    assert not panel.isVisible()
    desk.window.of(Computing).chip.click()
    assert panel.isVisible()
    desk.press(Key.Key_Escape)
    desk.press(Key.Key_K, CONTROL)
    rows = desk.type_into_palette("perf")
    assert ("Performance", "Model") in {(row.title, row.subtitle) for row in rows}
    desk.press(Key.Key_Escape)
    assert player.requests == [ListDevices()]


@pytest.mark.slow
def test_a_device_that_is_not_there_says_why(desk: Desk) -> None:
    """Reason and remedy are shown once; it cannot be chosen; working devices show their speed."""
    panel = panel_of(desk)
    assert panel.facts_of("cuda").startswith("This computer shows no NVIDIA GPU")
    assert "the CPU is used" in panel.facts_of("cuda")
    assert panel.facts_of("tensorrt") == "Not available for the same reason."
    assert [
        panel.buttons[device].isEnabled() for device in ("auto", "cpu", "cuda", "tensorrt")
    ] == [
        True,
        True,
        False,
        False,
    ]
    assert panel.facts_of("cpu") == "Available, about 850\u00a0images/s."
    assert panel.facts_of("auto").endswith("works: CPU.")
    chip = desk.window.of(Computing).chip
    assert chip.text() == "CPU"
    assert f"No GPU: {WHY}" in chip.toolTip()


def test_it_scrolls_only_where_there_is_no_room(reviewing: Desk) -> None:
    """A window that is high enough shows the whole panel; a low one scrolls."""
    panel = panel_of(reviewing)
    bar = scroll_area(panel).verticalScrollBar()
    reviewing.window.resize(1200, 900)
    reviewing.wait(lambda: bool(panel.collection_line) and not bar.isVisible())
    reviewing.window.resize(1200, 420)
    reviewing.wait(bar.isVisible)
    reviewing.window.resize(1200, 900)
    reviewing.wait(lambda: not bar.isVisible())


@pytest.mark.slow
def test_the_real_worker_tries_the_devices(desk: Desk) -> None:
    """In a child process: the CPU works and its speed is measured."""
    desk.window.registry.trigger("choose_device")
    panel, looking = desk.window.of(Computing).panel, desk.window.of(Computing).looking
    assert panel is not None
    desk.qtbot.waitUntil(lambda: not looking.is_busy, timeout=WORKER_MS)
    assert (looking.stage, looking.error) == (Stage.DONE, "")
    assert panel.facts_of("cpu").endswith("images/s.")
    assert panel.look_button.isVisible()


@pytest.mark.slow
def test_a_look_that_failed_can_be_repeated(desk: Desk) -> None:
    """The reason is one line; devices that always work can be chosen meanwhile."""
    computing = desk.window.of(Computing)
    computing.looking.make_job = Player([Failed("the disk is full")], [WITH_GPU])
    desk.window.registry.trigger("choose_device")
    panel = computing.panel
    assert panel is not None
    desk.wait(lambda: computing.looking.stage is Stage.FAILED)
    assert panel.note == "The devices could not be tested: The disk is full."
    assert panel.buttons["cpu"].isEnabled()
    assert not panel.buttons["cuda"].isEnabled()
    panel.look_button.click()
    desk.wait(lambda: computing.looking.stage is Stage.DONE)
    assert panel.buttons["cuda"].isEnabled()
    assert panel.buttons["cuda"].text() == "NVIDIA H200 (CUDA)"


# -- the device


@pytest.mark.slow
def test_the_cpu_is_chosen_and_every_job_gets_it(
    desk: Desk, unread: Collection, restarted: Callable[[], Desk]
) -> None:
    """By keyboard; embedding, a change of backbone and the next start use it."""
    window = desk.window
    window.embedding.device = "auto"
    window.embedding._start_worker = workers = ScriptedWorkers([[ended("CPU")]])  # noqa: SLF001 (a scripted job instead of a child process)
    panel = panel_of(desk)
    desk.press(Key.Key_Down)
    assert panel.buttons["cpu"].isChecked()
    desk.press(Key.Key_Escape)
    desk.open(unread.project)
    desk.wait(lambda: len(workers.requests) == 1 and window.embedding.job is None)
    assert workers.requests[0].device == "cpu"
    assert window.of(Computing).chip.text() == "CPU"
    window.of(Backbones).jobs.change.make_job = change = Player([Failed("no")])
    window.of(Backbones).jobs.prepare_change("other", "other")
    desk.wait(lambda: window.of(Backbones).jobs.change.stage is Stage.FAILED)
    assert change.requests[0].device == "cpu"
    again = restarted()
    assert again.window.settings.device == "cpu"
    assert again.window.settings.device == "cpu"
    assert panel_of(again).buttons["cpu"].isChecked()


@pytest.mark.slow
def test_a_device_that_is_gone_leads_to_the_choice(
    desk: Desk, unread: Collection, settings: Settings
) -> None:
    """A rejected GPU has reason and remedy; another device embeds the pending images."""
    settings.device = "cuda"
    desk.window.of(Computing).choose("cuda")
    desk.window.embedding._start_worker = workers = ScriptedWorkers(  # noqa: SLF001 (a scripted job instead of a child process)
        [[Failed(REFUSAL)], [ended("CPU", reason=WHY)]]
    )
    desk.open(unread.project)
    desk.wait(lambda: desk.window.toast.message == REFUSAL)
    desk.window.of(Computing).looking.make_job = Player([WITHOUT_GPU])
    toast_button(desk).click()
    panel = desk.window.of(Computing).panel
    assert panel is not None
    assert panel.isVisible()
    desk.wait(lambda: desk.window.of(Computing).looking.stage is Stage.DONE)
    assert panel.buttons["cuda"].isChecked()
    panel.buttons["auto"].click()
    desk.wait(lambda: len(workers.requests) == 2 and desk.window.embedding.job is None)
    assert [request.device for request in workers.requests] == ["cuda", "auto"]
    assert not panel.buttons["cuda"].isEnabled()


@pytest.mark.slow
def test_a_gpu_that_fails_is_reported_once(desk: Desk, unread: Collection) -> None:
    """A toast during the job; chip and panel show it until another device is chosen."""
    fallback = replace(progress(3, 12), note="CPU", notice=NOTICE)
    desk.window.embedding._start_worker = ScriptedWorkers([[fallback, fallback, "wait"]])  # noqa: SLF001 (a scripted job instead of a child process)
    desk.open(unread.project)
    toast, chip = desk.window.toast, desk.window.of(Computing).chip
    desk.wait(lambda: toast.message == f"{NOTICE}.")
    assert desk.window.embedding.job is not None
    assert NOTICE in chip.toolTip()
    desk.window.embedding.cancel()
    desk.wait(lambda: desk.window.embedding.job is None)
    desk.window.of(Computing).looking.make_job = Player([WITH_GPU])
    toast_button(desk).click()
    panel = desk.window.of(Computing).panel
    assert panel is not None
    assert panel.notice.isVisible()
    desk.wait(lambda: desk.window.of(Computing).looking.stage is Stage.DONE)
    panel.buttons["cpu"].click()
    assert not panel.notice.isVisible()
    assert NOTICE not in chip.toolTip()


@pytest.mark.slow
def test_a_gpu_that_fails_while_the_backbone_changes_is_reported(reviewing: Desk) -> None:
    """Its job reports the fallback to the CPU at once, too."""
    event = progress(3, 12)
    change = reviewing.window.of(Backbones).jobs.change
    change.make_job = Player([replace(event, note="CPU", notice=NOTICE), "wait"])
    reviewing.window.of(Backbones).jobs.prepare_change("other", "other")
    reviewing.wait(lambda: reviewing.window.toast.message == f"{NOTICE}.")
    assert NOTICE in reviewing.window.of(Computing).chip.toolTip()
    change.cancel()
    reviewing.wait(lambda: change.stage is Stage.IDLE)


# -- the collection


@pytest.mark.slow
def test_the_collection_is_switched_off_and_on(
    reviewing: Desk, collection: Collection, restarted: Callable[[], Desk]
) -> None:
    """Predictions change at once; undo and redo restore them; the setting survives a restart."""
    panel = panel_of(reviewing)
    session = reviewing.window.session
    reviewing.wait(lambda: "held-out examples" in panel.collection_line)
    with_it = own_copy(reviewing.state)
    assert panel.switch.isChecked()
    changed_by(reviewing.qtbot, session, panel.switch.click)
    without = own_copy(reviewing.state)
    assert not np.allclose(with_it.best_score, without.best_score)
    assert reviewing.window.toast.message == "Turned off learning from unlabelled images"
    reviewing.wait(lambda: panel.collection_line.startswith("Off: the model"))
    with Project.open(collection.project, for_writing=False) as project:
        assert project.policies.setting(STAGE_SETTING, True) is False
    reviewing.press_for_change(Key.Key_Z, CONTROL)
    assert_same(reviewing.state, with_it, tolerance=0)
    reviewing.wait(panel.switch.isChecked)
    changed_by(reviewing.qtbot, session, session.redo)
    assert_same(reviewing.state, without, tolerance=0)
    again = restarted()
    again.open(collection.project)
    assert_same(again.state, without)
    again_panel = panel_of(again)
    again.wait(lambda: again_panel.collection_line.startswith("Off: the model"))
    assert not again_panel.switch.isChecked()


@pytest.mark.slow
def test_nobody_switches_what_can_only_be_read(
    desk: Desk, collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Read-only: the check is shown, the switch is disabled."""
    monkeypatch.setattr("engine.project.opening.os.access", lambda _path, _mode: False)
    desk.open(collection.project)
    panel = panel_of(desk)
    desk.wait(lambda: bool(panel.collection_line))
    assert panel.switch.isChecked()
    assert not panel.switch.isEnabled()


@pytest.mark.slow
def test_a_switch_that_is_refused_stays_as_it_is(
    reviewing: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a full disk: a message, and the switch shows the stored setting."""
    from engine.errors import StorageError

    def refuse(*_arguments: object, **_named: object) -> None:
        raise StorageError("the disk is full")

    panel = panel_of(reviewing)
    reviewing.wait(lambda: bool(panel.collection_line))
    monkeypatch.setattr(ProjectPolicies, "set_setting", refuse)
    with reviewing.qtbot.waitSignal(reviewing.window.session.failed, timeout=LONG_MS):
        panel.switch.click()
    reviewing.wait(panel.switch.isChecked)
    assert "disk is full" in reviewing.window.toast.message


@pytest.mark.slow
def test_the_panel_follows_the_project(reviewing: Desk) -> None:
    """The part about the project is cleared when the project is closed."""
    panel = panel_of(reviewing)
    reviewing.wait(lambda: bool(panel.collection_line))
    with reviewing.qtbot.waitSignal(reviewing.window.session.closed, timeout=LONG_MS):
        reviewing.window.session.close()
    assert panel.collection_line == ""


# -- recommendations


def recommend(monkeypatch: pytest.MonkeyPatch, *recommended: Recommendation) -> None:
    """Patch the recommendations."""
    monkeypatch.setattr(
        "engine.collection.recommendations.recommendations_of", lambda _live: recommended
    )


@pytest.mark.slow
def test_nothing_is_recommended_where_all_is_well(reviewing: Desk) -> None:
    """The classes of the collection are well separated."""
    panel = panel_of(reviewing)
    reviewing.wait(lambda: bool(panel.collection_line))
    assert [row.text for row in panel.recommendations] == ["", ""]


@pytest.mark.slow
def test_a_recommendation_leads_to_training(
    reviewing: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A click opens the training panel instead."""
    first, second = (reviewing.graph.find(name) for name in LEAVES[:2])
    confused = Recommendation(RecommendationKind.TRAIN_BACKBONE, (first, second))
    recommend(
        monkeypatch, confused, Recommendation(RecommendationKind.MORE_EXAMPLES, (second,), 40)
    )
    panel = panel_of(reviewing)
    train, show = panel.recommendations
    reviewing.wait(lambda: bool(train.text))
    assert (
        train.text == f"The backbone often confuses these: {LEAVES[0]}, {LEAVES[1]}. "
        "Training it would likely help."
    )
    assert (train.button.text(), show.button.text()) == ("Train the backbone…", "Show the class")
    reviewing.window.of(Models).forecast.measuring.make_job = Player([DURATION])
    reviewing.click(train.button)
    assert not panel.isVisible()
    assert reviewing.window.of(Models).is_panel_shown


@pytest.mark.slow
def test_a_recommendation_leads_to_the_classes(
    reviewing: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Classes that need examples are selected in the tree."""
    ids = tuple(reviewing.graph.find(name) for name in LEAVES[1:3])
    recommend(monkeypatch, Recommendation(RecommendationKind.MORE_EXAMPLES, ids, 1_240))
    panel = panel_of(reviewing)
    row = panel.recommendations[0]
    reviewing.wait(lambda: bool(row.text))
    assert (
        row.text
        == f"3 more examples of each would help about 1,240 images: {LEAVES[1]}, {LEAVES[2]}."
    )
    assert row.button.text() == "Show the classes"
    reviewing.click(row.button)
    assert set(reviewing.window.tree.selected_classes) == set(ids)


@pytest.mark.slow
def test_a_recommendation_leads_to_the_images_that_teach_most(
    reviewing: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Images to review, sorted by Teach first; a recommendation about a removed class is hidden."""
    gone = Recommendation(RecommendationKind.MORE_EXAMPLES, (12_345,), 40)
    recommend(monkeypatch, Recommendation(RecommendationKind.LABEL_OTHERS), gone)
    panel = panel_of(reviewing)
    row, second = panel.recommendations
    reviewing.wait(lambda: bool(row.text))
    assert row.text.startswith("Your labelled images look different")
    assert second.text == ""
    reviewing.click(row.button)
    assert reviewing.window.workspace.model.order is Order.TEACH_FIRST


# -- layout


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_word_is_cut(reviewing: Desk, scheme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Testing, without a GPU, with one, after a failure; in a large and in the smallest window."""
    set_scheme(scheme)
    computing = reviewing.window.of(Computing)
    shown: dict[str, list[str]] = {}
    long = Recommendation(
        RecommendationKind.TRAIN_BACKBONE, tuple(reviewing.graph.find(name) for name in LEAVES[:3])
    )
    recommend(monkeypatch, long, replace(long, kind=RecommendationKind.MORE_EXAMPLES, images=1_240))
    panel = panel_of(reviewing)
    reviewing.wait(lambda: bool(panel.recommendations[0].text))
    for size in (reviewing.window.size(), reviewing.window.minimumSizeHint()):
        reviewing.window.resize(size)
        shown[f"without {size}"] = look(panel)
        computing._on_notice(NOTICE)  # noqa: SLF001 (reports as a child process would)
        shown[f"failed {size}"] = look(panel) + clipped(reviewing.window.status_line)
        computing._on_notice("")  # noqa: SLF001 (reports as a child process would)
    computing.looking.make_job = Player(["wait"], [WITH_GPU])
    panel.look_button.click()
    shown["looking"] = look(panel)
    computing.looking.cancel()
    reviewing.wait(lambda: computing.looking.stage is Stage.IDLE)
    panel.look_button.click()
    reviewing.wait(lambda: computing.looking.stage is Stage.DONE)
    shown["with"] = look(panel)
    assert [text for texts in shown.values() for text in texts] == []


@pytest.mark.slow
def test_all_of_it_is_visible_where_there_is_room(reviewing: Desk) -> None:
    """The panel is as high as its text; a low window scrolls."""
    reviewing.window.resize(1200, 900)
    panel = panel_of(reviewing)
    reviewing.wait(lambda: bool(panel.collection_line))
    look(panel)
    bar = scroll_area(panel.panel).verticalScrollBar()
    assert bar.maximum() == 0
    last = panel._line.mapTo(panel.panel, panel._line.rect().bottomLeft()).y()  # noqa: SLF001 (a page that otherwise needs a project or a job)
    assert 0 < panel.panel.height() - last < 60
    names = [button.accessibleDescription() for button in panel.findChildren(QRadioButton)]
    assert all(names)
    settle(reviewing.qtbot, reviewing.window.session)


def look(panel: ComputingPanel) -> list[str]:
    """Clipped texts after a complete layout."""
    for _ in range(3):
        QApplication.sendPostedEvents()
        QApplication.processEvents()
    return clipped(panel)
