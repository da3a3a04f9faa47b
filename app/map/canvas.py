"""Canvas of the map with its camera; edges are antialiased once it stands still."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log2, pi
from typing import TYPE_CHECKING, Final, final

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF, QResizeEvent
from PySide6.QtWidgets import QWidget

from app.graph_view.viewport import Camera
from app.jobs.background_thread import BackgroundThread
from app.map.marks import Marks
from app.map.point_painter import PointPainter
from app.map.points import Box
from app.map.scene import MapScene
from app.map.thumbs import Thumbs
from app.theme.tokens import tokens
from engine.arrays import Flags, Integers, no_flags
from engine.file_parts import ImageSource

if TYPE_CHECKING:
    from app.images.thumbnails import Thumbnails

REST_MS: Final = 140  # time without movement before antialiasing
SMALLEST_POINT: Final = 1.1  # radii in logical pixels
LARGEST_POINT: Final = 2.8  # at the scale that shows all; grows with the zoom
CROWDING: Final = 0.42  # radius of a point, relative to the mean distance of evenly spread points
ZOOM_STEP: Final = 1.25  # factor of a key
MOST_ZOOM: Final = 400.0  # relative to the scale that shows all
LEAST_ZOOM: Final = 0.5  # relative to the scale that shows all
_RING: Final = 2.0  # width in pixels, around the hovered image
# Screen pixels that all points of a frame cover, at most: a few milliseconds of work.
MOST_PIXELS: Final = 900_000


@final
class MapCanvas(QWidget):
    """Canvas of the map. Pointer and keys are handled by `app.map.pointer` and the page."""

    looked = Signal()  # the camera moved, or the points changed
    selected = Signal()  # the selection changed
    resized = Signal()

    def __init__(
        self, thumbnails: Thumbnails, source_of: Callable[[int], ImageSource | None]
    ) -> None:
        super().__init__()
        self.scene = MapScene()
        self.camera = Camera()
        self.shows_names = self.shows_prototypes = self.shows_edges = True
        self.chosen = no_flags()  # (n,) selected points
        self.current: int | None = None  # row of the last clicked point
        self.hovered: int | None = None
        self.outline: Sequence[QPointF] = ()  # of a lasso being drawn
        self.covered: tuple[Box, ...] = ()  # rectangles that cover names, in logical pixels
        self.marks = Marks(self)
        self.thumbs = Thumbs(self, thumbnails, source_of)
        self._is_fitted = True
        self.chosen_count = 0
        self._seen_rows: Integers | None = None
        self._thread = BackgroundThread("map edges", self)
        self.points = PointPainter(self, self._thread)
        self._rest = QTimer(self, singleShot=True, interval=REST_MS)
        self._rest.timeout.connect(self._on_rest)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)

    def stop(self) -> None:
        """Stop the antialiasing thread."""
        self._rest.stop()
        self._thread.stop()

    # -- content

    def show_scene(self, scene: MapScene) -> None:
        """Show another scene; the selection is kept by image."""
        before = self.scene
        if scene.points is not before.points:
            kept = scene.points.rows_of(before.points.image_ids[self.chosen])
            at = (
                None
                if self.current is None
                else scene.points.rows_of([int(before.points.image_ids[self.current])])
            )
            self.chosen = np.zeros(len(scene.points), dtype=bool)
            self.chosen[kept] = True
            self.current = None if at is None or not len(at) else int(at[0])
            self.chosen_count = len(kept)
            self.hovered = None
        self.scene = scene
        self.points.forget_colours()
        self.marks.forget()
        if self._is_fitted:
            self.fit()
        self._look_again()

    def choose(self, rows: Flags) -> None:
        """Select points (n,)."""
        if not np.array_equal(rows, self.chosen):
            self.chosen = rows
            self.chosen_count = int(np.count_nonzero(rows))
            self._look_again()
            self.selected.emit()

    @property
    def chosen_ids(self) -> Integers:
        return self.scene.points.image_ids[self.chosen]

    def show_options(self, *, names: bool, prototypes: bool, edges: bool) -> None:
        self.shows_names, self.shows_prototypes, self.shows_edges = names, prototypes, edges
        self.update()

    # -- camera

    @property
    def view_size(self) -> tuple[float, float]:
        return float(max(1, self.width())), float(max(1, self.height()))

    @property
    def fitting_scale(self) -> float:
        left, top, right, bottom = self.scene.points.bounds
        width, height = self.view_size
        return min(width / (right - left), height / (bottom - top))

    @property
    def seen(self) -> Box:
        return self.camera.seen(self.view_size)

    def fit(self) -> None:
        """Zoom to show all points."""
        left, top, right, bottom = self.scene.points.bounds
        self.look(Camera((left + right) / 2, (top + bottom) / 2, self.fitting_scale))
        self._is_fitted = True

    def look(self, camera: Camera) -> None:
        """Set the camera."""
        if camera != self.camera:
            self.camera, self._is_fitted = camera, False
            self._look_again()
            self.looked.emit()

    def pan(self, dx: float, dy: float) -> None:
        """Pan by logical pixels."""
        self.look(self.camera.moved(dx, dy))

    def zoom(self, factor: float, at: QPointF | None = None) -> None:
        """Zoom around a point of the widget, by default its centre."""
        place = QPointF(self.width() / 2, self.height() / 2) if at is None else at
        fitting = self.fitting_scale
        scale = min(max(self.camera.scale * factor, LEAST_ZOOM * fitting), MOST_ZOOM * fitting)
        self.look(self.camera.zoomed(scale, (place.x(), place.y()), self.view_size))

    def look_at(self, row: int) -> None:
        """Centre a point unless it is visible."""
        x, y = self.scene.points.places[row].tolist()
        left, top, right, bottom = self.seen
        if not (left <= x <= right and top <= y <= bottom):
            self.look(Camera(x, y, self.camera.scale))

    def rows_in_view(self) -> Integers:
        """Rows of the visible points; cached until the camera moves."""
        if self._seen_rows is None:
            self._seen_rows = np.flatnonzero(self.scene.points.within(self.seen))
        return self._seen_rows

    @property
    def is_moving(self) -> bool:
        """Whether the view moved recently, so that speed has priority over antialiasing."""
        return self._rest.isActive()

    def place_at(self, point: QPointF) -> tuple[float, float]:
        """Coordinates of a point of the widget in the plane."""
        return self.camera.to_drawing(point.x(), point.y(), self.view_size)

    def point_of(self, x: float, y: float) -> QPointF:
        return QPointF(*self.camera.to_view(x, y, self.view_size))

    def row_at(self, point: QPointF, reach: float = 9.0) -> int | None:
        """Row of the thumbnail at a point of the widget, else of the nearest point within reach."""
        shown = self.thumbs.row_at(point)
        if shown is not None:
            return shown
        x, y = self.place_at(point)
        return self.scene.points.nearest(x, y, (reach + self.radius) / self.camera.scale)

    @property
    def radius(self) -> float:
        """Radius of a point in logical pixels; grows with the zoom."""
        left, top, right, bottom = self.scene.points.bounds
        apart = ((right - left) * (bottom - top) / max(len(self.scene.points), 1)) ** 0.5
        most = LARGEST_POINT + max(0.0, log2(self.camera.scale / self.fitting_scale)) / 2
        ratio, seen = self.devicePixelRatioF(), max(len(self.rows_in_view()), 1)
        affordable = (MOST_PIXELS / (pi * seen)) ** 0.5 / ratio
        return min(
            max(CROWDING * apart * self.camera.scale, SMALLEST_POINT),
            most,
            max(affordable, SMALLEST_POINT),
        )

    # -- painting

    def paintEvent(self, _event: QPaintEvent) -> None:
        colours, painter = tokens().colours, QPainter(self)
        painter.fillRect(self.rect(), QColor(colours.sunken))
        if self.scene.order is not None:
            self.points.paint(painter)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, not self.is_moving)
            if self.shows_edges and self.shows_prototypes:
                self.marks.paint_edges(painter)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self.thumbs.paint(painter)
            if self.shows_prototypes:
                self.marks.paint_prototypes(painter)
            if self.shows_names:
                self.marks.paint_names(painter)
            self._paint_rings(painter)
        self._paint_outline(painter)
        painter.end()

    def _paint_rings(self, painter: QPainter) -> None:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for row, colour in (
            (self.current, tokens().colours.accent),
            (self.hovered, tokens().colours.text),
        ):
            if row is not None and not self.thumbs.shows(row):
                painter.setPen(QPen(QColor(colour), _RING))
                reach = self.radius + 3
                painter.drawEllipse(
                    self.point_of(*self.scene.points.places[row].tolist()), reach, reach
                )

    def _paint_outline(self, painter: QPainter) -> None:
        if len(self.outline) > 1:
            colours = tokens().colours
            veil = QColor(colours.accent)
            veil.setAlpha(36)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(QColor(colours.accent), 1.5))
            painter.setBrush(veil)
            painter.drawPolygon(QPolygonF(list(self.outline)))

    # -- antialiasing

    def _look_again(self) -> None:
        self._seen_rows = None
        self.points.forget_smooth()
        self._rest.start()
        self.thumbs.look_again()
        self.update()

    def _on_rest(self) -> None:
        self.update()
        self.points.smooth_edges()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._is_fitted:
            self.fit()
        self._look_again()
        self.resized.emit()

    def changeEvent(self, event: QEvent) -> None:
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.StyleChange):
            self.marks.forget()
            self.points.forget_colours()
            self._look_again()
        super().changeEvent(event)

    def sizeHint(self) -> QSize:
        return QSize(640, 480)
