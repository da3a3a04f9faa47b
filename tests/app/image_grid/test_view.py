"""The image grid: selection, keys, removal, painting, zoom and drops."""

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
    """Centre of a card in the viewport."""
    return grid.visualRect(grid.model().index(row, 0)).center()


def click(qtbot: QtBot, grid: ImageGrid, row: int, keys: Qt.KeyboardModifier = NO_KEYS) -> None:
    """Click a card."""
    qtbot.mouseClick(grid.viewport(), LEFT, keys, place_of(grid, row))


def review(grid: ImageGrid, model: ImageGridModel, count: int) -> CollectionState:
    """Show images to review; the first one is selected."""
    state = state_of([Picture(best=4, score=0.5)] * count)
    model.set_state(state)
    model.set_filter(ImageFilter(Subset.TO_REVIEW))
    assert grid.current_id == 11
    model.is_held = True
    return state


def chosen(grid: ImageGrid) -> list[int]:
    """Selected images in the order shown."""
    return list(grid.selected_ids)


# -- selection


@pytest.mark.parametrize(
    "keys", [Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier]
)
def test_going_to_a_card_chooses_it_alone(
    qtbot: QtBot, grid: ImageGrid, model: ImageGridModel, keys: Qt.KeyboardModifier
) -> None:
    """Held modifiers, as after Ctrl+Z, do not affect a selection made by the program."""
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
    """A click selects one, Ctrl toggles one, Shift selects a range."""
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
    """Arrows, page keys, Home and End; at the ends nothing happens."""
    review(grid, model, 40)
    grid.select_row(0)
    key = Qt.Key
    steps = [
        (key.Key_Right, 1),
        (key.Key_Down, 4),
        (key.Key_Left, 3),
        (key.Key_Up, 0),
        (key.Key_Up, 0),
        (key.Key_End, 39),
        (key.Key_Right, 39),
        (key.Key_Home, 0),
        (key.Key_PageDown, 9),
        (key.Key_PageUp, 0),
    ]
    for pressed, row in steps:
        qtbot.keyClick(grid, pressed)
        assert grid.currentIndex().row() == row, pressed
        assert grid.viewport().rect().contains(place_of(grid, row))


def test_shift_and_arrows_choose_in_reading_order(
    qtbot: QtBot, grid: ImageGrid, model: ImageGridModel
) -> None:
    """After the end of a row comes the first card of the next row."""
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
    """Ctrl+A selects all cards, Esc only the current one."""
    review(grid, model, 50)
    grid.select_row(3)
    qtbot.keyClick(grid, Qt.Key.Key_A, CONTROL)
    assert chosen(grid) == list(range(11, 61))
    qtbot.keyClick(grid, Qt.Key.Key_Escape)
    assert chosen(grid) == [14]


def test_letters_are_left_to_shortcuts(
    qtbot: QtBot, grid: ImageGrid, model: ImageGridModel
) -> None:
    """Letters neither search nor move."""
    review(grid, model, 9)
    grid.select_row(4)
    qtbot.keyClicks(grid, "ru1")
    assert grid.currentIndex().row() == 4


def test_space_and_double_click_open_the_image(
    qtbot: QtBot, grid: ImageGrid, model: ImageGridModel
) -> None:
    """Both request the image view."""
    review(grid, model, 9)
    opened = recorded(grid.open_requested)
    grid.select_row(4)
    qtbot.keyClick(grid, Qt.Key.Key_Space)
    click(qtbot, grid, 2)
    qtbot.mouseDClick(grid.viewport(), LEFT, NO_KEYS, place_of(grid, 2))
    assert opened == [(15,), (13,)]


# -- removed cards


def test_the_next_card_is_chosen_when_one_leaves(grid: ImageGrid, model: ImageGridModel) -> None:
    """Repeated labelling needs no mouse; at the end the last card is selected, then none."""
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
    """When several selected cards leave, the first one after them is selected."""
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
    """When other cards leave or arrive, selection and current image stay."""
    state = review(grid, model, 9)
    click(qtbot, grid, 4)
    click(qtbot, grid, 6, CONTROL)
    model.set_state(labelled(state, 12, 4))
    assert chosen(grid) == [15, 17]
    assert grid.current_id == 17
    assert grid.currentIndex().row() == 5


def test_removed_images_leave_the_choice(grid: ImageGrid, model: ImageGridModel) -> None:
    """When the last images are removed, the last remaining one is selected."""
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
    """New predictions of the same image do not report it again; a press on its card does."""
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
    """New embeddings do not scroll back to the current card."""
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
    """Predictions arrive after opening: cards are sorted, and the least certain one is current."""
    model.set_order(Order.UNSURE_FIRST)
    model.set_state(state_of([Picture()] * 3))
    grid.select_row(0)
    assert grid.current_id == 11
    model.set_state(state_of([Picture(best=4, score=score) for score in (0.9, 0.2, 0.5)]))
    assert (grid.current_id, chosen(grid)) == (12, [12])


# -- 100,000 cards


def test_a_frame_costs_what_is_visible(
    grid: ImageGrid, model: ImageGridModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Painting, finding and scrolling among 100,000 cards read only the visible cards."""
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
        assert 0 < len(set(read)) <= len(read) <= 5 * grid._geometry().columns * 2  # noqa: SLF001 (the geometry has its own tests)
    assert max(read) == 99_999
    read.clear()
    index = model.index(99_999)
    rect = grid.visualRect(index)
    assert grid.indexAt(rect.center()) == index
    grid.scrollTo(model.index(50_000))
    assert grid.viewport().rect().contains(grid.visualRect(model.index(50_000)).center())
    assert len(read) <= 1  # the card for screen readers


def test_all_of_a_hundred_thousand_can_be_chosen(
    qtbot: QtBot, grid: ImageGrid, model: ImageGridModel
) -> None:
    """Ctrl+A is one selection range."""
    model.set_state(many_pictures(100_000))
    grid.select_row(0)
    qtbot.keyClick(grid, Qt.Key.Key_A, CONTROL)
    assert grid.selectionModel().selection().count() == 1
    assert len(grid.selected_ids) == 100_000
    model.set_order(Order.ADDED)
    assert grid.selectionModel().selection().count() == 1
    assert len(grid.selected_ids) == 100_000


# -- zoom and drops


def test_ctrl_and_wheel_zoom_between_bounds(grid: ImageGrid, model: ImageGridModel) -> None:
    """The size stays within its bounds, and the current card stays visible."""
    model.set_state(many_pictures(300))
    grid.select_row(150)
    emitted = recorded(grid.zoom_changed)

    def wheel(degrees: int) -> None:
        event = QWheelEvent(
            QPointF(50, 50),
            QPointF(50, 50),
            QPoint(),
            QPoint(0, degrees),
            Qt.MouseButton.NoButton,
            CONTROL,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        )
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
    """The first visible card stays, whatever the number of columns."""
    model.set_state(many_pictures(300))
    grid.verticalScrollBar().setValue(grid._geometry().rect(90).top() - MARGIN)  # noqa: SLF001 (the geometry has its own tests)
    for width in (1100, 600, 1100, 600, 1100):
        grid.resize(width, 700)
        assert grid.indexAt(QPoint(MARGIN + 5, MARGIN + 5)).row() == 90


def test_files_are_taken_and_own_images_are_not(grid: ImageGrid) -> None:
    """Dropped files are reported with their paths; images of the project are rejected."""
    dropped = recorded(grid.files_dropped)
    data = QMimeData()
    data.setUrls(
        [QUrl.fromLocalFile(str(Path("/photos/a.jpg"))), QUrl("https://example.org/b.jpg")]
    )
    event = QDropEvent(QPointF(5, 5), Qt.DropAction.CopyAction, data, LEFT, NO_KEYS)
    grid.dropEvent(event)
    assert dropped == [([Path("/photos/a.jpg")],)]
