"""What the last key did stands in the status line, with the way back."""

from PySide6.QtCore import Qt

from app.status.label_mark import LabelMark
from tests.support.desk import CONTROL, Desk
from tests.support.widgets import button

Key = Qt.Key


def mark_of(desk: Desk) -> LabelMark:
    """The words in the status line of the window."""
    (mark,) = desk.window.findChildren(LabelMark)
    return mark


def test_each_key_says_what_it_did(reviewing: Desk) -> None:
    """The class, and how many are left; also where the image left the view."""
    mark = mark_of(reviewing)
    assert mark.text == ""
    name = reviewing.best_of(reviewing.choose(3))
    reviewing.press_for_change(Key.Key_1)
    assert mark.text == f"Labelled {name}  ·  39 to review"
    reviewing.press_for_change(Key.Key_U)
    assert mark.text == "Labelled as none of the classes  ·  38 to review"


def test_undo_beside_it_takes_the_label_back(reviewing: Desk) -> None:
    """One click; then there is nothing more to say."""
    mark = mark_of(reviewing)
    image_id = reviewing.choose(3)
    reviewing.press_for_change(Key.Key_1)
    reviewing.qtbot.mouseClick(button(mark, "Undo"), Qt.MouseButton.LeftButton)
    reviewing.wait(lambda: mark.text == "")
    assert reviewing.label_of(image_id) == ""


def test_many_images_are_answered_in_the_toast(reviewing: Desk) -> None:
    """The line is about one image; it says nothing that is not so any more."""
    reviewing.choose(3)
    reviewing.press_for_change(Key.Key_1)
    reviewing.choose(0)
    reviewing.press(Key.Key_A, CONTROL)
    reviewing.press_for_change(Key.Key_U)
    assert mark_of(reviewing).text == ""
