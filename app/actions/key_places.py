"""Keys by their position on the keyboard.

On layouts such as French, Belgian, Czech, Slovak and Lithuanian the digit row gives digits only
with Shift, and brackets have other positions. There, a key counts as the digit or bracket that a US
keyboard has in its position.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent

Key = Qt.Key

# In the order of the digit row.
_DIGITS = tuple(Key(Key.Key_0 + digit) for digit in (1, 2, 3, 4, 5, 6, 7, 8, 9, 0))
_BRACKETS = (Key.Key_BracketLeft, Key.Key_BracketRight)
_MAC_DIGITS = (
    18,
    19,
    20,
    21,
    23,
    22,
    26,
    28,
    25,
    29,
)  # virtual key codes, kVK_ANSI_1 and following


def _places(digits: tuple[int, ...], brackets: tuple[int, int]) -> Mapping[int, Qt.Key]:
    return dict(zip((*digits, *brackets), (*_DIGITS, *_BRACKETS), strict=True))


_ALT_GR_BITS = {"win32": 0x40, "darwin": 0}.get(sys.platform, 0x80)
"""Native modifiers: the right Alt key of Windows, level 3 (Mod5) of X11 and Wayland; none of
macOS."""
# Scan codes on Windows, virtual key codes on macOS, else XKB key codes.
_KEY_AT = {
    "win32": _places(tuple(range(2, 12)), (26, 27)),  # scan codes
    "darwin": _places(_MAC_DIGITS, (33, 30)),
}.get(sys.platform, _places(tuple(range(10, 20)), (34, 35)))


def digit_by_place(event: QKeyEvent) -> Qt.Key | None:
    """The digit of a key of the digit row that gives another character; None for any other key.

    With Shift the character counts: `!` on a US keyboard is not 1.
    """
    place = _key_at(event)
    is_shifted = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
    return None if place not in _DIGITS or is_shifted or event.key() in _DIGITS else place


def bracket_by_place(event: QKeyEvent) -> Qt.Key | None:
    """The bracket of a key right of P on a US keyboard; None for any other key."""
    place = _key_at(event)
    return place if place in _BRACKETS else None


def is_shifted_digit(event: QKeyEvent) -> bool:
    """Whether the key is in the digit row, and gives its digit only with Shift on this layout."""
    is_digit = event.key() in _DIGITS and _key_at(event) in _DIGITS
    return is_digit and bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)


def _key_at(event: QKeyEvent) -> Qt.Key | None:
    """The US key in the position of a key.

    None for the keypad, with AltGr, and for keys other than digits and brackets.
    """
    is_alt_gr = (
        event.nativeModifiers() & _ALT_GR_BITS
        or event.modifiers() & Qt.KeyboardModifier.GroupSwitchModifier
    )
    if is_alt_gr or event.modifiers() & Qt.KeyboardModifier.KeypadModifier:
        return None
    return _KEY_AT.get(
        event.nativeVirtualKey() if sys.platform == "darwin" else event.nativeScanCode()
    )
