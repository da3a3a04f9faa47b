"""The grid under a person's hands."""

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent, QGuiApplication, QWheelEvent
from pytestqt.qtbot import QtBot

from app.image_grid.geometry import LARGEST_SIDE, MARGIN, SMALLEST_SIDE
from app.image_grid.held_order import Order
from app.image_grid.model import ImageGridModel
from app.image_grid.view import ImageGrid
from app.session.subsets import ImageFilter, Subset
from engine.collection.state import CollectionState
from tests.app.image_grid.test_model import labelled
from tests.support.sessions import recorded
from tests.support.states import Picture, many_pictures, state_of

NO_KEYS = Qt.KeyboardModifier.NoModifier
CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
LEFT = Qt.MouseButton.LeftButton


def place_of(grid: ImageGrid, row: int) -> QPoint:
    """Centre of a card on the viewport."""
    return grid.visualRect(grid.model().index(row, 0)).center()


def click(qtbot: QtBot, grid: ImageGrid, row: int, keys: Qt.KeyboardModifier = NO_KEYS) -> None:
    """Click a card."""
    qtbot.mouseClick(grid.viewport(), LEFT, keys, place_of(grid, row))


def review(grid: ImageGrid, model: ImageGridModel, count: int) -> CollectionState:
    """Show images to review; the first one is chosen."""
    state = state_of([Picture(best=4, score=0.5)] * count)
    model.set_state(state)
    model.set_filter(ImageFilter(Subset.TO_REVIEW))
    assert grid.current_id == 11
    model.is_held = True
    return state


def chosen(grid: ImageGrid) -> list[int]:
    """Chosen images in the order shown."""
    return list(grid.selected_ids)


# -- choosing


@pytest.mark.parametrize(
    "keys", [Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier]
)
def test_going_to_a_card_chooses_it_alone(
    qtbot: QtBot, grid: ImageGrid, model: ImageGridModel, keys: Qt.KeyboardModifier
) -> None:
    """Also while a key is still held down, as after Ctrl+Z: what the program chooses is no click with that key."""
    review(grid, model, 6)
    grid.select_row(0)
    qtbot.keyPress(grid, Qt.Key.Key_F9, keys)
    assert QGuiApplication.keyboardModifiers() == keys
    grid.select_row(3)
    assert chosen(grid) == [14]
    grid.select_image(12)
    assert chosen(grid) == [12]
    qtbot.keyRelease(grid, Qt.Key.Key_F9)


def test_clicks_choose_toggle_and_extend(
    qtbot: QtBot, grid: ImageGrid, model: ImageGridModel
) -> None:
    """A click chooses one, Ctrl adds or takes one away, Shift takes all from the first to here."""
    review(grid, model, 9)
    emitted, current = recorded(grid.images_selected), recorded(grid.current_image_changed)
    click(qtbot, grid, 1)
    assert chosen(grid) == [12]
    click(qtbot, grid, 4, CONTROL)
    assert chosen(grid) == [12, 15]
    click(qtbot, grid, 1, CONTROL)
    assert chosen(grid) == [15]
    click(qtbot, grid, 2)
    click(qtbot, grid, 6, SHIFT)
    assert chosen(grid) == [13, 14, 15, 16, 17]
    assert emitted[-1] == ((13, 14, 15, 16, 17),)
    assert current[0] == (12,)


def test_keys_move_by_card_row_and_page(
    qtbot: QtBot, grid: ImageGrid, model: ImageGridModel
) -> None:
    """Arrows, Page and Home and End; at the ends nothing happens."""
    review(grid, model, 40)
    grid.select_row(0)
    key = Qt.Key
    steps = [
        (key.Key_Right, 1), (key.Key_Down, 4), (key.Key_Left, 3), (key.Key_Up, 0), (key.Key_Up, 0),
        (key.Key_End, 39), (key.Key_Right, 39), (key.Key_Home, 0), (key.Key_PageDown, 9), (key.Key_PageUp, 0),
    ]  # fmt: skip
    for pressed, row in steps:
        qtbot.keyClick(grid, pressed)
        assert grid.currentIndex().row() == row, pressed
        assert grid.viewport().rect().contains(place_of(grid, row))


def test_shift_and_arrows_choose_in_reading_order(
    qtbot: QtBot, grid: ImageGrid, model: ImageGridModel
) -> None:
    """Over the end of a row the next card is the first of the row below, and no other joins."""
    review(grid, model, 9)
    click(qtbot, grid, 2)
    qtbot.keyClick(grid, Qt.Key.Key_Right, SHIFT)
    assert chosen(grid) == [13, 14]
    qtbot.keyClick(grid, Qt.Key.Key_Right, SHIFT)
    assert chosen(grid) == [13, 14, 15]
    qtbot.keyClick(grid, Qt.Key.Key_Left, SHIFT)
    assert chosen(grid) == [13, 14]


def test_ctrl_a_chooses_all_and_esc_lets_go(
    qtbot: QtBot, grid: ImageGrid, model: ImageGridModel
) -> None:
    """All cards, then only the current one again."""
    review(grid, model, 50)
    grid.select_row(3)
    qtbot.keyClick(grid, Qt.Key.Key_A, CONTROL)
    assert chosen(grid) == list(range(11, 61))
    qtbot.keyClick(grid, Qt.Key.Key_Escape)
    assert chosen(grid) == [14]


def test_letters_are_left_to_shortcuts(
    qtbot: QtBot, grid: ImageGrid, model: ImageGridModel
) -> None:
    """Typing a letter searches nothing and moves nothing."""
    review(grid, model, 9)
    grid.select_row(4)
    qtbot.keyClicks(grid, "ru1")
    assert grid.currentIndex().row() == 4


def test_space_and_double_click_open_the_image(
    qtbot: QtBot, grid: ImageGrid, model: ImageGridModel
) -> None:
    """Both ask to look at the image alone."""
    review(grid, model, 9)
    opened = recorded(grid.open_requested)
    grid.select_row(4)
    qtbot.keyClick(grid, Qt.Key.Key_Space)
    click(qtbot, grid, 2)
    qtbot.mouseDClick(grid.viewport(), LEFT, NO_KEYS, place_of(grid, 2))
    assert opened == [(15,), (13,)]


# -- cards that leave


def test_the_next_card_is_chosen_when_one_leaves(grid: ImageGrid, model: ImageGridModel) -> None:
    """Labelling one card after the other never needs the mouse; at the end the last one is chosen, then none."""
    state = review(grid, model, 4)
    grid.select_row(1)
    for image_id, following in ((12, [13]), (13, [14]), (14, [11]), (11, [])):
        assert grid.current_id == image_id
        state = labelled(state, image_id, 4)
        model.set_state(state)
        assert chosen(grid) == following


@pytest.mark.parametrize("current", [1, 3])
def test_the_next_card_follows_a_group(
    current: int, qtbot: QtBot, grid: ImageGrid, model: ImageGridModel
) -> None:
    """When several chosen cards leave, the first one after them is next, wherever the frame was among them."""
    state = review(grid, model, 9)
    click(qtbot, grid, 4 - current)
    click(qtbot, grid, current, SHIFT)
    assert chosen(grid) == [12, 13, 14]
    for image_id in (12, 13, 14):
        state = labelled(state, image_id, 4)
    model.set_state(state)
    assert chosen(grid) == [15]


def test_a_choice_stays_with_its_images(
    qtbot: QtBot, grid: ImageGrid, model: ImageGridModel
) -> None:
    """When other cards leave or come, the same images are chosen, and the same one has the frame."""
    state = review(grid, model, 9)
    click(qtbot, grid, 4)
    click(qtbot, grid, 6, CONTROL)
    model.set_state(labelled(state, 12, 4))
    assert chosen(grid) == [15, 17]
    assert grid.current_id == 17
    assert grid.currentIndex().row() == 5


def test_removed_images_leave_the_choice(grid: ImageGrid, model: ImageGridModel) -> None:
    """After the last images left the project the grid stands on what is there."""
    review(grid, model, 9)
    grid.select_row(8)
    model.set_state(state_of([Picture(best=4, score=0.5)] * 3))
    assert chosen(grid) == [13]
    emitted = recorded(grid.images_selected)
    model.set_state(None)
    assert not grid.currentIndex().isValid()
    assert emitted[-1] == ((),)


def test_the_current_image_is_reported_once(
    qtbot: QtBot, grid: ImageGrid, model: ImageGridModel
) -> None:
    """New predictions around the same image are no news; a press on its card is a question again."""
    state = review(grid, model, 9)
    grid.select_row(4)
    emitted = recorded(grid.current_image_changed)
    model.set_state(labelled(state, 11, 4))
    assert emitted == []
    click(qtbot, grid, 3)
    assert emitted == [(15,)]
    model.set_state(None)
    assert emitted == [(15,), (-1,)]


def test_news_leave_the_scroll_place(grid: ImageGrid, model: ImageGridModel) -> None:
    """While embeddings come in, a person who looks around is not pulled back to the current card."""
    state = many_pictures(300)
    model.set_state(state)
    grid.select_row(0)
    bar = grid.verticalScrollBar()
    bar.setValue(5000)
    assert bar.value() == 5000
    model.set_state(many_pictures(300))
    assert bar.value() == 5000
    model.set_filter(ImageFilter(Subset.TO_REVIEW))
    model.is_held = True
    bar.setValue(5000)
    model.set_state(labelled(state, 1, 4))
    assert bar.value() == 5000


def test_until_somebody_works_the_first_card_is_the_current_one(
    grid: ImageGrid, model: ImageGridModel
) -> None:
    """Predictions come after opening: cards are sorted by them, and the frame is on the least certain one."""
    model.set_order(Order.UNSURE_FIRST)
    model.set_state(state_of([Picture()] * 3))
    grid.select_row(0)
    assert grid.current_id == 11
    model.set_state(state_of([Picture(best=4, score=score) for score in (0.9, 0.2, 0.5)]))
    assert (grid.current_id, chosen(grid)) == (12, [12])


# -- a hundred thousand


def test_a_frame_costs_what_is_visible(
    grid: ImageGrid, model: ImageGridModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Painting, finding and scrolling among 100,000 cards read only the cards in sight."""
    model.set_state(many_pictures(100_000))
    read: list[int] = []
    card = ImageGridModel.card

    def counting(self: ImageGridModel, row: int) -> Any:
        read.append(row)
        return card(self, row)

    monkeypatch.setattr(ImageGridModel, "card", counting)
    bar = grid.verticalScrollBar()
    for value in (0, bar.maximum() // 2, bar.maximum()):
        read.clear()
        bar.setValue(value)
        grid.viewport().grab()
        assert 0 < len(set(read)) <= len(read) <= 5 * grid._geometry().columns * 2  # noqa: SLF001 (arithmetic with tests of its own)
    assert max(read) == 99_999
    read.clear()
    index = model.index(99_999)
    rect = grid.visualRect(index)
    assert grid.indexAt(rect.center()) == index
    grid.scrollTo(model.index(50_000))
    assert grid.viewport().rect().contains(grid.visualRect(model.index(50_000)).center())
    assert len(read) <= 1  # the card that is named to a screen reader


def test_all_of_a_hundred_thousand_can_be_chosen(
    qtbot: QtBot, grid: ImageGrid, model: ImageGridModel
) -> None:
    """Ctrl+A is one range, not a hundred thousand."""
    model.set_state(many_pictures(100_000))
    grid.select_row(0)
    qtbot.keyClick(grid, Qt.Key.Key_A, CONTROL)
    assert grid.selectionModel().selection().count() == 1
    assert len(grid.selected_ids) == 100_000
    model.set_order(Order.ADDED)
    assert grid.selectionModel().selection().count() == 1
    assert len(grid.selected_ids) == 100_000


# -- zoom, drop


def test_ctrl_and_wheel_zoom_between_bounds(grid: ImageGrid, model: ImageGridModel) -> None:
    """Larger and smaller, never beyond the bounds, and the current card stays in sight."""
    model.set_state(many_pictures(300))
    grid.select_row(150)
    emitted = recorded(grid.zoom_changed)

    def wheel(degrees: int) -> None:
        event = QWheelEvent(
            QPointF(50, 50), QPointF(50, 50), QPoint(), QPoint(0, degrees), Qt.MouseButton.NoButton, CONTROL,
            Qt.ScrollPhase.NoScrollPhase, False,
        )  # fmt: skip
        grid.wheelEvent(event)

    before = grid.thumbnail_side
    wheel(120)
    assert grid.thumbnail_side > before
    assert emitted == [(grid.thumbnail_side,)]
    for _ in range(20):
        wheel(120)
    assert grid.thumbnail_side == LARGEST_SIDE
    assert grid.viewport().rect().contains(place_of(grid, 150))
    for _ in range(40):
        wheel(-120)
    assert grid.thumbnail_side == SMALLEST_SIDE
    assert grid.viewport().rect().contains(place_of(grid, 150))


def test_a_resize_keeps_the_top_card_on_top(grid: ImageGrid, model: ImageGridModel) -> None:
    """A wider window shows more cards from the same place on, however often it changes its width."""
    model.set_state(many_pictures(300))
    grid.verticalScrollBar().setValue(grid._geometry().rect(90).top() - MARGIN)  # noqa: SLF001 (arithmetic with tests of its own)
    for width in (1100, 600, 1100, 600, 1100):
        grid.resize(width, 700)
        assert grid.indexAt(QPoint(MARGIN + 5, MARGIN + 5)).row() == 90


def test_files_are_taken_and_own_images_are_not(grid: ImageGrid) -> None:
    """Dropped files are reported with their paths; images of the project belong on a class, not here."""
    dropped = recorded(grid.files_dropped)
    data = QMimeData()
    data.setUrls(
        [QUrl.fromLocalFile(str(Path("/photos/a.jpg"))), QUrl("https://example.org/b.jpg")]
    )
    event = QDropEvent(QPointF(5, 5), Qt.DropAction.CopyAction, data, LEFT, NO_KEYS)
    grid.dropEvent(event)
    assert dropped == [([Path("/photos/a.jpg")],)]
