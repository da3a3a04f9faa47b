"""What keys do in the drawing."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent

from app.graph_view.drawing import CARD_HEIGHT, Drawing

if TYPE_CHECKING:
    from app.graph_view.pointer import GraphPointer
    from app.graph_view.sheet import GraphSheet


class Heading(Enum):
    """A direction to walk in."""

    UP = "up"
    DOWN = "down"
    LEFT = "left"
    RIGHT = "right"


def next_row(drawing: Drawing, row: int, way: Heading) -> int | None:
    """The class that an arrow leads to; None where there is nothing."""
    if way is Heading.UP:
        return _nearest(drawing, row, drawing.parents[drawing.children == row].tolist())
    if way is Heading.DOWN:
        return _nearest(drawing, row, drawing.children[drawing.parents == row].tolist())
    return _beside(drawing, row, way)


def first_row(drawing: Drawing) -> int | None:
    """Where walking begins: the topmost class, the left one of several."""
    if not len(drawing):
        return None
    return int(np.lexsort((drawing.centres[:, 0], drawing.centres[:, 1]))[0])


def _nearest(drawing: Drawing, row: int, rows: list[int]) -> int | None:
    """Of several classes the one that stands nearest across, then nearest along."""
    x, y = drawing.centres[row].tolist()

    def far(other: int) -> tuple[float, float]:
        other_x, other_y = drawing.centres[other].tolist()
        return abs(other_y - y), abs(other_x - x)

    return min(rows, key=far, default=None)


def _beside(drawing: Drawing, row: int, way: Heading) -> int | None:
    """The next class in the same line: a sibling first of all, as it stands there."""
    x, y = drawing.centres[row].tolist()
    across, along = drawing.centres[:, 0] - x, np.abs(drawing.centres[:, 1] - y)
    if way is Heading.LEFT:
        across = -across
    found = np.flatnonzero((across > 1) & (along < CARD_HEIGHT / 2))
    return int(found[np.argmin(across[found])]) if len(found) else None


_WAYS: Final = {
    Qt.Key.Key_Up: Heading.UP,
    Qt.Key.Key_Down: Heading.DOWN,
    Qt.Key.Key_Left: Heading.LEFT,
    Qt.Key.Key_Right: Heading.RIGHT,
}
PUSH: Final = 80.0  # logical pixels that the drawing goes with Ctrl and an arrow
# Right and down, in logical pixels.
_PUSHES: Final = {
    Qt.Key.Key_Up: (0.0, PUSH),
    Qt.Key.Key_Down: (0.0, -PUSH),
    Qt.Key.Key_Left: (PUSH, 0.0),
    Qt.Key.Key_Right: (-PUSH, 0.0),
}


def press_key(canvas: GraphSheet, pointer: GraphPointer, event: QKeyEvent) -> bool:
    """Do what a key means; whether it means anything."""
    key, keys = Qt.Key(event.key()), event.modifiers()
    if keys & Qt.KeyboardModifier.ControlModifier:
        return _press_with_control(canvas, key)
    if key in _WAYS:
        _walk(canvas, _WAYS[key], is_adding=bool(keys & Qt.KeyboardModifier.ShiftModifier))
        return True
    if key == Qt.Key.Key_Delete and pointer.edges.chosen is not None:
        parent_id, child_id = pointer.edges.chosen
        canvas.unlink_requested.emit(((child_id, parent_id),))
        return True
    return _press_space(pointer, event) or _press_general(canvas, key) or _press_on_class(canvas, key)


def _press_with_control(canvas: GraphSheet, key: Qt.Key) -> bool:
    if key == Qt.Key.Key_A:
        canvas.chosen.choose_all(canvas.drawing.ids.tolist())
    elif key in _PUSHES:
        canvas.viewport.push(*_PUSHES[key])
    else:
        return False
    return True


def _press_space(pointer: GraphPointer, event: QKeyEvent) -> bool:
    if event.key() != Qt.Key.Key_Space:
        return False
    if not event.isAutoRepeat():
        pointer.hold_space()
    return True


def _press_general(canvas: GraphSheet, key: Qt.Key) -> bool:
    if key in (Qt.Key.Key_Home, Qt.Key.Key_F):
        canvas.fit()
    elif key == Qt.Key.Key_Insert:
        canvas.create_requested.emit(canvas.chosen.current)
    elif key == Qt.Key.Key_Escape:
        return _press_escape(canvas)
    else:
        return False
    return True


def _press_escape(canvas: GraphSheet) -> bool:
    """Let go of several classes, then leave the focus."""
    if len(canvas.chosen.ids) > 1:
        canvas.chosen.choose(canvas.chosen.current)
        return True
    if canvas.model.focus is not None:
        canvas.focus_requested.emit(None)
        return True
    return False


def _press_on_class(canvas: GraphSheet, key: Qt.Key) -> bool:
    """Keys that need a current class."""
    current = canvas.chosen.current
    if current is None:
        return False
    if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
        canvas.images_requested.emit(current)
    elif key == Qt.Key.Key_Delete:
        canvas.remove_requested.emit(canvas.chosen.ids)
    elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal, Qt.Key.Key_Minus):
        _open(canvas, current, is_wanted=key != Qt.Key.Key_Minus)
    else:
        return False
    return True


def _open(canvas: GraphSheet, class_id: int, *, is_wanted: bool) -> None:
    row = canvas.drawing.row_of(class_id)
    if row is not None and bool(canvas.drawing.hidden[row]) is is_wanted:
        canvas.opened.emit(class_id)


def _walk(canvas: GraphSheet, way: Heading, *, is_adding: bool) -> None:
    current = canvas.chosen.current
    row = None if current is None else canvas.drawing.row_of(current)
    following = first_row(canvas.drawing) if row is None else next_row(canvas.drawing, row, way)
    if following is None:
        return
    class_id = int(canvas.drawing.ids[following])
    if is_adding and class_id not in canvas.chosen:
        canvas.chosen.toggle(class_id)
    else:
        canvas.chosen.choose(class_id)
    canvas.show_class(class_id)
