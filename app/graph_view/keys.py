"""Keyboard control of the drawing."""

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent

from app.graph_view.drawing import CARD_HEIGHT, Drawing, first_row
from app.graph_view.sheet import GraphSheet

Key = Qt.Key
PUSH = 80.0  # logical pixels per Ctrl+arrow
# Direction right and down, in logical pixels.
_PUSHES = {
    Key.Key_Up: (0.0, PUSH),
    Key.Key_Down: (0.0, -PUSH),
    Key.Key_Left: (PUSH, 0.0),
    Key.Key_Right: (-PUSH, 0.0),
}


def next_row(drawing: Drawing, row: int, arrow: Qt.Key) -> int | None:
    """The class in the direction of an arrow key; None if there is none."""
    if arrow in (Key.Key_Left, Key.Key_Right):
        return _neighbour(drawing, row, is_left=arrow == Key.Key_Left)
    here, there = (
        (drawing.children, drawing.parents)
        if arrow == Key.Key_Up
        else (drawing.parents, drawing.children)
    )
    rows = there[here == row]
    across, along = np.abs(drawing.centres[rows] - drawing.centres[row]).T
    return int(rows[np.lexsort((across, along))[0]]) if len(rows) else None


def _neighbour(drawing: Drawing, row: int, *, is_left: bool) -> int | None:
    """The next class in the same row, whatever its parent."""
    across, along = (drawing.centres - drawing.centres[row]).T
    across = -across if is_left else across
    found = np.flatnonzero((across > 1) & (np.abs(along) < CARD_HEIGHT / 2))
    return int(found[np.argmin(across[found])]) if len(found) else None


def press_key(canvas: GraphSheet, event: QKeyEvent) -> bool:
    """Handle a key; False if it has no meaning here."""
    key, keys = Key(event.key()), event.modifiers()
    if keys & Qt.KeyboardModifier.ControlModifier:
        return _press_with_control(canvas, key)
    if key in _PUSHES:
        _walk(canvas, key, is_adding=bool(keys & Qt.KeyboardModifier.ShiftModifier))
    elif key in (Key.Key_Home, Key.Key_F):
        canvas.fit()
    elif key == Key.Key_Insert:
        canvas.requests.create_requested.emit(canvas.chosen.current)
    elif key == Key.Key_Escape:
        return _press_escape(canvas)
    else:
        return _press_on_class(canvas, key)
    return True


def _press_with_control(canvas: GraphSheet, key: Qt.Key) -> bool:
    if key == Key.Key_A:
        canvas.chosen.choose_all(canvas.drawing.ids.tolist())
    elif key in _PUSHES:
        canvas.pan(*_PUSHES[key])
    else:
        return False
    return True


def _press_escape(canvas: GraphSheet) -> bool:
    """Reduce a multiple selection to the current class, then leave the focus."""
    if len(canvas.chosen.ids) > 1:
        canvas.chosen.choose(canvas.chosen.current)
    elif canvas.model.focus is not None:
        canvas.focus_requested.emit(None)
    else:
        return False
    return True


def _press_on_class(canvas: GraphSheet, key: Qt.Key) -> bool:
    current, row = canvas.chosen.current, canvas.current_row
    if current is None:
        return False
    if key in (Key.Key_Return, Key.Key_Enter):
        canvas.requests.images_requested.emit(current)
    elif key == Key.Key_Delete:
        canvas.requests.remove_requested.emit(canvas.chosen.ids)
    elif key in (Key.Key_Plus, Key.Key_Equal, Key.Key_Minus):
        if row is not None and bool(canvas.drawing.hidden[row]) is (key != Key.Key_Minus):
            canvas.opened.emit(current)
    else:
        return False
    return True


def _walk(canvas: GraphSheet, arrow: Qt.Key, *, is_adding: bool) -> None:
    drawing, row = canvas.drawing, canvas.current_row
    following = first_row(drawing) if row is None else next_row(drawing, row, arrow)
    if following is None:
        return
    class_id = int(drawing.ids[following])
    if is_adding and class_id not in canvas.chosen:
        canvas.chosen.toggle(class_id)
    else:
        canvas.chosen.choose(class_id)
    canvas.show_class(class_id)
