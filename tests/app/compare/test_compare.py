"""Comparing two to four images side by side, with keys, wheel and mouse."""

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication, QLabel

from app.actions.keys import keys_in_use
from app.compare.controller import Comparing
from app.compare.logic import cell_of, columns_for
from app.compare.view import ComparePage
from app.image_view.canvas import NOTCH_STEP, ImageCanvas
from app.theme.tokens import tokens
from tests.support.collections import Collection
from tests.support.desk import CONTROL, SHIFT, Desk

Key = Qt.Key
NO_BUTTON = Qt.MouseButton.NoButton


def compared(desk: Desk, count: int, *, first: int = 0) -> ComparePage:
    """The page after selecting some cards and pressing C."""
    desk.choose(first)
    for _ in range(count - 1):
        desk.press(Key.Key_Right, SHIFT)
    desk.press(Key.Key_C)
    page = desk.window.of(Comparing).page
    assert page is not None
    desk.wait(lambda: all(pane.canvas.has_image or pane.canvas.message for pane in page.panes))
    desk.wait(lambda: any(pane.hasFocus() for pane in page.panes))
    return page


def wheel(canvas: ImageCanvas, notches: int, place: QPointF) -> None:
    """Turn the wheel at a point."""
    event = QWheelEvent(
        place,
        canvas.mapToGlobal(place),
        QPoint(),
        QPoint(0, 120 * notches),
        NO_BUTTON,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(canvas, event)


def relative(canvas: ImageCanvas, place: QPointF) -> tuple[float, float]:
    """A point of the canvas in shares of the picture's width and height."""
    target = canvas.target()
    return (place.x() - target.left()) / target.width(), (
        place.y() - target.top()
    ) / target.height()


@pytest.mark.slow
def test_selected_images_stand_beside_one_another(reviewing: Desk) -> None:
    """In the grid's order with name and prediction; the current one is framed; Esc returns."""
    page = compared(reviewing, 3, first=2)
    selected = reviewing.grid.selected_ids
    assert page.image_ids == selected
    assert page.current_id == reviewing.grid.current_id == selected[-1]
    assert [pane.is_active for pane in page.panes] == [False, False, True]
    for pane in page.panes:
        assert reviewing.state.path_of(pane.image_id).name in pane.words
        assert reviewing.best_of(pane.image_id) in pane.words
        assert pane.accessibleName().startswith(reviewing.state.path_of(pane.image_id).name)
    reviewing.press(Key.Key_Escape)
    assert reviewing.window.of(Comparing).page is None
    assert reviewing.grid.hasFocus()
    assert reviewing.grid.selected_ids == selected
    assert reviewing.inspected == selected[-1]


@pytest.mark.slow
def test_of_more_than_four_the_first_four(reviewing: Desk) -> None:
    """A message says that only the first four are compared."""
    page = compared(reviewing, 6)
    assert page.image_ids == reviewing.grid.selected_ids[:4]
    assert "first 4 of 6" in reviewing.window.toast.message
    reviewing.press(Key.Key_C)
    assert reviewing.window.of(Comparing).page is None


@pytest.mark.slow
def test_the_wheel_zooms_all_around_the_same_place(reviewing: Desk) -> None:
    """The point under the pointer stays fixed in every picture; a drag moves all; 0 fits them."""
    page = compared(reviewing, 2)
    one, other = (pane.canvas for pane in page.panes)
    place = QPointF(one.width() * 0.6, one.height() * 0.45)
    before = relative(one, place)
    wheel(one, 28, place)
    assert one.view.zoom == pytest.approx(NOTCH_STEP**28)
    assert other.view == one.view
    assert relative(one, place) == pytest.approx(before, abs=1e-6)
    assert relative(other, place) == pytest.approx(before, abs=0.01)
    drag(reviewing, one, QPoint(-40, -30))
    assert relative(one, place) != pytest.approx(before, abs=0.01)
    assert other.view == one.view
    reviewing.press(Key.Key_0)
    assert one.is_fitted
    assert other.is_fitted


def drag(desk: Desk, canvas: ImageCanvas, by: QPoint) -> None:
    """Drag from the centre."""
    middle = canvas.rect().center()
    desk.qtbot.mousePress(canvas, Qt.MouseButton.LeftButton, pos=middle)
    desk.qtbot.mouseMove(canvas, middle + by / 2)
    desk.qtbot.mouseMove(canvas, middle + by)
    desk.qtbot.mouseRelease(canvas, Qt.MouseButton.LeftButton, pos=middle + by)


@pytest.mark.slow
def test_l_unlocks_and_locks(reviewing: Desk) -> None:
    """Unlocked, each has its own view; locked again, all follow the framed one."""
    page = compared(reviewing, 2)
    one, other = (pane.canvas for pane in page.panes)
    reviewing.press(Key.Key_L)
    wheel(one, 3, QPointF(20, 20))
    assert other.is_fitted
    page.panes[0].setFocus()
    reviewing.press(Key.Key_L)
    assert other.view == one.view
    assert page.is_locked


@pytest.mark.slow
def test_arrows_move_what_is_zoomed_and_else_go_on(reviewing: Desk) -> None:
    """A fitted image goes to the next one instead; Z shows full resolution; Tab goes on."""
    page = compared(reviewing, 2)
    ids = page.image_ids
    reviewing.press(Key.Key_Left)
    assert page.current_id == ids[0]
    reviewing.press(Key.Key_Tab)
    assert page.current_id == ids[1]
    for _ in range(6):
        reviewing.press(Key.Key_Equal)
    before = page.panes[0].canvas.view
    reviewing.press(Key.Key_Right)
    assert page.panes[0].canvas.view.x > before.x
    assert page.current_id == ids[1]
    reviewing.press(Key.Key_Z)
    assert page.panes[1].canvas.is_fitted
    reviewing.press(Key.Key_Z)
    assert page.panes[1].canvas.scale == pytest.approx(1)


@pytest.mark.slow
def test_digits_label_the_framed_image_alone(reviewing: Desk) -> None:
    """By the digit of a class in the inspector; the next image is framed; one undo step each."""
    page = compared(reviewing, 3)
    ids = page.image_ids
    page.look_at(ids[0])
    reviewing.wait(lambda: not reviewing.window.inspector.is_waiting_for(ids[0]))
    assert reviewing.inspected == ids[0]
    second = reviewing.graph.name(reviewing.window.inspector.top_classes_of(ids[0])[1])
    reviewing.press(Key.Key_2)
    reviewing.wait(lambda: reviewing.label_of(ids[0]) == second)
    assert [reviewing.label_of(each) for each in ids[1:]] == ["", ""]
    assert second in page.panes[0].words
    assert page.current_id == reviewing.inspected == ids[1]
    reviewing.press_for_change(Key.Key_U)
    assert reviewing.label_of(ids[1]) == "?"
    best = reviewing.window.session.current_card.ranking(ids[2])
    assert best is not None
    reviewing.press_for_change(Key.Key_Return)
    assert reviewing.label_of(ids[2]) == reviewing.graph.name(best.headline)
    assert page.current_id == ids[2]
    reviewing.press_for_change(Key.Key_Z, CONTROL)
    reviewing.press_for_change(Key.Key_Z, CONTROL)
    assert [reviewing.label_of(each) for each in ids] == [second, "", ""]
    assert page.current_id == ids[1]


@pytest.mark.slow
def test_x_takes_the_label_of_the_framed_image(reviewing: Desk) -> None:
    """X removes it; a click frames another image."""
    page = compared(reviewing, 2)
    ids = page.image_ids
    reviewing.qtbot.mouseClick(page.panes[0].canvas, Qt.MouseButton.LeftButton)
    assert page.current_id == ids[0]
    reviewing.press_for_change(Key.Key_1)
    assert reviewing.label_of(ids[0])
    reviewing.press(Key.Key_Left)
    reviewing.press_for_change(Key.Key_X)
    assert reviewing.label_of(ids[0]) == ""


@pytest.mark.slow
def test_missing_and_unreadable_files_say_so(desk: Desk, collection: Collection) -> None:
    """Instead of the picture; the other images are compared as usual."""
    desk.open(collection.project)
    desk.wait(lambda: desk.window.session.is_settled)
    ids = desk.window.workspace.model.image_ids[:3].tolist()
    desk.state.path_of(ids[0]).unlink()
    desk.state.path_of(ids[1]).write_bytes(b"no picture at all")
    page = compared(desk, 3)
    assert [bool(pane.canvas.message) for pane in page.panes] == [True, True, False]
    wheel(page.panes[0].canvas, 3, QPointF(10, 10))
    assert page.panes[2].canvas.is_fitted
    wheel(page.panes[2].canvas, 3, QPointF(10, 10))
    assert not page.panes[2].canvas.is_fitted


@pytest.mark.slow
def test_a_removed_image_ends_the_comparison(reviewing: Desk) -> None:
    """The key removes the framed image; the grid is shown again."""
    page = compared(reviewing, 3)
    gone = page.current_id
    reviewing.press_for_change(Key.Key_Delete)
    assert gone not in reviewing.state.image_ids.tolist()
    assert reviewing.window.of(Comparing).page is None
    assert reviewing.window.workspace.content.currentWidget() is reviewing.grid


@pytest.mark.slow
def test_closing_the_project_ends_the_comparison(reviewing: Desk) -> None:
    """The comparison ends also while pictures are still being read."""
    reviewing.choose(0)
    reviewing.press(Key.Key_Right, SHIFT)
    reviewing.press(Key.Key_C)
    assert reviewing.window.of(Comparing).page is not None
    reviewing.press(Key.Key_W, CONTROL)
    reviewing.wait(lambda: reviewing.window.session.info is None)
    assert reviewing.window.of(Comparing).page is None


@pytest.mark.slow
def test_the_line_names_the_keys_in_use(reviewing: Desk) -> None:
    """A reassigned key labels, the old one does not, and the hint line is updated."""
    page = compared(reviewing, 2)
    assert "Enter, 1 to 9, R, U, X" in page.bar.text.text()
    keys_in_use().choose({"unknown": ("Q",)})
    assert "Enter, 1 to 9, R, Q, X" in page.bar.text.text()
    image_id = page.current_id
    reviewing.press(Key.Key_U)
    assert image_id is not None
    assert reviewing.label_of(image_id) == ""
    reviewing.press_for_change(Key.Key_Q)
    assert reviewing.label_of(image_id) == "?"


@pytest.mark.parametrize(
    ("count", "width", "height", "columns"),
    [
        (2, 800, 600, 2),
        (2, 400, 900, 1),
        (3, 1600, 500, 3),
        (3, 300, 900, 1),
        (4, 800, 700, 2),
        (4, 2000, 400, 4),
    ],
)
def test_images_are_laid_out_as_large_as_they_can_be(
    count: int, width: int, height: int, columns: int
) -> None:
    """Images are side by side in a wide area, one above the other in a narrow one."""
    assert columns_for(count, width, height, 40) == columns


@pytest.mark.parametrize(
    ("count", "columns", "cells"),
    [
        (3, 2, [(0, 0, 1, 1), (0, 1, 1, 1), (1, 0, 1, 2)]),
        (3, 1, [(0, 0, 1, 1), (1, 0, 1, 1), (2, 0, 1, 1)]),
        (4, 2, [(0, 0, 1, 1), (0, 1, 1, 1), (1, 0, 1, 1), (1, 1, 1, 1)]),
    ],
)
def test_the_last_image_fills_its_row(
    count: int, columns: int, cells: list[tuple[int, ...]]
) -> None:
    assert [cell_of(place, count, columns) for place in range(count)] == cells


@pytest.mark.slow
def test_three_images_fill_the_page(reviewing: Desk) -> None:
    """The page is covered; a file name does not touch the label below its picture."""
    page = compared(reviewing, 3)
    QApplication.processEvents()
    panes = [pane.geometry() for pane in page.panes]
    inner = panes[0].united(panes[1]).united(panes[2])
    gap = tokens().spacing.small
    assert (
        sum(pane.width() * pane.height() for pane in panes) >= 0.95 * inner.width() * inner.height()
    )
    assert (
        max(pane.right() for pane in panes) - min(pane.left() for pane in panes)
        >= page.width() - 5 * gap
    )
    name, label = (
        next(each for each in page.panes[0].findChildren(QLabel) if each.text().startswith(words))
        for words in (
            page.panes[0].accessibleName().partition(":")[0],
            reviewing.best_of(page.image_ids[0]),
        )
    )
    assert label.y() - name.geometry().bottom() >= tokens().spacing.tiny
