"""Paints a piece of the drawing: edges, and on them cards or dots, as much as can be seen of them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from math import log2
from typing import Final, final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QPixmap

from app.graph_view.camera import Rect
from app.graph_view.card import CardLook, Detail, Pictures, detail_at, paint_card
from app.graph_view.drawing import CARD_HEIGHT, CARD_WIDTH, Drawing, Route, empty_drawing
from app.images.pixels import on_pixels
from app.theme.tokens import tokens

CARDS_KEPT: Final = 96  # finished cards that are kept: those around the pieces that are being painted
FADED: Final = 0.55  # how strongly a class is painted that is more than one step from the class in focus
AT_ONCE: Final = 160  # edges or dots that are painted before somebody else may have the processor
CARDS_AT_ONCE: Final = 3  # cards that are painted before somebody else may have the processor
_ALIKE: Final = 1.5  # logical pixels; edges and dots that differ by less are seen as one
_FAR: Final = 0.12  # scale below which they may
_SMALLEST_DOT: Final = 1.5  # radius in logical pixels
_LARGEST_DOT: Final = 9.0  # radius in logical pixels
_DOT_SHARE: Final = 0.22  # of a card's width, radius of the dot that stands for it

Looks = Callable[[int], CardLook]
Weights = Callable[[int, int], float | None]


@final
class DrawingPainter:
    """The drawing, and what is known of its classes."""

    def __init__(self, looks: Looks, weights: Weights, pictures: Pictures) -> None:
        self._looks, self._weights, self._pictures = looks, weights, pictures
        self.drawing = empty_drawing()
        self._steps: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._cards: OrderedDict[tuple[int, int, float, CardLook], QPixmap] = OrderedDict()

    def show(self, drawing: Drawing) -> None:
        """Paint another drawing from now on."""
        self.drawing = drawing
        self.weigh()

    def weigh(self) -> None:
        """Ask for the weights of all edges again."""
        ids, drawing = self.drawing.ids.tolist(), self.drawing
        ends = zip(drawing.parents.tolist(), drawing.children.tolist(), strict=True)
        steps = [weight_step(self._weights(ids[parent], ids[child])) for parent, child in ends]
        self._steps = np.array(steps, dtype=np.int64)

    def forget_cards(self, class_ids: Iterable[int] | None = None) -> None:
        """Paint cards anew; by default all."""
        if class_ids is None:
            self._cards.clear()
            return
        gone = frozenset(class_ids)
        for key in [key for key in self._cards if key[0] in gone]:
            del self._cards[key]

    def look(self, row: int) -> CardLook:
        return self._looks(int(self.drawing.ids[row]))

    def paint(self, painter: QPainter, rect: Rect, scale: float) -> Iterator[None]:
        """Paint a piece, a little with each step.

        Args:
            painter: its origin is the left upper corner of the piece.
            rect: the piece, in units of the drawing.
            scale: logical pixels for one unit.
        """
        room = QRectF(0, 0, (rect[2] - rect[0]) * scale, (rect[3] - rect[1]) * scale)
        painter.fillRect(room, QColor(tokens().colours.window))
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
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
        self, painter: QPainter, edges: NDArray[np.int64], scale: float, dx: float, dy: float
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
        """Paint one card, from the finished ones where it is among them."""
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
        look = self.look(row)
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
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
        paint_card(painter, QRectF(QPointF(), size / ratio), look, self._pictures)
        painter.end()
        self._cards[key] = card
        if len(self._cards) > CARDS_KEPT:
            self._cards.popitem(last=False)
        return card

    def _paint_dots(
        self, painter: QPainter, rows: NDArray[np.int64], scale: float, dx: float, dy: float
    ) -> Iterator[None]:
        painter.setPen(Qt.PenStyle.NoPen)
        places = (self.drawing.centres[rows] * scale + (dx, dy)).tolist()
        hidden = self.drawing.hidden[rows].tolist()
        for first in range(0, len(places), AT_ONCE):
            paths: dict[int, QPainterPath] = {}
            chunk = slice(first, first + AT_ONCE)
            for row, place, below in zip(rows[chunk].tolist(), places[chunk], hidden[chunk], strict=True):
                radius = dot_radius(below, scale)
                path = paths.setdefault(self.look(row).tint.rgb(), QPainterPath())
                path.addEllipse(QPointF(*place), radius, radius)
            for colour, path in paths.items():
                painter.fillPath(path, QColor(colour))
            yield


def _seen_apart(numbers: NDArray[np.int64], places: NDArray[np.float64]) -> NDArray[np.int64]:
    """Of what lies in the same pixels only the first."""
    if not len(numbers):
        return numbers
    _, first = np.unique(np.floor(places / _ALIKE).astype(np.int64), axis=0, return_index=True)
    return numbers[np.sort(first)]


def dot_radius(hidden: int, scale: float) -> float:
    """Radius of a dot in logical pixels: larger for a branch with much in it."""
    plain = max(_SMALLEST_DOT, _DOT_SHARE * CARD_WIDTH * scale)
    return min(_LARGEST_DOT, plain * (1 + 0.15 * log2(1 + hidden)))


THIN: Final = 1.0  # logical pixels at full size, of an edge that nothing is propagated over
THICK: Final = 2.5  # of an edge that all is propagated over
WEIGHT_STEPS: Final = 4  # looks of edges; a finer scale nobody tells apart
UNKNOWN_STEP: Final = 1  # look of an edge whose weight is not known yet
_STRAIGHT_BELOW: Final = 0.2  # scale at which a curve cannot be told from a line


def weight_step(weight: float | None) -> int:
    """Which of the looks an edge has."""
    if weight is None:
        return UNKNOWN_STEP
    return max(0, min(WEIGHT_STEPS - 1, int(weight * WEIGHT_STEPS)))


def edge_pen(step: int, scale: float) -> QPen:
    """Pen of a look, in logical pixels."""
    colours = tokens().colours
    share = step / (WEIGHT_STEPS - 1)
    weak, strong = QColor(colours.border), QColor(colours.text_disabled)
    colour = QColor.fromRgbF(
        weak.redF() + share * (strong.redF() - weak.redF()),
        weak.greenF() + share * (strong.greenF() - weak.greenF()),
        weak.blueF() + share * (strong.blueF() - weak.blueF()),
    )
    return QPen(colour, max(0.75, (THIN + share * (THICK - THIN)) * min(1.0, scale)))


def add_edge(path: QPainterPath, route: Route, scale: float, dx: float, dy: float) -> None:
    """Add an edge to a path.

    Args:
        path: in logical pixels.
        route: in units of the drawing.
        scale: logical pixels for one unit.
        dx, dy: place of the drawing's origin on the path.
    """
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
