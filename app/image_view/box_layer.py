"""Bounding boxes over a picture: painting, drawing, moving and resizing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import final

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen

from app.theme.tokens import tokens
from engine.file_parts import BoundingBox

HANDLE = 8.0
"""Side of the resize handles of the current box, in pixels. Chosen: as in other programs."""
REACH = 7.0
"""Hit radius of a handle, in pixels. Chosen: a larger target than the handle itself."""
LEAST_DRAWN = 5.0
"""Least width and height of a drag that draws a box, in pixels. Chosen: above click jitter."""
WIDTH = 2.0
"""Width of an outline in pixels. Chosen: visible on any picture, and hides little of it."""
MOST_NAMED = 40
"""Number of boxes up to which all have captions. Chosen: more captions would overlap."""
_PADDING = 4.0
"""Padding of a caption in pixels. Chosen."""
# Cursor shape of each handle by its position in shares of width and height.
_CURSORS = {
    (0, 0): Qt.CursorShape.SizeFDiagCursor,
    (1, 1): Qt.CursorShape.SizeFDiagCursor,
    (1, 0): Qt.CursorShape.SizeBDiagCursor,
    (0, 1): Qt.CursorShape.SizeBDiagCursor,
    (0.5, 0): Qt.CursorShape.SizeVerCursor,
    (0.5, 1): Qt.CursorShape.SizeVerCursor,
    (0, 0.5): Qt.CursorShape.SizeHorCursor,
    (1, 0.5): Qt.CursorShape.SizeHorCursor,
}


@dataclass(frozen=True)
class ShownBox:
    """A box to paint.

    Attributes:
        image_id: image of the box; -1 for a read-only one.
        text: class, or most likely class with its probability; "" if unknown.
        is_labelled: whether a person labelled it.
    """

    image_id: int
    box: BoundingBox
    text: str = ""
    is_labelled: bool = False


class _Drag(Enum):
    DRAW = auto()
    MOVE = auto()
    RESIZE = auto()


@final
class BoxLayer:
    """The boxes of one picture and their mouse interaction, in canvas coordinates.

    Args:
        target: rectangle of the picture on the canvas, rotated as shown.
        turns: clockwise quarter turns.
    """

    def __init__(self, target: Callable[[], QRectF], turns: Callable[[], int]) -> None:
        self._target, self._turns = target, turns
        self.boxes: Sequence[ShownBox] = ()
        self.current: int | None = None  # image id
        self.can_edit = False
        self._hovered: int | None = None
        self._drag: _Drag | None = None
        # The box being moved or resized, even if another one becomes current meanwhile.
        self._dragged: int | None = None
        self._spot: tuple[float, float] = (0, 0)
        self._from = QPointF()
        self._before = QRectF()
        self._drawn: QRectF | None = None  # rectangle so far during a drag

    @property
    def current_box(self) -> ShownBox | None:
        return next((each for each in self.boxes if each.image_id == self.current), None)

    @property
    def is_dragging(self) -> bool:
        return self._drag is not None

    def placed(self, box: BoundingBox) -> QRectF:
        """Rectangle of a box on the canvas."""
        room, (left, top, width, height) = self._target(), _turned(box, self._turns())
        origin = QPointF(room.left() + left * room.width(), room.top() + top * room.height())
        return QRectF(origin, QSizeF(width * room.width(), height * room.height()))

    def box_of(self, rect: QRectF) -> BoundingBox | None:
        """The box for a canvas rectangle, clipped to the picture; None if nothing remains."""
        room = self._target()
        rect = rect.normalized() & room
        if rect.isEmpty() or room.isEmpty():
            return None
        left = (rect.left() - room.left()) / room.width()
        top = (rect.top() - room.top()) / room.height()
        width, height = rect.width() / room.width(), rect.height() / room.height()
        return BoundingBox.of(*_turned(BoundingBox(left, top, width, height), -self._turns() % 4))

    # -- mouse

    def press(self, at: QPointF, *, draws: bool, is_above: bool = False) -> bool:
        """Begin to draw, move or resize; False if the press does not concern boxes.

        A pressed box becomes the current one.

        Args:
            draws: whether a drag on the background draws a box.
            is_above: whether a drag draws even on top of a box.
        """
        current = self.current_box
        self._from, self._drawn = at, None
        if not self.can_edit:
            return False
        if is_above:
            self._begin(_Drag.DRAW, QRectF(at, at))
        elif current is not None and (spot := self._spot_at(at)) is not None:
            self._begin(_Drag.RESIZE, self.placed(current.box))
            self._spot = spot
        elif current is not None and self.placed(current.box).contains(at):
            self._begin(_Drag.MOVE, self.placed(current.box))
        elif (pressed := self._box_at(at)) is not None:
            self.current = pressed.image_id
            self._begin(_Drag.MOVE, self.placed(pressed.box))
        elif draws and self._target().contains(at):
            self._begin(_Drag.DRAW, QRectF(at, at))
        return self._drag is not None

    def _begin(self, drag: _Drag, before: QRectF) -> None:
        self._drag, self._before, self._dragged = drag, before, self.current

    def move(self, at: QPointF) -> bool:
        """Follow the pointer; True if a repaint is needed."""
        if self._drag is None:
            hovered = self.at(at)
            is_other, self._hovered = hovered != self._hovered, hovered
            return is_other
        room, by = self._target(), at - self._from
        if self._drag is _Drag.DRAW:
            self._drawn = QRectF(self._from, at).normalized() & room
        elif self._drag is _Drag.MOVE:
            x = min(
                max(by.x(), room.left() - self._before.left()), room.right() - self._before.right()
            )
            y = min(
                max(by.y(), room.top() - self._before.top()), room.bottom() - self._before.bottom()
            )
            self._drawn = self._before.translated(x, y)
        else:
            self._drawn = self._resized(by) & room
        return True

    def _resized(self, by: QPointF) -> QRectF:
        left, top = ((share == 0) for share in self._spot)
        right, bottom = ((share == 1) for share in self._spot)
        return self._before.adjusted(
            by.x() * left, by.y() * top, by.x() * right, by.y() * bottom
        ).normalized()

    def release(self) -> tuple[int | None, BoundingBox] | None:
        """End a drag.

        Returns:
            Image id (None for a new box) and box; None for a plain click.
        """
        drag, drawn = self._drag, self._drawn
        self._drag, self._drawn = None, None
        if drag is None or drawn is None:
            return None
        if drag is _Drag.DRAW and min(drawn.width(), drawn.height()) < LEAST_DRAWN:
            return None
        box = self.box_of(drawn)
        if box is None or (drag is not _Drag.DRAW and drawn == self._before):
            return None
        return (None if drag is _Drag.DRAW else self._dragged), box

    def _box_at(self, at: QPointF) -> ShownBox | None:
        """The smallest box at a point."""
        found = (each for each in self.boxes if self.placed(each.box).contains(at))
        return min(found, key=lambda each: each.box.width * each.box.height, default=None)

    def at(self, at: QPointF) -> int | None:
        """Image id of the smallest box at a point."""
        found = self._box_at(at)
        return None if found is None else found.image_id

    def cursor(self, at: QPointF, *, draws: bool) -> Qt.CursorShape | None:
        """Cursor shape at a point; None for that of the canvas."""
        current = self.current_box
        if not self.can_edit:
            return None
        if current is not None and (spot := self._spot_at(at)) is not None:
            return _CURSORS[spot] if self._turns() % 2 == 0 else Qt.CursorShape.SizeAllCursor
        if current is not None and self.placed(current.box).contains(at):
            return Qt.CursorShape.SizeAllCursor
        if self.at(at) is not None:
            return Qt.CursorShape.PointingHandCursor
        return Qt.CursorShape.CrossCursor if draws and self._target().contains(at) else None

    def _spot_at(self, at: QPointF) -> tuple[float, float] | None:
        """The handle of the current box at a point."""
        current = self.current_box
        if current is None:
            return None
        rect = self.placed(current.box)
        for spot in _CURSORS:
            away = at - _spot_place(rect, spot)
            if max(abs(away.x()), abs(away.y())) <= REACH:
                return spot
        return None

    # -- painting

    def paint(self, painter: QPainter) -> None:
        colours = tokens().colours
        for each in self.boxes:
            if each.image_id != self.current:
                self._paint_box(painter, each, self._now(each), is_current=False)
        if (current := self.current_box) is not None:
            self._paint_box(painter, current, self._now(current), is_current=True)
        if self._drag is _Drag.DRAW and self._drawn is not None:
            _outline(painter, self._drawn, QColor(colours.accent), Qt.PenStyle.SolidLine)

    def _now(self, shown: ShownBox) -> QRectF:
        """Rectangle of a box, during a drag the dragged one."""
        is_changing = self._drag in {_Drag.MOVE, _Drag.RESIZE} and shown.image_id == self._dragged
        return self._drawn if is_changing and self._drawn is not None else self.placed(shown.box)

    def _paint_box(
        self, painter: QPainter, shown: ShownBox, rect: QRectF, *, is_current: bool
    ) -> None:
        colours = tokens().colours
        colour = QColor(colours.accent if is_current or shown.is_labelled else colours.warning)
        style = Qt.PenStyle.SolidLine if shown.is_labelled or is_current else Qt.PenStyle.DashLine
        _outline(painter, rect, colour, style)
        is_named = len(self.boxes) <= MOST_NAMED or is_current or shown.image_id == self._hovered
        if shown.text and is_named:
            is_sure = shown.is_labelled
            ground = QColor(colours.accent if is_sure else colours.inverse)
            painter.setPen(QColor(colours.on_accent if is_sure else colours.on_inverse))
            _paint_words(painter, rect, self._target(), shown.text, ground)
        if is_current and self.can_edit:
            painter.setPen(QPen(colour, 1))
            painter.setBrush(QColor(colours.surface))
            for spot in _CURSORS:
                middle = _spot_place(rect, spot)
                half = QPointF(HANDLE / 2, HANDLE / 2)
                painter.drawRect(QRectF(middle - half, middle + half))
            painter.setBrush(Qt.BrushStyle.NoBrush)


def _turned(box: BoundingBox, quarters: int) -> BoundingBox:
    """Rotate a box clockwise by quarter turns."""
    for _ in range(quarters):
        box = BoundingBox(1 - box.bottom, box.left, box.height, box.width)
    return box


def _spot_place(rect: QRectF, spot: tuple[float, float]) -> QPointF:
    return QPointF(rect.left() + spot[0] * rect.width(), rect.top() + spot[1] * rect.height())


def _outline(painter: QPainter, rect: QRectF, colour: QColor, style: Qt.PenStyle) -> None:
    """Draw an outline that is visible on dark and bright pictures."""
    painter.setBrush(Qt.BrushStyle.NoBrush)
    shadow = QColor(0, 0, 0, 110)
    painter.setPen(QPen(shadow, WIDTH + 2))
    painter.drawRect(rect)
    painter.setPen(QPen(colour, WIDTH, style))
    painter.drawRect(rect)


def _paint_words(painter: QPainter, rect: QRectF, room: QRectF, text: str, ground: QColor) -> None:
    """Draw the caption above a box, or inside it if there is no room above."""
    metrics = QFontMetricsF(painter.font())
    widest = max(60.0, room.right() - rect.left())
    elided = metrics.elidedText(text, Qt.TextElideMode.ElideRight, widest - 2 * _PADDING)
    size = QSizeF(metrics.horizontalAdvance(elided) + 2 * _PADDING, metrics.height() + _PADDING)
    top = rect.top() - size.height() if rect.top() - size.height() >= room.top() else rect.top()
    place = QRectF(QPointF(rect.left() - WIDTH / 2, top), size)
    painter.fillRect(place, ground)
    painter.drawText(place, Qt.AlignmentFlag.AlignCenter, elided)
