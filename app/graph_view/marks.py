"""What is painted over the drawing: what is chosen, what the pointer is over, the rubber band, an edge being drawn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen

from app.graph_view.camera import Camera, Size
from app.graph_view.card import RADIUS, SHEETS, Detail, detail_at
from app.graph_view.drawing import CARD_WIDTH, Drawing, Route
from app.graph_view.drawing_painter import add_edge, dot_radius
from app.theme.tokens import tokens

PORT: Final = 6.0  # radius of the knob that edges are drawn from, in logical pixels
_RING: Final = 2.0  # width of the line around a chosen class
_LIT: Final = 2.5  # width of a lit edge
_WASH: Final = 0.14  # how opaque the accent is over a chosen card
_BAND_FILL: Final = 0.12  # how opaque a rubber band is


def card_rect(drawing: Drawing, row: int, camera: Camera, view: Size) -> QRectF:
    """Where a class's card, or the dot that stands for it, is seen."""
    left, top, right, bottom = drawing.box(row)
    x, y = camera.to_view(left, top, view)
    if detail_at(camera.scale) is not Detail.DOT:
        return QRectF(x, y, (right - left) * camera.scale, (bottom - top) * camera.scale)
    radius = dot_radius(int(drawing.hidden[row]), camera.scale)
    centre_x, centre_y = camera.to_view((left + right) / 2, (top + bottom) / 2, view)
    return QRectF(centre_x - radius, centre_y - radius, 2 * radius, 2 * radius)


def port_of(rect: QRectF) -> QPointF:
    """The knob at the foot of a card that edges are drawn from."""
    return QPointF(rect.center().x(), rect.bottom())


def card_body(rect: QRectF, *, is_closed: bool) -> QRectF:
    """A card without the sheets below it."""
    depth = max(2.0, SHEETS * rect.width() / CARD_WIDTH) if is_closed else 0.0
    return rect.adjusted(0, 0, 0, -depth)


def paint_ring(painter: QPainter, rect: QRectF, colour: str, *, width: float = _RING, is_filled: bool = False) -> None:
    tint = QColor(colour)
    painter.setPen(QPen(tint, width))
    if is_filled:
        tint.setAlphaF(_WASH)
    painter.setBrush(tint if is_filled else Qt.BrushStyle.NoBrush)
    radius = max(3.0, RADIUS * rect.width() / CARD_WIDTH)
    painter.drawRoundedRect(rect.adjusted(-1, -1, 1, 1), radius + 1, radius + 1)


def paint_chosen(painter: QPainter, rects: Sequence[QRectF], colour: str) -> None:
    """Wash and frame several chosen classes, however many, in one go."""
    path, fill = QPainterPath(), QColor(colour)
    for rect in rects:
        radius = max(3.0, RADIUS * rect.width() / CARD_WIDTH)
        path.addRoundedRect(rect, radius, radius)
    fill.setAlphaF(_WASH)
    painter.fillPath(path, fill)
    painter.strokePath(path, QPen(QColor(colour), 1.5))


def paint_lit_edges(painter: QPainter, routes: Iterable[Route], camera: Camera, view: Size, colour: str) -> None:
    path = QPainterPath()
    dx, dy = camera.to_view(0.0, 0.0, view)
    for route in routes:
        add_edge(path, route, camera.scale, dx, dy)
    painter.strokePath(path, QPen(QColor(colour), max(1.0, _LIT * min(1.0, camera.scale))))


def paint_port(painter: QPainter, place: QPointF, *, is_held: bool) -> None:
    colours = tokens().colours
    painter.setPen(QPen(QColor(colours.accent), 1.5))
    painter.setBrush(QColor(colours.accent if is_held else colours.surface))
    painter.drawEllipse(place, PORT, PORT)


def paint_drawn_edge(painter: QPainter, start: QPointF, end: QPointF, colour: str) -> None:
    path = QPainterPath(start)
    middle = (start.y() + end.y()) / 2
    path.cubicTo(start.x(), middle, end.x(), middle, end.x(), end.y())
    painter.strokePath(path, QPen(QColor(colour), _LIT, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(colour))
    painter.drawEllipse(end, PORT / 2, PORT / 2)


def paint_band(painter: QPainter, rect: QRectF) -> None:
    fill = QColor(tokens().colours.accent)
    painter.setPen(QPen(fill, 1))
    fill.setAlphaF(_BAND_FILL)
    painter.setBrush(fill)
    painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
