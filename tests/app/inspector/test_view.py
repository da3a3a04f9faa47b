"""The inspector next to the grid: both show the same image."""

import threading
from datetime import UTC, datetime

import pytest
from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QSlider

from app.image_grid.card_words import Mark
from app.image_grid.held_order import Order
from app.image_grid.model import CARD_ROLE
from app.images.strip import ThumbnailStrip
from app.inspector import view
from app.inspector.page import ScoreLine
from engine.collection.live import LiveCollection
from engine.collection.state import NO_CLASS
from engine.project.clock import person_name
from engine.project.records import Label
from tests.support.clicks import click
from tests.support.collections import Collection
from tests.support.desk import Desk
from tests.support.sessions import LONG_MS, act, changed_by
from tests.support.widgets import button, open_part

CHANGES = 3
CONDITION = "Closest classes:"


def texts_of(desk: Desk) -> list[str]:
    """All visible texts of the inspector, from top to bottom."""
    inspector = desk.window.inspector
    return [
        label.text() for label in inspector.findChildren(QLabel) if label.isVisibleTo(inspector)
    ]


def rows_of(desk: Desk) -> list[str]:
    """Accessible names of its visible rows."""
    inspector = desk.window.inspector
    return [
        line.accessibleName()
        for line in inspector.findChildren(ScoreLine)
        if line.isVisibleTo(inspector)
    ]


@pytest.mark.slow
def test_an_image_of_none_of_the_classes(desk: Desk, collection: Collection, stranger: int) -> None:
    """It is unknown, and its most likely classes have no percentages."""
    desk.open(collection.project)
    desk.window.registry.trigger("show_unknown")
    index = desk.grid.model().index(0, 0)
    desk.qtbot.mouseClick(
        desk.grid.viewport(), Qt.MouseButton.LeftButton, pos=desk.grid.visualRect(index).center()
    )
    desk.wait(lambda: desk.inspected == stranger)
    card = index.data(CARD_ROLE)
    assert (card.mark, card.detail) == (Mark.UNKNOWN, "may be something else")
    assert card.title == f"{desk.best_of(stranger)}?"
    desk.wait(lambda: "Why unknown" in texts_of(desk))
    texts = texts_of(desk)
    place = texts.index(CONDITION)
    assert texts[place - 1] == "Unlike any class so far"
    assert any("the closest class" in text for text in texts)
    tops = [f"{CONDITION} {row.name}" for row in desk.window.inspector.image_facts.tops[:5]]  # type: ignore[union-attr]
    assert rows_of(desk)[:5] == tops
    assert not any("because it looks like" in text for text in texts)


@pytest.mark.slow
def test_an_image_of_a_class_has_no_condition(
    desk: Desk, collection: Collection, stranger: int
) -> None:
    """Other images keep their certainty."""
    desk.open(collection.project)
    desk.window.registry.trigger("show_to_review")
    assert desk.choose(desk.grid.model().rowCount() - 1) != stranger
    texts = texts_of(desk)
    assert CONDITION not in texts
    assert "Why unknown" not in texts
    assert not any(CONDITION in name for name in rows_of(desk))
    assert "%" in rows_of(desk)[0]


def test_a_click_labels_and_another_takes_the_label_off(reviewing: Desk) -> None:
    """The focus stays on the cards, so that keys go on there."""
    reviewing.press(Qt.Key.Key_1, Qt.KeyboardModifier.AltModifier)
    image_id = reviewing.choose(0)
    inspector = reviewing.window.inspector
    second = next(
        line
        for line in inspector.findChildren(ScoreLine)
        if line.accessibleName() == rows_of(reviewing)[1]
    )
    facts = inspector.image_facts
    assert facts is not None
    click(second)
    reviewing.wait(lambda: reviewing.label_of(image_id) == facts.tops[1].name)
    reviewing.window.workspace.show_image(image_id)
    reviewing.wait(lambda: button(inspector, "Remove label").isVisible())
    click(button(inspector, "Remove label"))
    reviewing.wait(lambda: reviewing.label_of(image_id) == "")
    assert reviewing.grid.hasFocus()


def slider_of(desk: Desk, name: str) -> QSlider:
    """The slider for the minimum confidence on the page of a class."""
    class_id, inspector = desk.graph.find(name), desk.window.inspector
    desk.window.tree.select_class(class_id)
    desk.wait(
        lambda: inspector.class_facts is not None and inspector.class_facts.class_id == class_id
    )
    open_part(inspector, "Rules and notes")
    return next(each for each in inspector.findChildren(QSlider) if each.isVisible())


def own_bar(desk: Desk) -> float | None:
    """The confidence threshold of the shown class itself."""
    facts = desk.window.inspector.class_facts
    return None if facts is None else facts.own_bar


@pytest.mark.slow
def test_news_do_not_take_a_slider_out_of_a_hand(
    reviewing: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A label set before the debounced value is stored; then the page has both."""
    monkeypatch.setattr("app.inspector.bar_section.SETTLE_MS", 1000)
    slider = slider_of(reviewing, "Red disc")
    QTest.keyClick(slider, Qt.Key.Key_Left)
    chosen = slider.value() / 100
    free = int(reviewing.state.image_ids[reviewing.state.label_class == NO_CLASS][0])
    disc, session = reviewing.graph.find("Red disc"), reviewing.window.session
    changed_by(reviewing.qtbot, session, lambda: session.label((free,), disc))
    reviewing.wait(lambda: own_bar(reviewing) == chosen)
    facts = reviewing.window.inspector.class_facts
    assert facts is not None
    assert free in facts.shots


@pytest.mark.slow
def test_a_slider_that_was_moved_counts_although_another_class_is_chosen(
    reviewing: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The debounced value is stored at once when another class is selected."""
    monkeypatch.setattr("app.inspector.bar_section.SETTLE_MS", LONG_MS)
    slider = slider_of(reviewing, "Red disc")
    QTest.keyClick(slider, Qt.Key.Key_Left)
    chosen = slider.value() / 100
    slider_of(reviewing, "Blue disc")
    assert own_bar(reviewing) is None
    slider_of(reviewing, "Red disc")
    reviewing.wait(lambda: own_bar(reviewing) == chosen)


@pytest.mark.slow
def test_a_click_on_a_shot_shows_it(reviewing: Desk) -> None:
    """The grid's current card and the inspector show the same image."""
    disc = reviewing.graph.find("Red disc")
    reviewing.window.tree.select_class(disc)
    tree = reviewing.window.tree.front
    click(tree.viewport(), tree.visualRect(tree.selected_index).center())
    inspector = reviewing.window.inspector
    reviewing.wait(
        lambda: inspector.class_facts is not None and inspector.class_facts.class_id == disc
    )
    facts = inspector.class_facts
    assert facts is not None
    strip = next(each for each in inspector.findChildren(ThumbnailStrip) if each.isVisible())
    click(strip, QPoint(8, 8))
    reviewing.wait(lambda: reviewing.inspected == facts.shots[0])
    assert reviewing.grid.current_id == facts.shots[0]
    assert reviewing.grid.hasFocus()


def show_class(desk: Desk, name: str) -> int:
    """Show a class while the focus stays on the cards, as a click in the inspector does."""
    class_id = desk.graph.find(name)
    desk.grid.setFocus()
    desk.window.inspector.show_class(class_id)
    desk.wait(lambda: class_shown(desk) == class_id)
    return class_id


def class_shown(desk: Desk) -> int | None:
    facts = desk.window.inspector.class_facts
    return None if facts is None else facts.class_id


@pytest.mark.slow
def test_cards_that_move_by_themselves_take_no_class_away(
    desk: Desk, collection: Collection
) -> None:
    """A class chosen by the person stays in the inspector, although the first card changes."""
    desk.open(collection.project)
    red = show_class(desk, "Red disc")
    before, model = desk.grid.current_id, desk.window.workspace.model
    model.set_order(Order.NAME if model.order is not Order.NAME else Order.ADDED, is_awaited=False)
    model.set_order(Order.SUREST_FIRST, is_awaited=False)
    assert desk.grid.hasFocus()
    assert desk.grid.current_id != before
    assert class_shown(desk) == red
    assert desk.window.inspector.is_for_class
    desk.press(Qt.Key.Key_Right)
    desk.wait(lambda: desk.inspected == desk.grid.current_id)


@pytest.mark.slow
def test_a_class_is_shown_though_its_project_changes_all_the_time(
    desk: Desk, collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each result is followed by another change: it is shown, and requested again."""
    desk.open(collection.project)
    session, asked = desk.window.session, list[threading.Event]()
    ask_class = view._ask_class  # noqa: SLF001 (it runs on the project thread)

    def change() -> None:
        session.state_changed.emit(session.state)
        QTimer.singleShot(2 * view.ASK_DELAY_MS, asked[-1].set)

    def ask_while_it_changes(live: LiveCollection, class_id: int) -> object:
        if len(asked) < CHANGES:
            asked.append(threading.Event())
            posted(change)
            assert asked[-1].wait(LONG_MS / 1000)
        return ask_class(live, class_id)

    posted = session._runner.post  # noqa: SLF001 (all results are posted here)
    monkeypatch.setattr(view, "_ask_class", ask_while_it_changes)
    red = desk.graph.find("Red disc")
    desk.window.inspector.show_class(red)
    desk.wait(lambda: class_shown(desk) == red)
    assert len(asked) < CHANGES, "the first answers were dropped"
    desk.wait(lambda: len(asked) == CHANGES and session.is_settled)


@pytest.mark.slow
@pytest.mark.parametrize("is_opened", [True, False])
def test_an_image_looked_at_alone_stays_while_others_are_sorted(
    desk: Desk, collection: Collection, is_opened: bool
) -> None:
    """Sorting does not change an image in the image view, or one whose comment is being edited."""
    desk.open(collection.project)
    image_id, workspace = desk.grid.current_id, desk.window.workspace
    desk.press(Qt.Key.Key_Space if is_opened else Qt.Key.Key_N)
    desk.wait(lambda: workspace.is_image_open is is_opened)
    act(
        desk.qtbot,
        desk.window.session,
        lambda project: project.classes.remove([desk.graph.find("Red disc")]),
    )
    assert workspace.model.is_held
    assert desk.grid.current_id == image_id
    assert desk.inspected == image_id


@pytest.mark.slow
def test_an_imported_label_has_its_own_annotator(desk: Desk, collection: Collection) -> None:
    """The imported label shows its annotator at once, although the prediction is frozen."""
    desk.open(collection.project)
    desk.window.registry.trigger("show_to_review")
    image_id = desk.choose(0)
    red = desk.graph.find("Red disc")
    label = Label(image_id, red, "Jane Field", datetime(2020, 5, 3, 12, tzinfo=UTC), "import")
    seen = list[str]()
    desk.window.session.state_changed.connect(lambda _state: seen.extend(texts_of(desk)))
    desk.window.registry.trigger("show_all")
    desk.window.workspace.show_image(image_id)
    act(desk.qtbot, desk.window.session, lambda project: project.labels.add_missing([label]))
    assert any(text.startswith("Jane Field") for text in texts_of(desk))
    assert not any(text.startswith(person_name()) for text in seen)
