"""Keys by physical position, for layouts whose digit row needs Shift."""

import sys

import pytest
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QLineEdit

from app.actions.key_places import bracket_by_place, digit_by_place, is_shifted_digit
from app.actions.page_keys import PageKey, PageKeys
from tests.support.desk import CONTROL, SHIFT, Desk
from tests.support.sessions import changed_by

Key = Qt.Key
NONE = Qt.KeyboardModifier.NoModifier
FIRST, SECOND, SIXTH, LEFT_BRACKET, RIGHT_BRACKET = 10, 11, 15, 34, 35  # XKB key codes
ALT_GR = 0x80

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="the codes are those of X11 and Wayland"
)


def pressed(
    key: Qt.Key, code: int, text: str, keys: Qt.KeyboardModifier = NONE, *, native: int = 0
) -> QKeyEvent:
    """A key event as the system reports it."""
    return QKeyEvent(QKeyEvent.Type.KeyPress, key, keys, code, 0, native, text)


@pytest.mark.parametrize(
    ("event", "digit"),
    [
        (pressed(Key.Key_Ampersand, FIRST, "&"), Key.Key_1),  # French and Belgian
        (pressed(Key.Key_Eacute, SECOND, "é"), Key.Key_2),
        (pressed(Key.Key_Plus, FIRST, "+"), Key.Key_1),  # Czech and Slovak
        (pressed(Key.Key_Agrave, 19, "à"), Key.Key_0),
        (pressed(Key.Key_Ampersand, FIRST, "&", CONTROL), Key.Key_1),
        (pressed(Key.Key_1, FIRST, "1"), None),  # already a digit
        (pressed(Key.Key_Exclam, FIRST, "!", SHIFT), None),  # a US keyboard
        (pressed(Key.Key_BracketLeft, 14, "[", native=ALT_GR), None),  # AltGr of a French one
        (pressed(Key.Key_A, 38, "a"), None),
        (pressed(Key.Key_Plus, 86, "+", Qt.KeyboardModifier.KeypadModifier), None),
    ],
)
def test_the_digit_of_a_place(event: QKeyEvent, digit: Qt.Key | None) -> None:
    """A position means its digit only where the layout types another character without Shift."""
    assert digit_by_place(event) == digit


def test_brackets_and_shifted_digits() -> None:
    """A German layout has ü and + right of P; in a French one, Shift types the digits."""
    assert bracket_by_place(pressed(Key.Key_Udiaeresis, LEFT_BRACKET, "ü")) == Key.Key_BracketLeft
    assert bracket_by_place(pressed(Key.Key_P, 33, "p")) is None
    assert is_shifted_digit(pressed(Key.Key_1, FIRST, "1", SHIFT))
    assert not is_shifted_digit(pressed(Key.Key_1, FIRST, "1"))


def test_keys_of_a_page() -> None:
    """A digit by position precedes the character; a bracket by position follows it."""
    rows = (
        ("one", "1"),
        ("six", "6"),
        ("larger", "+"),
        ("smaller", "-"),
        ("left", "["),
        ("right", "]"),
    )
    keys = PageKeys("shelf", "Shelf", tuple(PageKey(name, name, key) for name, key in rows))
    done: list[str] = []
    acts = {name: lambda name=name: done.append(name) for name, _ in rows}
    for event in (
        pressed(Key.Key_Ampersand, FIRST, "&"),
        pressed(Key.Key_1, FIRST, "1", SHIFT),
        pressed(Key.Key_Minus, SIXTH, "-"),
        pressed(Key.Key_Plus, RIGHT_BRACKET, "+"),
        pressed(Key.Key_Udiaeresis, LEFT_BRACKET, "ü"),
        pressed(Key.Key_Dollar, RIGHT_BRACKET, "$"),
        pressed(Key.Key_BracketLeft, 14, "[", native=ALT_GR),
    ):
        assert keys.press(event, acts)
    assert done == ["one", "one", "six", "larger", "left", "right", "left"]
    without_digits = {"larger": acts["larger"]}
    # A Czech +, on a page without digit keys.
    assert keys.press(pressed(Key.Key_Plus, FIRST, "+"), without_digits)
    assert not keys.press(pressed(Key.Key_Eacute, SECOND, "é"), without_digits)


@pytest.mark.slow
def test_the_first_key_of_a_french_digit_row_labels(reviewing: Desk) -> None:
    """The key labels, with Ctrl it rates, and in a text field it types its character."""
    window = reviewing.window
    handle = window.windowHandle()
    handle.installEventFilter(window.registry)  # as when a window becomes active on a screen
    image_id = reviewing.choose(0)
    facts = window.inspector.image_facts
    assert facts is not None
    first = facts.tops[0].name
    change = changed_by(
        reviewing.qtbot,
        window.session,
        lambda: QCoreApplication.sendEvent(handle, pressed(Key.Key_Ampersand, FIRST, "&")),
    )
    assert change.labelled == (image_id,)
    assert reviewing.label_of(image_id) == first
    change = changed_by(
        reviewing.qtbot,
        window.session,
        lambda: QCoreApplication.sendEvent(handle, pressed(Key.Key_Eacute, SECOND, "é", CONTROL)),
    )
    assert change.text.endswith("2 stars")
    reviewing.press(Key.Key_F, CONTROL)
    reviewing.wait(lambda: isinstance(QApplication.focusWidget(), QLineEdit))
    assert not window.registry.eventFilter(handle, pressed(Key.Key_Ampersand, FIRST, "&"))
