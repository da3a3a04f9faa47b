"""The mouse on the grid: clicks, drags and rubber bands, by real mouse events."""

import json

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.dragging import IMAGES_MIME
from app.image_grid.model import ImageGridModel
from app.image_grid.view import ImageGrid
from tests.support.hand import Hand, Spot
from tests.support.sessions import LONG_MS, recorded
from tests.support.states import Picture, many_pictures, state_of

NO_KEYS = Qt.KeyboardModifier.NoModifier
CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def nine(grid: ImageGrid, model: ImageGridModel) -> ImageGrid:
    """Nine cards in rows of three, images 11 to 19; the first one is selected."""
    model.set_state(state_of([Picture(best=4, score=0.5)] * 9))
    return grid


def card(grid: ImageGrid, row: int) -> Spot:
    """The centre of a card."""
    return Spot(grid.viewport(), grid.visualRect(grid.model().index(row, 0)).center())


def gap(grid: ImageGrid, x: int = 4, y: int = 4) -> Spot:
    """A point outside the cards."""
    return Spot(grid.viewport(), QPoint(x, y))


def carried(hand: Hand) -> list[int]:
    """The dragged images."""
    assert hand.carried is not None
    return list(json.loads(bytes(hand.carried.data(IMAGES_MIME).data())))


# -- dragging cards


def test_an_unchosen_card_is_dragged_alone(nine: ImageGrid, hand: Hand) -> None:
    """The press selects it and deselects the others."""
    hand.click(card(nine, 0))
    hand.click(card(nine, 1), CONTROL)
    hand.drag(card(nine, 4), gap(nine))
    assert carried(hand) == [15]
    assert nine.selected_ids == (15,)


def test_one_of_many_chosen_cards_takes_all_along(nine: ImageGrid, hand: Hand) -> None:
    """All selected images in the order shown, still selected; the drag pixmap has their number."""
    for row in (4, 1, 8):
        hand.click(card(nine, row), CONTROL)
    hand.drag(card(nine, 4), gap(nine))
    assert carried(hand) == [11, 12, 15, 19]
    assert nine.selected_ids == (11, 12, 15, 19)
    assert nine.current_id == 15
    assert not hand.picture.isNull()


@pytest.mark.parametrize(("keys", "after"), [(NO_KEYS, (12,)), (CONTROL, (11, 15))])
def test_a_click_on_one_of_many_is_decided_on_release(
    keys: Qt.KeyboardModifier, after: tuple[int, ...], nine: ImageGrid, hand: Hand
) -> None:
    """The press may start a drag; the release selects or deselects it."""
    hand.click(card(nine, 1), CONTROL)
    hand.click(card(nine, 4), CONTROL)
    spot = card(nine, 1)
    QTest.mousePress(spot.window, Qt.MouseButton.LeftButton, keys, spot.in_window)
    assert nine.selected_ids == (11, 12, 15)
    QTest.mouseRelease(spot.window, Qt.MouseButton.LeftButton, keys, spot.in_window)
    assert nine.selected_ids == after
    assert nine.current_id in after


def test_a_trembling_click_is_no_drag(nine: ImageGrid, hand: Hand) -> None:
    """A movement of two pixels is a click."""
    start = card(nine, 3)
    hand.drag(start, Spot(start.widget, start.point + QPoint(2, 1)))
    assert not hand.has_carried
    assert nine.selected_ids == (14,)


# -- the current card


def frames(grid: ImageGrid) -> tuple[int | None, bool]:
    """The current image, and whether it is selected."""
    return grid.current_id, grid.current_id in grid.selected_ids


def test_the_first_card_is_current_and_chosen_at_once(
    grid: ImageGrid, model: ImageGridModel
) -> None:
    """Before any click, keys act on the current card, and its image is reported."""
    emitted = recorded(grid.current_image_changed)
    model.set_state(state_of([Picture(best=4, score=0.5)] * 9))
    assert frames(grid) == (11, True)
    assert emitted == [(11,)]


@pytest.mark.parametrize("keys", [NO_KEYS, CONTROL, SHIFT, CONTROL | SHIFT])
def test_the_current_card_is_always_chosen(
    keys: Qt.KeyboardModifier, qtbot: QtBot, nine: ImageGrid, hand: Hand
) -> None:
    """With any modifier, current card, selection and reported image agree after each key."""
    emitted = recorded(nine.current_image_changed)
    hand.click(card(nine, 4))
    for name, current in (
        ("Home", 11),
        ("Right", 12),
        ("Down", 15),
        ("End", 19),
        ("Up", 16),
        ("Left", 15),
        ("PageUp", 11),
        ("PageDown", 19),
        ("Home", 11),
    ):
        qtbot.keyClick(nine, Qt.Key[f"Key_{name}"], keys)
        assert frames(nine) == (current, True), name
        assert emitted[-1] == (current,)
        assert len(nine.selected_ids) == 1 or keys & SHIFT


def test_ctrl_click_never_lets_the_last_card_go(nine: ImageGrid, hand: Hand) -> None:
    """Deselecting the current card makes the nearest selected one current; one always remains."""
    for row in (2, 7, 8):
        hand.click(card(nine, row), CONTROL)
    hand.click(card(nine, 8), CONTROL)
    assert frames(nine) == (18, True)
    for row in (7, 2, 0):
        hand.click(card(nine, row), CONTROL)
    assert nine.selected_ids == (11,)
    assert frames(nine) == (11, True)


def test_shift_click_goes_from_the_card_that_was_chosen_first(nine: ImageGrid, hand: Hand) -> None:
    """Forwards, then backwards from the same card; with Ctrl the selection is extended."""
    hand.click(card(nine, 3))
    for row, chosen in ((5, (14, 15, 16)), (1, (12, 13, 14))):
        hand.click(card(nine, row), SHIFT)
        assert nine.selected_ids == chosen
        assert frames(nine) == (11 + row, True)
    hand.click(card(nine, 7), CONTROL)
    hand.click(card(nine, 8), CONTROL | SHIFT)
    assert nine.selected_ids == (12, 13, 14, 18, 19)


def test_a_click_beside_the_cards_keeps_the_current_one(nine: ImageGrid, hand: Hand) -> None:
    """The others are deselected."""
    hand.click(card(nine, 4))
    hand.click(card(nine, 5), CONTROL)
    hand.click(gap(nine))
    assert nine.selected_ids == (16,)


# -- the rubber band


def test_a_rubber_band_chooses_what_it_touches_while_it_grows(nine: ImageGrid, hand: Hand) -> None:
    """From the margin over four cards, and back over two; only touched cards are selected."""
    seen: list[tuple[int, ...]] = []
    look = lambda: seen.append(nine.selected_ids)  # noqa: E731
    hand.drag(gap(nine), card(nine, 4), look, card(nine, 1), look)
    assert seen == [(11, 12, 14, 15), (11, 12)]
    assert nine.selected_ids == (11, 12)
    assert frames(nine) == (11, True)
    assert not hand.has_carried


@pytest.mark.parametrize("keys", [CONTROL, SHIFT])
def test_a_rubber_band_adds_with_a_key(
    keys: Qt.KeyboardModifier, nine: ImageGrid, hand: Hand
) -> None:
    """The selection stays, and the touched cards are added."""
    hand.click(card(nine, 8))
    hand.drag(gap(nine), card(nine, 1), keys=keys)
    assert nine.selected_ids == (11, 12, 19)


def test_esc_gives_a_rubber_band_up(nine: ImageGrid, hand: Hand) -> None:
    """The previous selection and current card are restored."""
    hand.click(card(nine, 7))
    hand.click(card(nine, 3), CONTROL)
    hand.drag(gap(nine), card(nine, 4), gives_up=True)
    assert nine.selected_ids == (14, 18)
    assert nine.current_id == 14


def test_a_rubber_band_is_seen(nine: ImageGrid, hand: Hand) -> None:
    """It tints the background in the accent colour until the release."""
    seen: list[QColor] = []

    def look() -> None:
        seen.append(nine.viewport().grab().toImage().pixelColor(8, 300))

    look()
    hand.drag(gap(nine), Spot(nine.viewport(), QPoint(560, 620)), look)
    look()
    before, during, after = (colour.name() for colour in seen)
    assert before == after != during
    assert seen[1].greenF() - seen[1].redF() > 0.02


@pytest.mark.slow
def test_a_rubber_band_scrolls_at_the_edge(
    qtbot: QtBot, grid: ImageGrid, model: ImageGridModel, hand: Hand
) -> None:
    """At the lower edge it scrolls continuously and selects the cards that appear."""
    model.set_state(many_pictures(300))
    bar = grid.verticalScrollBar()
    edge = Spot(grid.viewport(), QPoint(300, grid.viewport().height() - 2))
    hand.drag(gap(grid), edge, lambda: qtbot.waitUntil(lambda: bar.value() > 400, timeout=LONG_MS))
    assert len(grid.selected_ids) > 8
    still = bar.value()
    qtbot.wait(50)
    assert bar.value() == still


def test_a_rubber_band_outlives_news(
    qtbot: QtBot, nine: ImageGrid, model: ImageGridModel, hand: Hand
) -> None:
    """The rubber band continues when new embeddings lay the cards out again."""
    news = lambda: model.set_state(state_of([Picture(best=5, score=0.6)] * 9))  # noqa: E731
    hand.drag(gap(nine), card(nine, 1), news, card(nine, 4))
    assert nine.selected_ids == (11, 12, 14, 15)
