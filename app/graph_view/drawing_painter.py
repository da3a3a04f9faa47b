"""Paints parts of the drawing: edges, and cards or dots depending on the scale."""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import log2
from typing import final

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QGuiApplication, QPainter, QPainterPath, QPen, QPixmap

from app.canvas.camera import Camera, Rect
from app.graph_view.card import RADIUS, SHEETS, CardLook, Detail, Pictures, detail_at, paint_card
from app.graph_view.drawing import CARD_HEIGHT, CARD_WIDTH, Drawing, Route, empty_drawing
from app.images.pixels import on_pixels
from app.theme.class_colours import blended
from app.theme.tokens import tokens
from engine.arrays import Doubles, Integers, no_integers

# Rendered cards in the cache.
CARDS_KEPT = 96
# Opacity of a class more than one step from the class in focus.
FADED = 0.55
AT_ONCE = 160  # edges or dots painted between two checks of the time
CARDS_AT_ONCE = 3  # cards painted between two checks of the time
_ALIKE = 1.5  # logical pixels; closer edges and dots are indistinguishable
_FAR = 0.12  # scale below which indistinguishable ones are skipped
_SMALLEST_DOT = 1.5  # radius in logical pixels
_LARGEST_DOT = 9.0  # radius in logical pixels
_DOT_SHARE = 0.22  # radius of a dot, relative to the width of a card
THIN = 1.0  # width of an edge with attention weight 0, in logical pixels at full size
THICK = 2.5  # width of an edge with attention weight 1
WEIGHT_STEPS = 4  # distinguishable line widths
UNKNOWN_STEP = 1  # step for an unknown weight
_STRAIGHT_BELOW = 0.2  # scale below which curves are drawn as lines
PORT = 6.0  # radius of the handle for drawing edges, in logical pixels
_RING = 2.0  # width of the outline of a selected class
_LIT = 2.5  # width of a highlighted edge
_WASH = 0.14  # opacity of the accent colour over a selected card

Looks = Callable[[int], CardLook]
Weights = Callable[[int, int], float | None]


@final
class DrawingPainter:
    """Paints a drawing with the content of its cards; caches rendered cards."""

    def __init__(self, looks: Looks, weights: Weights, pictures: Pictures) -> None:
        self._looks, self._weights, self._pictures = looks, weights, pictures
        self.drawing = empty_drawing()
        self._steps: Integers = no_integers()
        self._cards: OrderedDict[tuple[int, int, float, CardLook], QPixmap] = OrderedDict()

    def show(self, drawing: Drawing) -> None:
        self.drawing = drawing
        self.weigh()

    def weigh(self) -> None:
        ids, drawing = self.drawing.ids.tolist(), self.drawing
        ends = zip(drawing.parents.tolist(), drawing.children.tolist(), strict=True)
        steps = [weight_step(self._weights(ids[parent], ids[child])) for parent, child in ends]
        self._steps = np.array(steps, dtype=np.int64)

    def forget_cards(self, class_ids: Iterable[int] | None = None) -> None:
        gone = None if class_ids is None else frozenset(class_ids)
        for key in [key for key in self._cards if gone is None or key[0] in gone]:
            del self._cards[key]

    def paint(self, painter: QPainter, rect: Rect, scale: float) -> Iterator[None]:
        """Paint a part of the drawing in small steps; the painter's origin is its top left."""
        room = QRectF(0, 0, (rect[2] - rect[0]) * scale, (rect[3] - rect[1]) * scale)
        painter.fillRect(room, QColor(tokens().colours.window))
        painter.setRenderHints(
            QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform
        )
        dx, dy = -rect[0] * scale, -rect[1] * scale
        edges, rows = self.drawing.edges_in(rect), self.drawing.rows_in(rect)
        if scale < _FAR:
            edges = _seen_apart(edges, self.drawing.ends[edges] * scale)
            rows = _seen_apart(rows, self.drawing.centres[rows] * scale)
        yield from self._paint_edges(painter, edges, scale, dx, dy)
        if detail_at(scale) is Detail.DOT:
            yield from self._paint_dots(painter, rows, scale, dx, dy)
            return
        for place, row in enumerate(rows.tolist()):
            self.paint_card(painter, row, scale, dx, dy)
            if place % CARDS_AT_ONCE == 0:
                yield

    def _paint_edges(
        self, painter: QPainter, edges: Integers, scale: float, dx: float, dy: float
    ) -> Iterator[None]:
        steps = self._steps[edges]
        for step in range(WEIGHT_STEPS):
            alike = edges[steps == step].tolist()
            for first in range(0, len(alike), AT_ONCE):
                path = QPainterPath()
                for edge in alike[first : first + AT_ONCE]:
                    add_edge(path, self.drawing.routes[edge], scale, dx, dy)
                painter.strokePath(path, edge_pen(step, scale))
                yield

    def paint_card(self, painter: QPainter, row: int, scale: float, dx: float, dy: float) -> None:
        box = self.drawing.box(row)
        ratio = painter.device().devicePixelRatio()
        place = on_pixels(QPointF(box[0] * scale + dx, box[1] * scale + dy), ratio)
        faded = self.drawing.distances[row] > 1
        if faded:
            painter.setOpacity(FADED)
        painter.drawPixmap(place, self._finished(row, scale, ratio))
        if faded:
            painter.setOpacity(1.0)

    def _finished(self, row: int, scale: float, ratio: float) -> QPixmap:
        look = self._looks(int(self.drawing.ids[row]))
        key = (int(self.drawing.ids[row]), round(scale * 1000), ratio, look)
        kept = self._cards.get(key)
        if kept is not None:
            self._cards.move_to_end(key)
            return kept
        size = QSizeF(round(CARD_WIDTH * scale * ratio), round(CARD_HEIGHT * scale * ratio))
        card = QPixmap(size.toSize())
        card.setDevicePixelRatio(ratio)
        card.fill(QColor(tokens().colours.window))
        painter = QPainter(card)
        painter.setLayoutDirection(QGuiApplication.layoutDirection())
        painter.setRenderHints(
            QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform
        )
        paint_card(painter, QRectF(QPointF(), size / ratio), look, self._pictures)
        painter.end()
        self._cards[key] = card
        if len(self._cards) > CARDS_KEPT:
            self._cards.popitem(last=False)
        return card

    def _paint_dots(
        self, painter: QPainter, rows: Integers, scale: float, dx: float, dy: float
    ) -> Iterator[None]:
        painter.setPen(Qt.PenStyle.NoPen)
        places = (self.drawing.centres[rows] * scale + (dx, dy)).tolist()
        hidden = self.drawing.hidden[rows].tolist()
        for first in range(0, len(places), AT_ONCE):
            paths: dict[int, QPainterPath] = {}
            chunk = slice(first, first + AT_ONCE)
            for row, place, below in zip(
                rows[chunk].tolist(), places[chunk], hidden[chunk], strict=True
            ):
                radius = dot_radius(below, scale)
                path = paths.setdefault(
                    self._looks(int(self.drawing.ids[row])).tint.rgb(), QPainterPath()
                )
                path.addEllipse(QPointF(*place), radius, radius)
            for colour, path in paths.items():
                painter.fillPath(path, QColor(colour))
            yield


def _seen_apart(numbers: Integers, places: Doubles) -> Integers:
    """The first of items that fall on the same pixels."""
    if not len(numbers):
        return numbers
    _, first = np.unique(np.floor(places / _ALIKE).astype(np.int64), axis=0, return_index=True)
    return numbers[np.sort(first)]


def dot_radius(hidden: int, scale: float) -> float:
    """Radius of a dot in logical pixels; grows with the size of the branch."""
    plain = max(_SMALLEST_DOT, _DOT_SHARE * CARD_WIDTH * scale)
    return min(_LARGEST_DOT, plain * (1 + 0.15 * log2(1 + hidden)))


def weight_step(weight: float | None) -> int:
    return (
        UNKNOWN_STEP
        if weight is None
        else max(0, min(WEIGHT_STEPS - 1, int(weight * WEIGHT_STEPS)))
    )


def edge_pen(step: int, scale: float) -> QPen:
    colours = tokens().colours
    share = step / (WEIGHT_STEPS - 1)
    colour = blended(QColor(colours.border), QColor(colours.text_disabled), share)
    return QPen(colour, max(0.75, (THIN + share * (THICK - THIN)) * min(1.0, scale)))


def add_edge(path: QPainterPath, route: Route, scale: float, dx: float, dy: float) -> None:
    """Add an edge to a path in logical pixels; (dx, dy) is the drawing's origin."""
    points = (route * scale + (dx, dy)).tolist()
    x, y = points[0]
    path.moveTo(x, y)
    if scale < _STRAIGHT_BELOW:
        for x, y in points[1:]:
            path.lineTo(x, y)
        return
    for next_x, next_y in points[1:]:
        middle = (y + next_y) / 2
        path.cubicTo(x, middle, next_x, middle, next_x, next_y)
        x, y = next_x, next_y


def card_rect(drawing: Drawing, row: int, camera: Camera) -> QRectF:
    """Rectangle of a class's card or dot in the view."""
    left, top, right, bottom = drawing.box(row)
    x, y = camera.to_view(left, top)
    if detail_at(camera.scale) is not Detail.DOT:
        return QRectF(x, y, (right - left) * camera.scale, (bottom - top) * camera.scale)
    radius = dot_radius(int(drawing.hidden[row]), camera.scale)
    centre_x, centre_y = camera.to_view((left + right) / 2, (top + bottom) / 2)
    return QRectF(centre_x - radius, centre_y - radius, 2 * radius, 2 * radius)


def port_of(rect: QRectF) -> QPointF:
    """Position of the handle at the bottom of a card, for drawing edges."""
    return QPointF(rect.center().x(), rect.bottom())


def card_body(rect: QRectF, *, is_closed: bool) -> QRectF:
    depth = max(2.0, SHEETS * rect.width() / CARD_WIDTH) if is_closed else 0.0
    return rect.adjusted(0, 0, 0, -depth)


def paint_ring(
    painter: QPainter, rect: QRectF, colour: str, *, width: float = _RING, is_filled: bool = False
) -> None:
    tint = QColor(colour)
    painter.setPen(QPen(tint, width))
    if is_filled:
        tint.setAlphaF(_WASH)
    painter.setBrush(tint if is_filled else Qt.BrushStyle.NoBrush)
    radius = max(3.0, RADIUS * rect.width() / CARD_WIDTH)
    painter.drawRoundedRect(rect.adjusted(-1, -1, 1, 1), radius + 1, radius + 1)


def paint_chosen(painter: QPainter, rects: Sequence[QRectF], colour: str) -> None:
    path, fill = QPainterPath(), QColor(colour)
    for rect in rects:
        radius = max(3.0, RADIUS * rect.width() / CARD_WIDTH)
        path.addRoundedRect(rect, radius, radius)
    fill.setAlphaF(_WASH)
    painter.fillPath(path, fill)
    painter.strokePath(path, QPen(QColor(colour), 1.5))


def paint_lit_edges(
    painter: QPainter, routes: Iterable[Route], camera: Camera, colour: str
) -> None:
    path = QPainterPath()
    dx, dy = camera.to_view(0.0, 0.0)
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
    painter.strokePath(
        path, QPen(QColor(colour), _LIT, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap)
    )
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(colour))
    painter.drawEllipse(end, PORT / 2, PORT / 2)
