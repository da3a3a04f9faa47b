"""Mouse interaction of a map: drag to pan, wheel to zoom, Shift+drag to select, clicks."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final, final

import numpy as np
from PySide6.QtCore import QEvent, QObject, QPointF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QApplication

if TYPE_CHECKING:
    from app.map.canvas import MapCanvas
    from engine.arrays import Flags

WHEEL_UNITS: Final = 120.0  # `QWheelEvent.angleDelta` of one notch
WHEEL_STEP: Final = 1.25  # zoom factor per notch
_NEAR: Final = 3.0  # pixels between two corners of a lasso
_SHIFT, _CONTROL, _ALT = (
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.AltModifier,
)


class Tool(StrEnum):
    """Effect of dragging with the left button."""

    MOVE = "move"
    LASSO = "lasso"
    RECTANGLE = "rectangle"


@final
class MapPointer(QObject):
    """Event filter of a canvas."""

    clicked = Signal(int)  # row of a point
    opened = Signal(int)  # row of a double-clicked point
    hovered = Signal(int)  # row, or -1 for none
    tool_changed = Signal(str)

    def __init__(self, canvas: MapCanvas) -> None:
        super().__init__(canvas)
        self._canvas = canvas
        self.tool = Tool.MOVE
        self._pressed: QPointF | None = None
        self._last = QPointF()
        self._outlines: Tool | None = None
        self._moves = self._has_space = False
        self._acts = {
            QEvent.Type.MouseButtonPress: self._on_press,
            QEvent.Type.MouseMove: self._on_move,
            QEvent.Type.MouseButtonRelease: self._on_release,
            QEvent.Type.MouseButtonDblClick: self._on_double_click,
        }
        canvas.installEventFilter(self)

    def use(self, tool: Tool) -> None:
        if tool is not self.tool:
            self.tool = tool
            self._show_cursor()
            self.tool_changed.emit(tool.value)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Handle events of the canvas; True if consumed."""
        if isinstance(event, QMouseEvent) and event.type() in self._acts:
            return self._acts[event.type()](event)
        if isinstance(event, QWheelEvent):
            self._canvas.zoom(
                WHEEL_STEP ** (event.angleDelta().y() / WHEEL_UNITS), event.position()
            )
            event.accept()
            return True
        if (
            isinstance(event, QKeyEvent)
            and event.key() == Qt.Key.Key_Space
            and not event.isAutoRepeat()
        ):
            self._has_space = event.type() == QEvent.Type.KeyPress
            self._show_cursor()
            return True
        if event.type() == QEvent.Type.Leave:
            self._hover(None)
        return False

    def give_up(self) -> bool:
        """Cancel a lasso being drawn; False if there is none."""
        was_drawing = self._outlines is not None
        self._outlines, self._pressed, self._moves = None, None, False
        self._canvas.outline = ()
        self._canvas.update()
        return was_drawing

    def _on_press(self, event: QMouseEvent) -> bool:
        if event.button() not in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            return False
        self._canvas.setFocus(Qt.FocusReason.MouseFocusReason)
        self._pressed = self._last = event.position()
        self._moves = event.button() == Qt.MouseButton.MiddleButton
        is_left = event.button() == Qt.MouseButton.LeftButton
        self._outlines = None
        if is_left and not self._has_space:
            if self.tool is not Tool.MOVE:
                self._outlines = self.tool
            elif event.modifiers() & _SHIFT:
                self._outlines = Tool.LASSO
        return True

    def _on_move(self, event: QMouseEvent) -> bool:
        at = event.position()
        if self._pressed is None:
            self._hover(self._canvas.row_at(at))
            return False
        if (
            not self._moves
            and (at - self._pressed).manhattanLength() < QApplication.startDragDistance() // 2
        ):
            return True
        self._moves = True
        self._hover(None)
        if self._outlines is not None:
            self._draw_to(at)
        else:
            self._canvas.setCursor(Qt.CursorShape.ClosedHandCursor)
            self._canvas.pan(at.x() - self._last.x(), at.y() - self._last.y())
        self._last = at
        return True

    def _draw_to(self, at: QPointF) -> None:
        canvas, start = self._canvas, self._pressed
        assert start is not None
        if self._outlines is Tool.RECTANGLE:
            canvas.outline = (start, QPointF(at.x(), start.y()), at, QPointF(start.x(), at.y()))
        elif not canvas.outline or (at - canvas.outline[-1]).manhattanLength() >= _NEAR:
            canvas.outline = [*(canvas.outline or [start]), at]
        canvas.update()

    def _on_release(self, event: QMouseEvent) -> bool:
        if self._pressed is None:
            return False
        if self._outlines is not None and self._moves:
            corners = [self._canvas.place_at(each) for each in self._canvas.outline]
            self._select(self._canvas.scene.points.enclosed(corners), event.modifiers())
        elif not self._moves:
            self._click(event)
        self.give_up()
        self._show_cursor()
        return True

    def _click(self, event: QMouseEvent) -> None:
        row = self._canvas.row_at(event.position())
        if row is None:
            if not event.modifiers() & (_CONTROL | _ALT):
                self._canvas.choose(np.zeros(len(self._canvas.scene.points), dtype=bool))
            return
        wanted = np.zeros(len(self._canvas.scene.points), dtype=bool)
        wanted[row] = True
        if event.modifiers() & _CONTROL and self._canvas.chosen[row]:
            self._select(wanted, _ALT)
        else:
            self._select(wanted, event.modifiers())
        self.clicked.emit(row)

    def _on_double_click(self, event: QMouseEvent) -> bool:
        row = self._canvas.row_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and row is not None:
            self.opened.emit(row)
        return True

    def _select(self, wanted: Flags, keys: Qt.KeyboardModifier) -> None:
        """Select points; Ctrl adds them to the selection, Alt removes them."""
        chosen = self._canvas.chosen
        if keys & _ALT:
            self._canvas.choose(chosen & ~wanted)
        elif keys & _CONTROL:
            self._canvas.choose(chosen | wanted)
        else:
            self._canvas.choose(wanted)

    def _hover(self, row: int | None) -> None:
        if row != self._canvas.hovered:
            self._canvas.hovered = row
            self._canvas.update()
            self.hovered.emit(-1 if row is None else row)

    def _show_cursor(self) -> None:
        if self._has_space:
            self._canvas.setCursor(Qt.CursorShape.OpenHandCursor)
        elif self.tool is Tool.MOVE:
            self._canvas.unsetCursor()
        else:
            self._canvas.setCursor(Qt.CursorShape.CrossCursor)
