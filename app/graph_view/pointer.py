"""What the mouse does in the drawing: choose, push it, draw a rubber band, open a branch."""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING, Final, final

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QMouseEvent, QPainter
from PySide6.QtWidgets import QApplication

from app.graph_view.card import Detail, detail_at, foot_of
from app.graph_view.marks import paint_band, paint_ring
from app.theme.tokens import tokens

if TYPE_CHECKING:
    from app.graph_view.sheet import GraphSheet

_LEFT: Final = Qt.MouseButton.LeftButton
_MIDDLE: Final = Qt.MouseButton.MiddleButton


class _Doing(Enum):
    """What a pressed button does."""

    NOTHING = auto()
    WAITING = auto()  # on a class; it may become a drag
    PUSHING = auto()
    BANDING = auto()


@final
class GraphPointer:
    """Follows the mouse over a canvas.

    Attributes:
        band: the rubber band, while one is drawn.
        hovered: row of the class under the pointer.
    """

    def __init__(self, canvas: GraphSheet) -> None:
        self._canvas = canvas
        self._doing = _Doing.NOTHING
        self._start = self._last = QPointF()
        self._kept: tuple[int, ...] = ()
        self._is_space_down = self._has_pushed = False
        self.band: QRectF | None = None
        self.hovered: int | None = None

    # -- buttons

    def press(self, event: QMouseEvent) -> None:
        """Begin something."""
        self._start = self._last = event.position()
        self._canvas.setFocus(Qt.FocusReason.MouseFocusReason)
        row = self._canvas.row_at(event.position())
        if event.button() == _MIDDLE or (event.button() == _LEFT and self._is_space_down):
            self._begin_pushing()
        elif event.button() == _LEFT and row is not None:
            self._press_class(row, event)
        elif event.button() == _LEFT:
            self._doing = _Doing.BANDING
            self._kept = self._canvas.chosen.ids if is_adding(event) else ()
        elif event.button() == Qt.MouseButton.RightButton and row is not None:
            class_id = int(self._canvas.drawing.ids[row])
            if class_id not in self._canvas.chosen:
                self._canvas.chosen.choose(class_id)

    def _press_class(self, row: int, event: QMouseEvent) -> None:
        class_id, canvas = int(self._canvas.drawing.ids[row]), self._canvas
        if self._is_on_foot(row, event.position()):
            canvas.chosen.choose(class_id)
            canvas.opened.emit(class_id)
            return
        self._doing = _Doing.WAITING
        if is_adding(event):
            canvas.chosen.toggle(class_id)
        elif class_id not in canvas.chosen:
            canvas.chosen.choose(class_id)

    def press_twice(self, event: QMouseEvent) -> None:
        """Open or close a branch."""
        class_id = self._canvas.class_at(event.position())
        if event.button() == _LEFT and class_id is not None and not is_adding(event):
            self._canvas.opened.emit(class_id)
        else:
            self.press(event)

    def move(self, event: QMouseEvent) -> None:
        """Go on with what the press began, or light what is under the pointer."""
        place = event.position()
        if self._doing is _Doing.PUSHING:
            step = place - self._last
            self._has_pushed = True
            self._canvas.sight.push(step.x(), step.y())
        elif self._doing is _Doing.BANDING:
            self._stretch_band(place)
        elif self._doing is _Doing.NOTHING:
            self._hover(place)
        self._last = place

    def release(self, event: QMouseEvent) -> None:
        """End it."""
        canvas, was = self._canvas, self._doing
        self._doing = _Doing.NOTHING
        if was is _Doing.PUSHING:
            self._show_hand()
        elif was is _Doing.BANDING and self.band is None and not self._kept:
            canvas.chosen.choose(None)
        elif was is _Doing.WAITING and not is_adding(event):
            canvas.chosen.choose(canvas.class_at(self._start))
        self.band = None
        canvas.update()

    def leave(self) -> None:
        """The pointer went elsewhere."""
        self._light(None)

    # -- Space

    def hold_space(self) -> None:
        """From now on the left button pushes the drawing."""
        self._is_space_down, self._has_pushed = True, False
        self._show_hand()

    def let_space_go(self) -> None:
        """Open or close the current branch, unless the drawing was pushed meanwhile."""
        is_press = self._is_space_down and not self._has_pushed
        self._is_space_down = False
        self._show_hand()
        if is_press and self._canvas.chosen.current is not None:
            self._canvas.opened.emit(self._canvas.chosen.current)

    # -- inside

    def _begin_pushing(self) -> None:
        self._doing = _Doing.PUSHING
        self._canvas.setCursor(Qt.CursorShape.ClosedHandCursor)

    def _show_hand(self) -> None:
        if self._is_space_down:
            self._canvas.setCursor(Qt.CursorShape.OpenHandCursor)
        else:
            self._canvas.unsetCursor()

    def _stretch_band(self, place: QPointF) -> None:
        if self.band is None and not has_gone(self._start, place):
            return
        self.band = QRectF(self._start, place).normalized()
        ids = self._canvas.drawing.ids
        self._canvas.chosen.choose_all((int(ids[row]) for row in self._canvas.rows_in(self.band)), also=self._kept)
        self._canvas.update()

    def _is_on_foot(self, row: int, place: QPointF) -> bool:
        """Whether a place is on the line of a card that opens and closes its branch."""
        canvas = self._canvas
        look = canvas.look(row)
        if not (look.hidden or look.is_open) or detail_at(canvas.sight.camera.scale) is not Detail.NAMED:
            return False
        foot = foot_of(canvas.rect_of(row)).adjusted(0, -2, 0, 2)
        if not look.hidden:
            foot.setLeft(foot.right() - 2 * foot.height())
        return foot.contains(place)

    def _hover(self, place: QPointF) -> None:
        row = self._canvas.row_at(place)
        self._light(row)
        if not self._is_space_down:
            is_foot = row is not None and self._is_on_foot(row, place)
            self._canvas.setCursor(Qt.CursorShape.PointingHandCursor if is_foot else Qt.CursorShape.ArrowCursor)

    def _light(self, row: int | None) -> None:
        if row != self.hovered:
            self.hovered = row
            self._canvas.update()

    def paint(self, painter: QPainter) -> None:
        """Paint the rubber band, and a line around the class under the pointer."""
        if self.band is not None:
            paint_band(painter, self.band)
        canvas, row = self._canvas, self.hovered
        if row is None or row >= len(canvas.drawing) or int(canvas.drawing.ids[row]) in canvas.chosen:
            return
        paint_ring(painter, canvas.body_of(row), tokens().colours.text_muted, width=1.5)


def is_adding(event: QMouseEvent) -> bool:
    """Whether a class is to be chosen with the others."""
    keys = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    return bool(event.modifiers() & keys)


def has_gone(start: QPointF, place: QPointF) -> bool:
    """Whether a pointer went far enough for a drag."""
    return (place - start).manhattanLength() >= QApplication.startDragDistance()
