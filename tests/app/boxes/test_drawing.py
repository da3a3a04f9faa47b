"""Boxes on the open image, drawn and edited by real mouse and key events."""

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest

from app.image_view.canvas import ImageCanvas
from app.image_view.view import BOX_STEP
from engine.collection.state import BOXED, EMPTY, NO_CLASS, ImageStatus
from engine.file_parts import BoundingBox, file_part
from tests.support.desk import SHIFT, Desk

pytestmark = pytest.mark.slow

Key = Qt.Key
ALT = Qt.KeyboardModifier.AltModifier
LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def opened(reviewing: Desk) -> Desk:
    """The first image to review, in the single view."""
    reviewing.choose(0)
    reviewing.press(Key.Key_Space)
    view = reviewing.window.workspace.image_view
    reviewing.wait(lambda: view.has_image)
    return reviewing


def canvas_of(desk: Desk) -> ImageCanvas:
    return desk.window.workspace.image_view.canvas


def at(desk: Desk, x: float, y: float) -> QPoint:
    """The canvas point at a share of the picture's width and height."""
    target = canvas_of(desk).target()
    return QPointF(target.left() + x * target.width(), target.top() + y * target.height()).toPoint()


def drag(
    desk: Desk,
    begin: tuple[float, float],
    end: tuple[float, float],
    keys: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier,
) -> None:
    """Press, move in steps, release."""
    canvas = canvas_of(desk)
    QTest.mousePress(canvas, LEFT, keys, at(desk, *begin))
    for step in range(1, 5):
        x, y = (begin[axis] + (end[axis] - begin[axis]) * step / 4 for axis in (0, 1))
        QTest.mouseMove(canvas, at(desk, x, y))
    QTest.mouseRelease(canvas, LEFT, keys, at(desk, *end))


def draw(desk: Desk, begin: tuple[float, float], end: tuple[float, float]) -> int:
    """Draw a box, and wait until it is the current image."""
    count = len(desk.state.image_ids)
    drag(desk, begin, end)
    desk.wait(lambda: len(desk.state.image_ids) == count + 1)
    box = int(desk.state.image_ids[-1])
    desk.wait(lambda: canvas_of(desk).boxes.current == box)
    return box


def box_of(desk: Desk, image_id: int) -> BoundingBox:
    box = file_part(desk.state.source_of(image_id).part).box
    assert box is not None
    return box


def label_code(desk: Desk, image_id: int) -> int:
    return int(desk.state.label_class[desk.state.position(image_id)])


def test_a_drag_draws_a_box_that_is_classified_and_labelled_by_a_key(opened: Desk) -> None:
    photo = opened.grid.current_id
    assert photo is not None
    box = draw(opened, (0.1, 0.2), (0.6, 0.8))
    assert box_of(opened, box) == pytest.approx((0.1, 0.2, 0.5, 0.6), abs=0.01)
    assert label_code(opened, photo) == BOXED
    opened.wait(
        lambda: (
            opened.state.status[-1] == ImageStatus.READY and opened.state.best_class[-1] != NO_CLASS
        )
    )
    opened.wait(lambda: canvas_of(opened).boxes.boxes[0].text.startswith(opened.best_of(box)))
    assert opened.window.workspace.active_images.current_id == box
    opened.wait(lambda: opened.inspected == box)
    best = opened.best_of(box)
    change = opened.press_for_change(Key.Key_1)
    assert change.labelled == (box,)
    assert opened.label_of(box) == best


def test_several_boxes_have_labels_of_their_own_and_tab_goes_through_them(opened: Desk) -> None:
    photo = opened.grid.current_id
    first = draw(opened, (0.05, 0.1), (0.3, 0.5))
    second = draw(opened, (0.6, 0.4), (0.95, 0.9))
    active_images = opened.window.workspace.active_images
    QTest.mouseClick(canvas_of(opened), LEFT, pos=at(opened, 0.5, 0.05))
    assert active_images.current_id == photo
    opened.press(Key.Key_Tab)
    assert active_images.current_id == first
    opened.press(Key.Key_Tab)
    assert active_images.current_id == second
    opened.press(Key.Key_Backtab, SHIFT)
    assert active_images.current_id == first
    opened.wait(lambda: opened.state.best_class[-2] != NO_CLASS)
    opened.press_for_change(Key.Key_U)
    assert active_images.current_id == second  # the next box without a label
    opened.press_for_change(Key.Key_E)
    assert (opened.label_of(first), label_code(opened, second)) == ("?", EMPTY)


def test_a_photo_stays_open_while_its_things_are_drawn_and_labelled(opened: Desk) -> None:
    """One box after another; a photo that already had boxes is left with its last label."""
    photo = canvas_of(opened).source
    for left in (0.05, 0.55):
        box = draw(opened, (left, 0.2), (left + 0.3, 0.8))
        opened.wait(lambda: opened.state.best_class[-1] != NO_CLASS)
        opened.press_for_change(Key.Key_U)
        assert opened.window.workspace.active_images.current_id == box
        assert canvas_of(opened).source == photo


def test_the_last_photo_to_review_stays_open_until_it_is_left(opened: Desk) -> None:
    """Its card leaves the grid with its first box; Esc shows that nothing is left to review."""
    workspace = opened.window.workspace
    others = [
        each
        for each in workspace.model.shown.at(slice(0, 99)).tolist()
        if each != opened.grid.current_id
    ]
    opened.window.session.label(others, EMPTY)
    opened.wait(lambda: opened.grid.model().rowCount() == 1)
    photo = canvas_of(opened).source
    draw(opened, (0.1, 0.2), (0.4, 0.8))
    opened.press_for_change(Key.Key_U)
    assert opened.grid.model().rowCount() == 0
    draw(opened, (0.5, 0.2), (0.9, 0.8))
    assert canvas_of(opened).source == photo
    opened.press_for_change(Key.Key_U)
    opened.press(Key.Key_Escape)
    opened.press(Key.Key_Escape)
    assert workspace.content.currentWidget() is workspace.empty


def test_a_box_is_moved_resized_and_taken_back(opened: Desk) -> None:
    box = draw(opened, (0.2, 0.2), (0.5, 0.5))
    drag(opened, (0.35, 0.35), (0.45, 0.4))
    opened.wait(lambda: box_of(opened, box) == pytest.approx((0.3, 0.25, 0.3, 0.3), abs=0.01))
    moved = box_of(opened, box)
    drag(opened, (moved.right, moved.bottom), (0.9, 0.8))
    opened.wait(lambda: box_of(opened, box) == pytest.approx((0.3, 0.25, 0.6, 0.55), abs=0.01))
    for _ in range(2):
        opened.window.registry.trigger("undo")
    opened.wait(lambda: box_of(opened, box) == pytest.approx((0.2, 0.2, 0.3, 0.3), abs=0.01))
    left, top, width, height = box_of(opened, box)
    opened.press_for_change(Key.Key_Right, ALT)
    assert box_of(opened, box) == pytest.approx(
        (left + BOX_STEP, top, width, height), abs=BOX_STEP / 10
    )
    opened.press_for_change(Key.Key_Down, ALT | SHIFT)
    expected = left + BOX_STEP, top, width, height + BOX_STEP
    assert box_of(opened, box) == pytest.approx(expected, abs=BOX_STEP / 10)


def test_a_box_is_removed_and_the_photo_is_reviewed_again(opened: Desk) -> None:
    photo = opened.grid.current_id
    assert photo is not None
    draw(opened, (0.2, 0.2), (0.5, 0.5))
    assert label_code(opened, photo) == BOXED
    change = opened.press_for_change(Key.Key_Delete)
    assert len(change.images_removed) == 1
    opened.wait(lambda: label_code(opened, photo) == NO_CLASS)
    assert canvas_of(opened).boxes.boxes == []


def test_a_box_comes_from_a_key_and_another_thing_from_plus(opened: Desk) -> None:
    count = len(opened.state.image_ids)
    opened.press(Key.Key_D)
    opened.wait(lambda: len(opened.state.image_ids) == count + 1)
    opened.press(Key.Key_Escape)
    assert opened.window.workspace.is_image_open
    opened.press(Key.Key_Plus)
    opened.wait(lambda: len(opened.state.image_ids) == count + 2)
    thing = int(opened.state.image_ids[-1])
    assert opened.state.source_of(thing).part == "thing=2"
    opened.wait(lambda: opened.state.best_class[-1] != NO_CLASS)
    opened.press_for_change(Key.Key_U)
    assert opened.label_of(thing) == "?"


def test_a_key_labels_nothing_until_a_new_thing_is_there(opened: Desk) -> None:
    """While a new box is being saved, a key would replace the label of the photo."""
    active_images = opened.window.workspace.active_images
    count = len(opened.state.image_ids)
    opened.press(Key.Key_Plus)
    assert active_images.chosen_ids == ()
    opened.press(Key.Key_U)
    opened.wait(
        lambda: len(opened.state.image_ids) == count + 1 and active_images.current_id is not None
    )
    assert active_images.current_id == opened.state.image_ids[-1]
    assert label_code(opened, int(opened.state.image_ids[-1])) == NO_CLASS


def test_turned_pictures_keep_their_boxes_in_place(opened: Desk) -> None:
    box = draw(opened, (0.1, 0.2), (0.4, 0.3))
    before = box_of(opened, box)
    for _ in range(4):
        opened.press(Key.Key_BracketRight)
        placed = canvas_of(opened).boxes.placed(before)
        found = canvas_of(opened).boxes.box_of(placed)
        assert found is not None
        assert tuple(found) == pytest.approx(tuple(before), abs=0.01)


def test_a_zoomed_picture_is_moved_and_drawn_on_with_shift(opened: Desk) -> None:
    count = len(opened.state.image_ids)
    for _ in range(6):
        opened.press(Key.Key_Equal)
    drag(opened, (0.5, 0.5), (0.6, 0.6))
    assert len(opened.state.image_ids) == count
    drag(opened, (0.45, 0.45), (0.55, 0.55), SHIFT)
    opened.wait(lambda: len(opened.state.image_ids) == count + 1)


def test_a_click_draws_nothing(opened: Desk) -> None:
    count = len(opened.state.image_ids)
    QTest.mouseClick(canvas_of(opened), LEFT, pos=at(opened, 0.5, 0.5))
    opened.wait(lambda: opened.window.session.is_settled)
    assert len(opened.state.image_ids) == count
