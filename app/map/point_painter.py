"""Paints the points of a map, or their density; antialiased in the background when at rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QImage, QPainter

from app.map.scene import MANY
from app.theme.tokens import tokens
from engine.map.raster import Layer, View, draw_layers, draw_smooth

if TYPE_CHECKING:
    from app.jobs.background_thread import BackgroundThread
    from app.map.plane import MapPlane

MOST_CHOSEN = 60_000  # selected points painted in a frame, at most
MOST_EDGED = 15_000  # selected points painted with an outline, at most
_EDGE = 1.2  # width in logical pixels
# Device pixel ratio from which antialiasing is not needed.
_FINE = 1.75


@final
class PointPainter:
    """Paints points; caches colours and the antialiased picture."""

    def __init__(self, view: MapPlane, thread: BackgroundThread) -> None:
        self._view = view
        self._thread = thread
        self._smooth: tuple[object, QImage] | None = None

    def paint(self, painter: QPainter) -> None:
        view = self._view
        if self._smooth is not None and self._smooth[0] == self._key() and not view.chosen_count:
            painter.drawImage(0, 0, self._smooth[1])
            return
        is_dense = self._paint_density(painter)
        layers = [] if is_dense else [self._all()]
        if view.chosen_count:
            layers += self._chosen()
        if layers:
            ratio = view.devicePixelRatioF()
            pixels = draw_layers(layers, self._pixel_view(ratio), 0 if is_dense else _ground())
            image = image_over(pixels)
            image.setDevicePixelRatio(ratio)
            painter.drawImage(0, 0, image)

    def _paint_density(self, painter: QPainter) -> bool:
        """Paint the density if too many points are visible."""
        view, density = self._view, self._view.scene.density
        if density is None or len(view.rows_in_view()) <= MANY:
            return False
        side, unit = density.pixels.shape[0], density.unit
        image = QImage(
            density.pixels.data, side, side, 4 * side, QImage.Format.Format_ARGB32_Premultiplied
        )
        left, top, right, bottom = view.camera.seen
        corner = ((left - density.left) / unit, (top - density.top) / unit)
        source = QRectF(*corner, (right - left) / unit, (bottom - top) / unit)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawImage(QRectF(0, 0, view.width(), view.height()), image, source)
        return True

    def _all(self) -> Layer:
        """All points, or the visible ones of very many; faded while some are selected."""
        view, order = self._view, self._view.scene.order
        assert order is not None, "only a coloured scene is painted"
        radius, colours = view.radius * view.devicePixelRatioF(), order.colours
        if view.chosen_count:
            colours = order.faded(_ground())
        if len(order.rows) <= MANY:
            return Layer(order.places, colours, radius)
        rows = np.sort(order.place_of[view.rows_in_view()])
        return Layer(order.places[rows], colours[rows], radius)

    def _chosen(self) -> list[Layer]:
        """The selected points, with a dark outline if there are few."""
        view, order = self._view, self._view.scene.order
        assert order is not None, "only a coloured scene is painted"
        seen, ratio = view.rows_in_view(), view.devicePixelRatioF()
        rows = np.sort(order.place_of[seen[view.chosen[seen]]])
        rows = rows[:: -(-len(rows) // MOST_CHOSEN) or 1]
        places, radius = order.places[rows], view.radius * ratio
        layers = [Layer(places, order.colours[rows], radius)]
        if len(rows) <= MOST_EDGED:
            edge = np.full(len(rows), QColor(tokens().colours.text).rgba(), dtype=np.uint32)
            layers.insert(0, Layer(places, edge, radius + _EDGE * ratio))
        return layers

    def _pixel_view(self, ratio: float) -> View:
        view, camera = self._view, self._view.camera
        width, height = round(view.width() * ratio), round(view.height() * ratio)
        return View(camera.x, camera.y, camera.scale * ratio, max(1, width), max(1, height))

    # -- antialiasing

    def _key(self) -> object:
        """Cache key of the antialiased picture."""
        view = self._view
        return view.camera, view.devicePixelRatioF(), view.scene.order, tokens().scheme

    def smooth_edges(self) -> None:
        """Start antialiasing, unless pixels are too small for it to matter."""
        view, order, ratio = self._view, self._view.scene.order, self._view.devicePixelRatioF()
        if (
            ratio >= _FINE
            or order is None
            or view.chosen_count
            or not view.isVisible()
            or len(order.rows) > MANY
        ):
            return
        key, window, radius = self._key(), self._pixel_view(ratio), view.radius * ratio
        places, colours, ground = order.places, order.colours, _ground()

        def work() -> QImage:
            pixels = draw_smooth(places, colours, window, radius, ground)
            image = image_over(pixels).copy()
            image.setDevicePixelRatio(ratio)
            return image

        self._thread.ask(work, lambda image: self._take(key, image))

    def _take(self, key: object, image: QImage) -> None:
        if key == self._key() and not self._view.chosen_count:
            self._smooth = key, image
            self._view.update()


def image_over(pixels: NDArray[np.uint32]) -> QImage:
    """A `QImage` on the memory of pixels (H, W) without a copy; the rows need not be contiguous.

    The array must outlive the image.
    """
    height, width = pixels.shape
    row = pixels.strides[0] // 4
    flat = np.lib.stride_tricks.as_strided(pixels, ((height - 1) * row + width,), (4,))
    return QImage(
        flat.data, width, height, pixels.strides[0], QImage.Format.Format_ARGB32_Premultiplied
    )


def _ground() -> int:
    return QColor(tokens().colours.sunken).rgba()
