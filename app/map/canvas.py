"""Paints a map: each frame anew from arrays, with smooth edges once it rests; and where the camera looks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log2, pi
from pathlib import Path
from typing import TYPE_CHECKING, Final, final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QImage, QPainter, QPaintEvent, QPen, QPolygonF, QResizeEvent
from PySide6.QtWidgets import QWidget

from app.graph_view.viewport import Camera
from app.jobs.background_thread import BackgroundThread
from app.map.marks import Marks
from app.map.points import Box
from app.map.scene import MANY, Scene, faded
from app.map.thumbs import Thumbs
from app.theme.tokens import tokens
from engine.collection.map.raster import Layer, View, draw_layers, draw_smooth

if TYPE_CHECKING:
    from app.images.thumbnails import Thumbnails

REST_MS: Final = 140  # without a movement, before edges are smoothed
SMALLEST_POINT: Final = 1.1  # radii in logical pixels
LARGEST_POINT: Final = 2.8  # where all is seen; larger the nearer one looks
CROWDING: Final = 0.42  # radius of a point, of the mean distance between points that lie evenly
ZOOM_STEP: Final = 1.25
MOST_ZOOM: Final = 400.0  # times the scale at which all is seen
LEAST_ZOOM: Final = 0.5
_FINE: Final = 1.75  # pixels of the screen for a logical one from which no edge needs to be smoothed
_RING: Final = 2.0
MOST_PIXELS: Final = 900_000  # of the screen that all points of a frame cover: a few milliseconds of work
MOST_CHOSEN: Final = 60_000  # selected points that are painted, in a frame
MOST_EDGED: Final = 15_000  # of which each has an edge


@final
class MapCanvas(QWidget):
    """A view of the plane. Pointer and keys are handled by `app.map.pointer` and the page."""

    looked = Signal()  # the camera moved, or other points came
    selected = Signal()  # other images are selected
    resized = Signal()

    def __init__(self, thumbnails: Thumbnails, path_of: Callable[[int], Path | None]) -> None:
        super().__init__()
        self.scene = Scene()
        self.camera = Camera()
        self.shows_names = self.shows_prototypes = self.shows_edges = True
        self.chosen = np.zeros(0, dtype=bool)  # (n,) selected points
        self.current: int | None = None  # row of the point that was clicked last
        self.hovered: int | None = None
        self.outline: Sequence[QPointF] = ()  # of a lasso that is being drawn
        self.covered: tuple[Box, ...] = ()  # where names would be hidden, in logical pixels
        self.marks = Marks(self)
        self.thumbs = Thumbs(self, thumbnails, path_of)
        self._is_fitted = True
        self._faded: NDArray[np.uint32] | None = None
        self._chosen_count = 0
        self._seen_rows: NDArray[np.int64] | None = None
        self._smooth: tuple[object, QImage] | None = None
        self._thread = BackgroundThread("map", self)
        self._rest = QTimer(self, singleShot=True, interval=REST_MS)
        self._rest.timeout.connect(self._smooth_edges)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)

    def stop(self) -> None:
        """End the thread that smooths edges."""
        self._rest.stop()
        self._thread.stop()

    # -- what is shown

    def show_scene(self, scene: Scene) -> None:
        """Show another state; what is selected stays, by image."""
        before = self.scene
        if scene.points is not before.points:
            kept = scene.points.rows_of(before.points.image_ids[self.chosen])
            at = None if self.current is None else scene.points.rows_of([int(before.points.image_ids[self.current])])
            self.chosen = np.zeros(len(scene.points), dtype=bool)
            self.chosen[kept] = True
            self.current = None if at is None or not len(at) else int(at[0])
            self._chosen_count = len(kept)
            self.hovered = None
        self.scene, self._faded = scene, None
        self.marks.forget()
        if self._is_fitted:
            self.fit()
        self._look_again()

    def choose(self, rows: NDArray[np.bool_]) -> None:
        """Select points (n,)."""
        if not np.array_equal(rows, self.chosen):
            self.chosen = rows
            self._chosen_count = int(np.count_nonzero(rows))
            self._look_again()
            self.selected.emit()

    @property
    def chosen_ids(self) -> NDArray[np.int64]:
        return self.scene.points.image_ids[self.chosen]

    def show_options(self, *, names: bool, prototypes: bool, edges: bool) -> None:
        self.shows_names, self.shows_prototypes, self.shows_edges = names, prototypes, edges
        self.update()

    # -- the camera

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
        """Look at all of it."""
        left, top, right, bottom = self.scene.points.bounds
        self.look(Camera((left + right) / 2, (top + bottom) / 2, self.fitting_scale))
        self._is_fitted = True

    def look(self, camera: Camera) -> None:
        """Look from another place."""
        if camera != self.camera:
            self.camera, self._is_fitted = camera, False
            self._look_again()
            self.looked.emit()

    def pan(self, dx: float, dy: float) -> None:
        """Move what is seen by logical pixels."""
        self.look(self.camera.moved(dx, dy))

    def zoom(self, factor: float, at: QPointF | None = None) -> None:
        """Zoom around a place of the widget, by default its middle."""
        place = QPointF(self.width() / 2, self.height() / 2) if at is None else at
        fitting = self.fitting_scale
        scale = min(max(self.camera.scale * factor, LEAST_ZOOM * fitting), MOST_ZOOM * fitting)
        self.look(self.camera.zoomed(scale, (place.x(), place.y()), self.view_size))

    def look_at(self, row: int) -> None:
        """Bring a point into view."""
        x, y = self.scene.points.places[row].tolist()
        left, top, right, bottom = self.seen
        if not (left <= x <= right and top <= y <= bottom):
            self.look(Camera(x, y, self.camera.scale))

    def rows_in_view(self) -> NDArray[np.int64]:
        """Rows of the points that are seen; looked for once for each place of the camera."""
        if self._seen_rows is None:
            self._seen_rows = np.flatnonzero(self.scene.points.within(self.seen))
        return self._seen_rows

    @property
    def is_moving(self) -> bool:
        """Whether it moved just now: speed counts for more than smooth edges."""
        return self._rest.isActive()

    def place_at(self, point: QPointF) -> tuple[float, float]:
        """The place in the plane below a point of the widget."""
        return self.camera.to_drawing(point.x(), point.y(), self.view_size)

    def point_of(self, x: float, y: float) -> QPointF:
        return QPointF(*self.camera.to_view(x, y, self.view_size))

    def row_at(self, point: QPointF, reach: float = 9.0) -> int | None:
        """The row of the image at a point of the widget: of its thumbnail, else the nearest point."""
        shown = self.thumbs.row_at(point)
        if shown is not None:
            return shown
        x, y = self.place_at(point)
        return self.scene.points.nearest(x, y, (reach + self.radius) / self.camera.scale)

    @property
    def radius(self) -> float:
        """Of a point, in logical pixels: larger the nearer one looks."""
        left, top, right, bottom = self.scene.points.bounds
        apart = ((right - left) * (bottom - top) / max(len(self.scene.points), 1)) ** 0.5
        most = LARGEST_POINT + max(0.0, log2(self.camera.scale / self.fitting_scale)) / 2
        ratio, seen = self.devicePixelRatioF(), max(len(self.rows_in_view()), 1)
        affordable = (MOST_PIXELS / (pi * seen)) ** 0.5 / ratio
        return min(max(CROWDING * apart * self.camera.scale, SMALLEST_POINT), most, max(affordable, SMALLEST_POINT))

    # -- painting

    def paintEvent(self, _event: QPaintEvent) -> None:
        colours, painter = tokens().colours, QPainter(self)
        painter.fillRect(self.rect(), QColor(colours.sunken))
        if self.scene.order is not None:
            self._paint_points(painter)
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

    def _paint_points(self, painter: QPainter) -> None:
        smooth = self._smooth
        if smooth is not None and smooth[0] == self._painted_key():
            painter.drawImage(0, 0, smooth[1])
            return
        ratio = self.devicePixelRatioF()
        is_dense = self._paint_density(painter)
        layers = [] if is_dense else [self._in_view()]
        if self._chosen_count:
            layers += self._chosen_layers()
        if layers:
            _paint(painter, draw_layers(layers, self._view(ratio), 0 if is_dense else self._ground()), ratio)

    def _paint_density(self, painter: QPainter) -> bool:
        """Paint the density where too many points are in view."""
        density = self.scene.density
        if density is None or len(self.rows_in_view()) <= MANY:
            return False
        side = density.pixels.shape[0]
        image = QImage(density.pixels.data, side, side, 4 * side, QImage.Format.Format_ARGB32_Premultiplied)
        left, top, right, bottom = self.seen
        unit = density.unit
        source = QRectF(
            (left - density.left) / unit, (top - density.top) / unit, (right - left) / unit, (bottom - top) / unit
        )
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawImage(QRectF(self.rect()), image, source)
        return True

    def _in_view(self) -> Layer:
        """All points, or those in view of very many; fainter while some are selected."""
        order, radius = self.scene.order, self.radius * self.devicePixelRatioF()
        assert order is not None
        colours = order.colours
        if self._chosen_count:
            if self._faded is None:
                self._faded = faded(order.colours, self._ground())
            colours = self._faded
        if len(order.rows) <= MANY:
            return Layer(order.places, colours, radius)
        rows = np.sort(order.place_of[self.rows_in_view()])
        return Layer(order.places[rows], colours[rows], radius)

    def _chosen_layers(self) -> list[Layer]:
        """The selected points, with a dark edge as long as there are few."""
        order, ratio = self.scene.order, self.devicePixelRatioF()
        assert order is not None
        seen = self.rows_in_view()
        rows = np.sort(order.place_of[seen[self.chosen[seen]]])
        rows = rows[:: -(-len(rows) // MOST_CHOSEN) or 1]
        places, radius = order.places[rows], self.radius * ratio
        layers = [Layer(places, order.colours[rows], radius)]
        if len(rows) <= MOST_EDGED:
            edge = np.full(len(rows), QColor(tokens().colours.text).rgba(), dtype=np.uint32)
            layers.insert(0, Layer(places, edge, radius + 1.2 * ratio))
        return layers

    def _paint_rings(self, painter: QPainter) -> None:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for row, colour in ((self.current, tokens().colours.accent), (self.hovered, tokens().colours.text)):
            if row is not None and not self.thumbs.shows(row):
                painter.setPen(QPen(QColor(colour), _RING))
                reach = self.radius + 3
                painter.drawEllipse(self.point_of(*self.scene.points.places[row].tolist()), reach, reach)

    def _paint_outline(self, painter: QPainter) -> None:
        if len(self.outline) > 1:
            colours = tokens().colours
            veil = QColor(colours.accent)
            veil.setAlpha(36)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(QColor(colours.accent), 1.5))
            painter.setBrush(veil)
            painter.drawPolygon(QPolygonF(list(self.outline)))

    def _view(self, ratio: float) -> View:
        width, height = round(self.width() * ratio), round(self.height() * ratio)
        return View(self.camera.x, self.camera.y, self.camera.scale * ratio, max(1, width), max(1, height))

    @staticmethod
    def _ground() -> int:
        return QColor(tokens().colours.sunken).rgba()

    # -- smooth edges, once it rests

    def _look_again(self) -> None:
        self._smooth = self._seen_rows = None
        self._rest.start()
        self.thumbs.look_again()
        self.update()

    def _painted_key(self) -> object:
        """What a smooth picture must be of to be the present one."""
        return self.camera, self.size(), self.devicePixelRatioF(), id(self.scene.order), tokens().scheme

    def _smooth_edges(self) -> None:
        self.update()
        ratio, order = self.devicePixelRatioF(), self.scene.order
        if ratio >= _FINE or order is None or self._chosen_count or not self.isVisible() or len(order.rows) > MANY:
            return
        key, view, radius = self._painted_key(), self._view(ratio), self.radius * ratio
        places, colours, ground = order.places, order.colours, self._ground()

        def work() -> None:
            pixels = draw_smooth(places, colours, view, radius, ground)
            image = image_over(pixels).copy()
            image.setDevicePixelRatio(ratio)
            self._thread.post(lambda: self._take_smooth(key, image))

        self._thread.submit(work, lambda _message: None)

    def _take_smooth(self, key: object, image: QImage) -> None:
        if key == self._painted_key() and not self._chosen_count:
            self._smooth = key, image
            self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._is_fitted:
            self.fit()
        self._look_again()
        self.resized.emit()

    def changeEvent(self, event: QEvent) -> None:
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.StyleChange):
            self.marks.forget()
            self._faded = None
            self._look_again()
        super().changeEvent(event)

    def sizeHint(self) -> QSize:
        return QSize(640, 480)


def _paint(painter: QPainter, pixels: NDArray[np.uint32], ratio: float) -> None:
    image = image_over(pixels)
    image.setDevicePixelRatio(ratio)
    painter.drawImage(0, 0, image)


def image_over(pixels: NDArray[np.uint32]) -> QImage:
    """A Qt image over the memory of pixels (H, W), which must live as long; the rows may lie apart."""
    height, width = pixels.shape
    row = pixels.strides[0] // 4
    flat = np.lib.stride_tricks.as_strided(pixels, ((height - 1) * row + width,), (4,))
    return QImage(flat.data, width, height, pixels.strides[0], QImage.Format.Format_ARGB32_Premultiplied)
