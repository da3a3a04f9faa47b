"""Thumbnails on a zoomed map, at most one in each cell of a fixed grid."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, log2
from typing import TYPE_CHECKING, final

import numpy as np
from PySide6.QtCore import QPointF, QRect, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from app.images.pixels import RADIUS, paint_square
from app.theme.tokens import tokens
from engine.file_parts import ImageSource

if TYPE_CHECKING:
    from app.images.thumbnails import Thumbnails
    from app.map.plane import MapPlane

SIDE = 52  # logical pixels
CELL = 64.0  # size of a grid cell, at least
MOST = 120  # thumbnails at a time
FEW = 1_500  # visible points up to which thumbnails are shown


@final
class Thumbs:
    """Chooses and paints thumbnails."""

    def __init__(
        self,
        canvas: MapPlane,
        thumbnails: Thumbnails,
        source_of: Callable[[int], ImageSource | None],
    ) -> None:
        self._canvas = canvas
        self._thumbnails = thumbnails
        self._source_of = source_of
        self._rows: tuple[int, ...] = ()  # chosen for the view
        self._view: object = None  # for which they were chosen
        self._sources: set[ImageSource] = set()
        thumbnails.ready.connect(self._on_ready)

    def shows(self, row: int) -> bool:
        return row in self._shown()

    def row_at(self, point: QPointF) -> int | None:
        """Row of the topmost thumbnail at a point."""
        for row in reversed(self._shown()):
            if self._rect(row).contains(point.toPoint()):
                return row
        return None

    def paint(self, painter: QPainter) -> None:
        canvas, colours = self._canvas, tokens().colours
        scene, ratio = canvas.scene, canvas.devicePixelRatioF()
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        for row in self._shown():
            source = self._source_of(int(scene.points.image_ids[row]))
            if source is None:
                continue
            rect = self._rect(row)
            picture = self._thumbnails.pixmap(
                source, SIDE, ratio, is_fleeting=True
            ) or self._thumbnails.placeholder(source)
            paint_square(painter, rect, picture)
            is_chosen = bool(canvas.chosen[row])
            own = (
                QColor.fromRgb(int(scene.colouring.colours[row]))
                if scene.colouring is not None
                else QColor()
            )
            colour = QColor(colours.accent) if is_chosen or row == canvas.current else own
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(
                QPen(colour, 3 if is_chosen or row in (canvas.current, canvas.hovered) else 2)
            )
            painter.drawRoundedRect(rect, RADIUS, RADIUS)

    def _shown(self) -> tuple[int, ...]:
        view = self._canvas.camera, self._canvas.scene
        if view != self._view:
            self._rows, self._view = self._choose(), view
            points = self._canvas.scene.points
            sources = (self._source_of(int(points.image_ids[row])) for row in self._rows)
            self._sources = {source for source in sources if source is not None}
            self._thumbnails.keep_only(self._sources)
        return self._rows

    def _choose(self) -> tuple[int, ...]:
        """Choose one image per cell, independent of panning, so that thumbnails do not flicker."""
        canvas = self._canvas
        places = canvas.scene.points.places
        if not len(places) or canvas.scene.order is None:
            return ()
        rows = canvas.rows_in_view()
        if not 0 < len(rows) <= FEW:
            return ()
        unit = 2.0 ** ceil(log2(CELL / canvas.camera.scale))
        cells = np.floor(places[rows] / np.float32(unit)).astype(np.int64)
        number = cells[:, 0] * 1_000_003 + cells[:, 1]
        _cells, first = np.unique(number, return_index=True)
        return tuple(self._apart(rows[np.sort(first)].tolist()))

    def _apart(self, rows: list[int]) -> list[int]:
        """Rows without those whose thumbnails would overlap earlier ones."""
        kept: list[int] = []
        rects: list[QRect] = []
        for row in rows:
            rect = self._rect(row)
            if len(kept) < MOST and not any(rect.intersects(other) for other in rects):
                kept.append(row)
                rects.append(rect)
        return kept

    def _rect(self, row: int) -> QRect:
        at = self._canvas.point_of(row).toPoint()
        return QRect(at.x() - SIDE // 2, at.y() - SIDE // 2, SIDE, SIDE)

    def _on_ready(self, source: ImageSource) -> None:
        if source in self._sources:
            self._canvas.update()
