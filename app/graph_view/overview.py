"""The whole drawing in a small picture: for the mini-map, and for what is not painted yet."""

from __future__ import annotations

import time
from typing import Final, final

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QPixmap

from app.graph_view.camera import Rect
from app.graph_view.drawing import CARD_HEIGHT, CARD_WIDTH, Drawing, empty_drawing
from app.graph_view.drawing_painter import Looks
from app.theme.tokens import tokens

WIDEST: Final = 200  # of the picture, in logical pixels
HIGHEST: Final = 130  # of the picture, in logical pixels
_AT_ONCE: Final = 250  # edges or classes painted before the time is looked at
_SMALLEST: Final = 1.5  # side of a class, in logical pixels


@final
class Overview:
    """A small picture that is painted a little at a time."""

    def __init__(self, looks: Looks) -> None:
        self._looks = looks
        self._drawing = empty_drawing()
        self._done = 0
        self.picture = QPixmap()  # as far as it is painted
        self.bounds: Rect = (0.0, 0.0, 1.0, 1.0)  # what it shows, in units of the drawing

    @property
    def is_complete(self) -> bool:
        return self._done >= len(self._drawing.parents) + len(self._drawing)

    def show(self, drawing: Drawing, ratio: float) -> None:
        self._drawing, self._done, self.bounds = drawing, 0, drawing.bounds
        width, height = max(1.0, self.bounds[2] - self.bounds[0]), max(1.0, self.bounds[3] - self.bounds[1])
        self._scale = min(WIDEST / width, HIGHEST / height)
        self.picture = QPixmap(max(1, round(width * self._scale * ratio)), max(1, round(height * self._scale * ratio)))
        self.picture.setDevicePixelRatio(ratio)
        self.picture.fill(QColor(tokens().colours.window))

    def make_some(self, budget_s: float) -> bool:
        """Paint for about so long; whether anything was painted."""
        end, has_painted = time.perf_counter() + budget_s, False
        if self.is_complete:
            return False
        painter = QPainter(self.picture)
        while not self.is_complete and (not has_painted or time.perf_counter() < end):
            self._go_on(painter)
            has_painted = True
        painter.end()
        return has_painted

    def _go_on(self, painter: QPainter) -> None:
        edges = len(self._drawing.parents)
        if self._done < edges:
            last = min(edges, self._done + _AT_ONCE)
            self._paint_edges(painter, range(self._done, last))
        else:
            last = min(edges + len(self._drawing), self._done + _AT_ONCE)
            self._paint_classes(painter, range(self._done - edges, last - edges))
        self._done = last

    def _place(self, x: float, y: float) -> QPointF:
        return QPointF((x - self.bounds[0]) * self._scale, (y - self.bounds[1]) * self._scale)

    def _paint_edges(self, painter: QPainter, edges: range) -> None:
        path, routes = QPainterPath(), self._drawing.routes
        for edge in edges:
            path.moveTo(self._place(*routes[edge][0].tolist()))
            path.lineTo(self._place(*routes[edge][-1].tolist()))
        painter.setPen(QPen(QColor(tokens().colours.hairline), 0.5))
        painter.drawPath(path)

    def _paint_classes(self, painter: QPainter, rows: range) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        width, height = max(_SMALLEST, CARD_WIDTH * self._scale), max(_SMALLEST, CARD_HEIGHT * self._scale)
        for row in rows:
            centre = self._place(*self._drawing.centres[row].tolist())
            look = self._looks(int(self._drawing.ids[row]))
            place = QRectF(centre.x() - width / 2, centre.y() - height / 2, width, height)
            painter.setBrush(look.tint)
            painter.drawRoundedRect(place, width / 8, width / 8) if width > 2 * _SMALLEST else painter.fillRect(
                place, look.tint
            )
