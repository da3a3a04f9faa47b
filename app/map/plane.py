"""State of the map's canvas: scene, selection and camera."""

from __future__ import annotations

from math import log2, pi

import numpy as np
from PySide6.QtCore import QPointF, QTimer, Signal
from PySide6.QtGui import QResizeEvent

from app.canvas.camera import Camera, Rect
from app.canvas.canvas import PanZoomCanvas
from app.map.scene import MapScene
from engine.arrays import Flags, Integers

REST_MS = 140  # time without movement before antialiasing
SMALLEST_POINT = 1.1  # radii in logical pixels
LARGEST_POINT = 2.8  # at the scale that shows all; grows with the zoom
CROWDING = 0.42  # radius of a point, relative to the mean distance of evenly spread points
MOST_ZOOM = 400.0  # relative to the scale that shows all
LEAST_ZOOM = 0.5  # relative to the scale that shows all
# Screen pixels that all points of a frame cover, at most: a few milliseconds of work.
MOST_PIXELS = 900_000


class MapPlane(PanZoomCanvas):
    """Abstract canvas of the map, as its painters see it."""

    selected = Signal()  # the selection changed
    resized = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.scene = MapScene()
        self.shows_names = self.shows_prototypes = self.shows_edges = True
        self.chosen = np.zeros(0, dtype=bool)  # (n,) selected points
        self.chosen_count = 0
        self.current: int | None = None  # row of the last clicked point
        self.hovered: int | None = None
        self.covered: tuple[Rect, ...] = ()  # rectangles that cover names, in logical pixels
        self._is_fitted = True
        self._seen_rows: Integers | None = None
        self._rest = QTimer(self, singleShot=True, interval=REST_MS)
        self.looked.connect(self._on_looked)

    # -- content

    def show_scene(self, scene: MapScene) -> None:
        """Show another scene; the selection is kept by image."""
        before = self.scene
        if scene.points is not before.points:
            kept = scene.points.rows_of(before.points.image_ids[self.chosen])
            current = [] if self.current is None else [self.current]
            at = scene.points.rows_of(before.points.image_ids[current]).tolist()
            self.chosen = np.zeros(len(scene.points), dtype=bool)
            self.chosen[kept] = True
            self.chosen_count = len(kept)
            self.current = at[0] if at else None
            self.hovered = None
        self.scene = scene
        if self._is_fitted:
            self.fit()
        self.look_again()

    def choose(self, rows: Flags) -> None:
        """Select points (n,)."""
        if not np.array_equal(rows, self.chosen):
            self.chosen = rows
            self.chosen_count = int(np.count_nonzero(rows))
            self.look_again()
            self.selected.emit()

    @property
    def chosen_ids(self) -> Integers:
        return self.scene.points.image_ids[self.chosen]

    def show_options(self, *, names: bool, prototypes: bool, edges: bool) -> None:
        self.shows_names, self.shows_prototypes, self.shows_edges = names, prototypes, edges
        self.update()

    # -- camera

    @property
    def fitting(self) -> Camera:
        left, top, right, bottom = bounds = self.scene.points.bounds
        scale = min(self.camera.width / (right - left), self.camera.height / (bottom - top))
        return self.camera.centred(bounds, scale)

    @property
    def scale_limits(self) -> tuple[float, float]:
        return LEAST_ZOOM * self.fitting.scale, MOST_ZOOM * self.fitting.scale

    @property
    def magnification(self) -> float:
        """Scale relative to the one that shows all."""
        return self.camera.scale / self.fitting.scale

    def fit(self) -> None:
        """Zoom to show all points, also after resizing."""
        super().fit()
        self._is_fitted = True

    def rows_in_view(self) -> Integers:
        """Rows of the visible points; cached until the camera moves."""
        if self._seen_rows is None:
            self._seen_rows = np.flatnonzero(self.scene.points.within(self.camera.seen))
        return self._seen_rows

    @property
    def moved_recently(self) -> bool:
        """Whether the view moved recently, so that speed has priority over antialiasing."""
        return self._rest.isActive()

    def point_of(self, row: int) -> QPointF:
        """Position of a point on the widget."""
        return QPointF(*self.camera.to_view(*self.scene.points.places[row].tolist()))

    @property
    def radius(self) -> float:
        """Radius of a point in logical pixels; grows with the zoom."""
        left, top, right, bottom = self.scene.points.bounds
        apart = ((right - left) * (bottom - top) / max(len(self.scene.points), 1)) ** 0.5
        most = LARGEST_POINT + max(0.0, log2(self.magnification)) / 2
        seen = max(len(self.rows_in_view()), 1)
        affordable = (MOST_PIXELS / (pi * seen)) ** 0.5 / self.devicePixelRatioF()
        return min(
            max(CROWDING * apart * self.camera.scale, SMALLEST_POINT),
            most,
            max(affordable, SMALLEST_POINT),
        )

    def look_again(self) -> None:
        """Repaint after a change of the view or the content."""
        self._seen_rows = None
        self._rest.start()
        self.update()

    def _on_looked(self) -> None:
        self._is_fitted = False
        self.look_again()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._is_fitted:
            self.fit()
        self.look_again()
        self.resized.emit()
