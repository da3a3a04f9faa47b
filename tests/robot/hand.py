"""Mouse and keyboard at human speed, through the X server."""

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, final

from Xlib import XK, X
from Xlib.ext import xtest

from tests.robot.eyes import Eyes

Point = tuple[int, int]

PIXELS_A_SECOND = 3000
STEP_S = 0.008
LEFT = 1
RIGHT = 3
WHEEL_UP = 4
WHEEL_DOWN = 5
TYPING_A_SECOND = 40.0
DOUBLE_CLICK_S = 0.08
FROM_MOUSE_TO_KEYS_S = 0.12
"""Delay between click and key: window managers handle a click first, so a key could overtake it."""
DRAG_STARTS_AT = 16

_KEYSYMS = {
    "Ctrl": "Control_L",
    "Shift": "Shift_L",
    "Alt": "Alt_L",
    "Enter": "Return",
    "Esc": "Escape",
    "Del": "Delete",
    "Space": "space",
    "Backspace": "BackSpace",
    "PageDown": "Next",
    "PageUp": "Prior",
}
_NAMED = {
    " ": "space",
    "/": "slash",
    ".": "period",
    "-": "minus",
    "_": "underscore",
    ",": "comma",
    "?": "question",
    "+": "plus",
    "=": "equal",
    "(": "parenleft",
    ")": "parenright",
}
_SHIFTED = frozenset('~!@#$%^&*()_+{}|:"<>?')


@final
class Hand:
    """Send mouse and keyboard input.

    Args:
        eyes: of the display.
    """

    def __init__(self, eyes: Eyes) -> None:
        self._display = eyes.connection
        self._root = eyes.connection.screen().root

    # -- mouse

    @property
    def place(self) -> Point:
        """Position of the pointer."""
        at = self._root.query_pointer()
        return at.root_x, at.root_y

    def move_to(self, point: Point, pixels_a_second: float = PIXELS_A_SECOND) -> None:
        """Move the pointer along a straight line."""
        (left, top), (right, bottom) = self.place, point
        distance = max(abs(right - left), abs(bottom - top))
        steps = max(1, round(distance / pixels_a_second / STEP_S))
        for step in _paced(range(1, steps + 1), 1 / STEP_S):
            x = left + (right - left) * step // steps
            y = top + (bottom - top) * step // steps
            xtest.fake_input(self._display, X.MotionNotify, x=x, y=y)
            self._display.sync()

    def press(self, button: int = LEFT) -> None:
        """Press a mouse button."""
        self._input(X.ButtonPress, button)

    def release(self, button: int = LEFT) -> None:
        """Release a mouse button."""
        self._input(X.ButtonRelease, button)

    def click(self, point: Point, button: int = LEFT) -> None:
        """Move to a point and click."""
        self.move_to(point)
        self.press(button)
        self.release(button)
        time.sleep(FROM_MOUSE_TO_KEYS_S)

    def double_click(self, point: Point) -> None:
        """Move to a point and double click."""
        self.move_to(point)
        for pause_s in (DOUBLE_CLICK_S, FROM_MOUSE_TO_KEYS_S):
            self.press()
            self.release()
            time.sleep(pause_s)

    def pick_up(self, point: Point) -> None:
        """Press at a point and move until a drag starts."""
        self.move_to(point)
        self.press()
        self.move_to(
            (point[0] + DRAG_STARTS_AT, point[1] + DRAG_STARTS_AT // 2), PIXELS_A_SECOND / 6
        )

    def wheel(self, clicks: int) -> None:
        """Turn the wheel at the pointer; positive is down."""
        button = WHEEL_DOWN if clicks > 0 else WHEEL_UP
        for _ in _paced(range(abs(clicks)), 60):
            self.press(button)
            self.release(button)

    # -- keys

    def key(self, name: str) -> None:
        """Press and release a key with its modifiers, such as "Ctrl+Shift+Z"."""
        self.key_down(name)
        self.key_up(name)

    def key_down(self, name: str) -> None:
        """Press a key with its modifiers."""
        for code in self._codes(name):
            self._input(X.KeyPress, code)

    def key_up(self, name: str) -> None:
        """Release a key with its modifiers."""
        for code in reversed(self._codes(name)):
            self._input(X.KeyRelease, code)

    @contextmanager
    def holding(self, name: str) -> Iterator[None]:
        """Hold a key down in the `with` block."""
        self.key_down(name)
        try:
            yield
        finally:
            self.key_up(name)

    def keys(self, names: Iterable[str], a_second: float) -> None:
        """Press keys one after another at a constant rate."""
        for name in _paced(names, a_second):
            self.key(name)

    def type(self, text: str) -> None:
        """Type a text."""
        self.keys(
            (f"Shift+{letter}" if _is_shifted(letter) else letter for letter in text),
            TYPING_A_SECOND,
        )

    def _codes(self, name: str) -> list[int]:
        *modifiers, key = name.split("+") if len(name) > 1 and not name.endswith("++") else [name]
        return [self._code(part) for part in (*modifiers, key)]

    def _code(self, name: str) -> int:
        symbol = _KEYSYMS.get(name) or _NAMED.get(name) or name
        number = XK.string_to_keysym(symbol)
        assert number, f"no key “{name}”"
        return self._display.keysym_to_keycode(number)

    def _input(self, kind: int, detail: int) -> None:
        xtest.fake_input(self._display, kind, detail)
        self._display.sync()


def _is_shifted(letter: str) -> bool:
    return letter.isupper() or letter in _SHIFTED


def _paced(items: Iterable[str] | range, a_second: float) -> Iterator[Any]:
    """Yield items at a constant rate."""
    start = time.monotonic()
    for count, item in enumerate(items):
        wait = start + count / a_second - time.monotonic()
        if wait > 0:
            time.sleep(wait)
        yield item
