"""Mouse actions on a large grid while its cards are sorted on a thread."""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import fields, replace

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.dragging import IMAGES_MIME
from app.image_grid.held_order import HeldOrder, Order
from app.image_grid.model import ImageGridModel
from app.image_grid.view import ImageGrid
from tests.support.desk import CONTROL, NO_KEYS, SHIFT, Desk
from tests.support.hand import LEFT, Hand, Spot
from tests.support.sessions import LONG_MS, changed_by, recorded
from tests.support.states import Picture, state_of

CARDS = 60
GAP = QPoint(4, 4)


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Sort a few images on a thread, which blocks until this event is set."""
    monkeypatch.setattr("app.image_grid.model.FEWEST_BEHIND", 1)
    gate, sort, main = threading.Event(), HeldOrder.sorted_now, threading.current_thread()

    def gated(*given: object, **named: object) -> HeldOrder:
        assert threading.current_thread() is main or gate.wait(LONG_MS / 1000)
        return sort(*given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(HeldOrder, "sorted_now", staticmethod(gated))
    yield gate
    gate.set()


@pytest.fixture
def large(
    qtbot: QtBot, gate: threading.Event, grid: ImageGrid, model: ImageGridModel
) -> Iterator[ImageGrid]:
    """Painted cards by certainty, least certain first, not held; images 11, 12 ..."""
    model.set_order(Order.UNSURE_FIRST)
    model.set_state(state_of([Picture(best=4, score=0.1 + 0.01 * place) for place in range(CARDS)]))
    assert not model.is_held
    show_now(grid)
    yield grid
    gate.set()
    model.stop()


def show_now(grid: ImageGrid) -> None:
    """Process events and repaint."""
    QApplication.processEvents()
    grid.viewport().repaint()


def sort_anew(model: ImageGridModel) -> None:
    """Reverse the scores, so that a sort is pending."""
    assert model.state is not None
    model.set_state(replace(model.state, best_score=model.state.best_score[::-1].copy()))


def arrive(
    qtbot: QtBot, model: ImageGridModel, gate: threading.Event, do: Callable[[], object]
) -> None:
    """Let the pending order arrive, and call a function before it is painted."""
    before = model.shown
    model.modelReset.connect(do)
    gate.set()
    qtbot.waitUntil(lambda: not model.shown.is_same(before), timeout=LONG_MS)
    model.modelReset.disconnect(do)


def card(grid: ImageGrid, row: int) -> Spot:
    """The centre of a card."""
    return Spot(grid.viewport(), grid.visualRect(grid.model().index(row, 0)).center())


def shown(grid: ImageGrid, *rows: int) -> tuple[int, ...]:
    """The images in these rows."""
    return tuple(int(grid.model().image_ids[row]) for row in rows)  # type: ignore[attr-defined]


def let_leave(model: ImageGridModel, row: int) -> None:
    """Remove an image from the state."""
    state, gone = model.state, int(model.image_ids[row])
    assert state is not None
    values = {each.name: getattr(state, each.name) for each in fields(state)}
    arrays = {name: value for name, value in values.items() if isinstance(value, np.ndarray)}
    is_left = state.image_ids != gone
    kept = {name: value[is_left] for name, value in arrays.items() if len(value) == len(is_left)}
    paths = [path for path, stays in zip(state.paths, is_left, strict=True) if stays]
    model.set_state(replace(state, paths=paths, **kept))


def roll(grid: ImageGrid, steps: int) -> None:
    """Scroll down with the wheel."""
    place = QPointF(grid.viewport().rect().center())
    QApplication.sendEvent(
        grid.viewport(),
        QWheelEvent(
            place,
            grid.viewport().mapToGlobal(place),
            QPoint(),
            QPoint(0, -120 * steps),
            Qt.MouseButton.NoButton,
            NO_KEYS,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        ),
    )


# -- while cards are being sorted


def test_clicks_choose_toggle_and_extend(
    large: ImageGrid, model: ImageGridModel, hand: Hand
) -> None:
    """Clicks select as in a small collection."""
    sort_anew(model)
    hand.click(card(large, 4))
    assert large.selected_ids == shown(large, 4)
    hand.click(card(large, 1), CONTROL)
    assert large.selected_ids == shown(large, 1, 4)
    hand.click(card(large, 6), SHIFT)
    assert large.selected_ids == shown(large, *range(1, 7))
    hand.click(card(large, 3), CONTROL)
    assert large.selected_ids == shown(large, 1, 2, 4, 5, 6)


def test_what_is_chosen_stays_chosen_when_cards_are_sorted(
    qtbot: QtBot, large: ImageGrid, model: ImageGridModel, hand: Hand, gate: threading.Event
) -> None:
    """A grid that is not held goes to its top; a held one keeps order and selection."""
    model.is_held = True
    hand.click(card(large, 1))
    hand.click(card(large, 5), SHIFT)
    before, chosen = large.model().image_ids.tolist(), large.selected_ids  # type: ignore[attr-defined]
    sort_anew(model)
    gate.set()
    qtbot.wait(100)
    assert model.image_ids.tolist() == before
    assert large.selected_ids == chosen


def test_a_rubber_band_takes_the_cards_that_it_is_drawn_over(
    large: ImageGrid, model: ImageGridModel, hand: Hand
) -> None:
    """It grows while other cards are sorted."""
    sort_anew(model)
    hand.drag(Spot(large.viewport(), GAP), card(large, 4))
    assert large.selected_ids == shown(large, 0, 1, 3, 4)


def test_the_wheel_scrolls_while_cards_are_sorted(
    qtbot: QtBot, large: ImageGrid, model: ImageGridModel, hand: Hand, gate: threading.Event
) -> None:
    """A click takes the visible card after scrolling; a held order does not change."""
    sort_anew(model)
    model.is_held = True  # as the workspace does with each turn of the wheel
    roll(large, 3)
    assert large.verticalOffset() > 0
    show_now(large)
    row = large.places_in_view().start + 4
    before = shown(large, row)
    gate.set()
    qtbot.wait(100)
    hand.click(card(large, row))
    assert large.selected_ids == before
    assert large.verticalOffset() > 0


# -- between a new order and its first frame


def test_a_click_takes_the_card_that_is_seen(
    qtbot: QtBot, large: ImageGrid, model: ImageGridModel, hand: Hand, gate: threading.Event
) -> None:
    """The rows have changed, but the screen still shows the old order."""
    sort_anew(model)
    spot, seen = card(large, 4), shown(large, 4)
    arrive(qtbot, model, gate, lambda: hand.click(spot))
    assert shown(large, 4) != seen
    assert large.selected_ids == seen
    assert (large.current_id,) == seen


def test_so_does_a_click_with_a_key(
    qtbot: QtBot, large: ImageGrid, model: ImageGridModel, hand: Hand, gate: threading.Event
) -> None:
    """The visible card is added to the first one, which the new order makes current."""
    sort_anew(model)
    spot, seen = card(large, 4), shown(large, 4)
    arrive(qtbot, model, gate, lambda: hand.click(spot, CONTROL))
    assert set(large.selected_ids) == {*shown(large, 0), *seen}
    assert (large.current_id,) == seen


def test_a_double_click_opens_the_card_that_was_clicked(
    qtbot: QtBot, large: ImageGrid, model: ImageGridModel, gate: threading.Event
) -> None:
    """The first click precedes the frame with the new order, the second one follows it."""
    opened = recorded(large.open_requested)
    sort_anew(model)
    spot, (seen,) = card(large, 4), shown(large, 4)
    arrive(qtbot, model, gate, lambda: QTest.mouseClick(spot.window, LEFT, NO_KEYS, spot.in_window))
    show_now(large)
    point, at = QPointF(spot.point), QPointF(large.viewport().mapToGlobal(spot.point))
    QApplication.sendEvent(
        large.viewport(),
        QMouseEvent(QEvent.Type.MouseButtonDblClick, point, at, LEFT, LEFT, NO_KEYS),
    )
    assert shown(large, 4) != (seen,)
    assert opened == [(seen,)]


def test_a_press_on_what_has_left_takes_nothing_else(
    large: ImageGrid, model: ImageGridModel, hand: Hand
) -> None:
    """The next card is not yet visible at that position."""
    model.is_held = True
    hand.click(card(large, 2))
    show_now(large)
    spot, chosen = card(large, 4), shown(large, 2)
    let_leave(model, 4)
    hand.click(spot)
    assert large.selected_ids == chosen


def test_a_drag_takes_the_card_that_is_seen(
    qtbot: QtBot, large: ImageGrid, model: ImageGridModel, hand: Hand, gate: threading.Event
) -> None:
    """The visible card is dragged, even if the order changes between press and move."""
    sort_anew(model)
    spot, seen = card(large, 4), shown(large, 4)
    arrive(qtbot, model, gate, lambda: hand.drag(spot, Spot(large.viewport(), GAP)))
    assert hand.carried is not None
    assert tuple(json.loads(bytes(hand.carried.data(IMAGES_MIME).data()))) == seen


def test_a_release_means_the_card_that_was_pressed(
    large: ImageGrid, model: ImageGridModel, hand: Hand
) -> None:
    """Another card leaves while the button is down."""
    model.is_held = True
    hand.click(card(large, 2))
    hand.click(card(large, 4), CONTROL)
    show_now(large)
    spot, (pressed,) = card(large, 4), shown(large, 4)
    QTest.mousePress(spot.window, LEFT, NO_KEYS, spot.in_window)
    let_leave(model, 0)
    QTest.mouseRelease(spot.window, LEFT, NO_KEYS, spot.in_window)
    assert large.selected_ids == (pressed,)


# -- in the window


def predictions_come(desk: Desk, gate: threading.Event) -> None:
    """Change predictions by labels while the cards are not held; sorting blocks at the gate."""
    gate.clear()
    session, begun = desk.window.session, desk.state.best_score
    assert not desk.window.workspace.model.is_held
    session.label(desk.grid.model().image_ids[-12:].tolist(), desk.graph.find("Blue disc"))  # type: ignore[attr-defined]
    desk.wait(lambda: session.is_settled and not np.array_equal(desk.state.best_score, begun))
    show_now(desk.grid)


@pytest.mark.slow
def test_a_click_and_a_key_mean_the_card_that_is_seen(
    reviewing: Desk, hand: Hand, gate: threading.Event
) -> None:
    """The click precedes the frame with the new order; the key labels the clicked card."""
    model = reviewing.window.workspace.model
    predictions_come(reviewing, gate)
    spot, (seen,) = card(reviewing.grid, 4), shown(reviewing.grid, 4)
    arrive(reviewing.qtbot, model, gate, lambda: hand.click(spot))
    assert shown(reviewing.grid, 4) != (seen,)
    reviewing.wait(
        lambda: reviewing.inspected == seen and not reviewing.window.inspector.is_waiting_for(seen)
    )
    best = reviewing.best_of(seen)
    reviewing.press_for_change(Qt.Key.Key_Return)
    reviewing.wait(lambda: reviewing.label_of(seen) == best)


@pytest.mark.slow
def test_a_turn_of_the_wheel_holds_the_cards(
    reviewing: Desk, hand: Hand, gate: threading.Event
) -> None:
    """A pending order is dropped, and the card under the pointer stays."""
    model = reviewing.window.workspace.model
    reviewing.grid.set_thumbnail_side(320)
    predictions_come(reviewing, gate)
    roll(reviewing.grid, 2)
    assert reviewing.grid.verticalOffset() > 0
    before, offset = model.image_ids.tolist(), reviewing.grid.verticalOffset()
    show_now(reviewing.grid)
    gate.set()
    reviewing.qtbot.wait(100)
    assert (model.image_ids.tolist(), reviewing.grid.verticalOffset()) == (before, offset)
    spot = Spot(reviewing.grid.viewport(), QPoint(100, 300))
    row = reviewing.grid.indexAt(spot.point).row()
    hand.click(spot)
    assert reviewing.grid.selected_ids == (before[row],)


@pytest.mark.slow
def test_cards_are_dragged_onto_a_class(reviewing: Desk, hand: Hand, gate: threading.Event) -> None:
    """One card, then three: exactly the dragged images are labelled, and leave at once."""
    gate.set()
    view = reviewing.window.tree.front
    view.expandAll()
    (index, *_others) = view.model().indexes_of(reviewing.graph.find("Blue disc"))  # type: ignore[attr-defined]
    target = Spot(view.viewport(), view.visualRect(index).center())
    _drag(reviewing, hand, target, (2,))
    _drag(reviewing, hand, target, (1, 3, 4))


def _drag(desk: Desk, hand: Hand, target: Spot, rows: tuple[int, ...]) -> None:
    """Select cards, drag one of them, and wait until all are labelled and have left."""
    hand.click(card(desk.grid, rows[0]))
    for row in rows[1:]:
        hand.click(card(desk.grid, row), CONTROL)
    chosen = shown(desk.grid, *rows)
    assert desk.grid.selected_ids == chosen
    changed_by(
        desk.qtbot, desk.window.session, lambda: hand.drag(card(desk.grid, rows[-1]), target)
    )
    desk.wait(lambda: [desk.label_of(each) for each in chosen] == ["Blue disc"] * len(chosen))
    assert not set(chosen) & set(desk.grid.model().image_ids.tolist())  # type: ignore[attr-defined]
