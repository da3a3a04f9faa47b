"""How the camera moves: at once under a hand that drags, smoothly after a wheel or a key, in flight to a class."""

from __future__ import annotations

import time
from typing import Final, final

from PySide6.QtCore import QObject, QTimer, Signal

from app.graph_view.camera import LARGEST_STEP, Camera, Rect, Size, bringing_in, fitting, scale_of, step_near

FRAME_MS: Final = 16  # between two frames of a movement
ZOOM_S: Final = 0.14  # a step of the wheel: long enough to see where things go, short enough not to wait
FLIGHT_S: Final = 0.28  # a flight to a class
MARGIN: Final = 48.0  # logical pixels around what was flown to
FIRST_SCALE: Final = 0.25  # a drawing is first seen at least so large: classes have faces then
WHEEL_UNITS: Final = 60.0  # of a wheel's angle, for one step: a notch of a usual wheel is two


@final
class Viewport(QObject):
    """Where one looks from."""

    moved = Signal()
    settled = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.camera = Camera()
        self.view: Size = (1.0, 1.0)
        self.covered = 0.0  # logical pixels at the upper edge that something lies on
        self.is_calm = False  # nothing moves by itself: a movement ends as soon as it begins
        self._from = self._goal = self.camera
        self._began_s = self._length_s = 0.0
        self._turned = 0.0
        self._smallest_step = 0
        self._timer = QTimer(self, interval=FRAME_MS)
        self._timer.timeout.connect(self._on_frame)

    @property
    def is_moving(self) -> bool:
        return self._timer.isActive()

    @property
    def goal(self) -> Camera:
        """Where the camera will come to rest."""
        return self._goal if self.is_moving else self.camera

    def look(self, camera: Camera) -> None:
        self._timer.stop()
        self.camera = self._goal = camera
        self.moved.emit()

    def push(self, dx: float, dy: float) -> None:
        """Move the drawing by so many pixels, as a hand does."""
        if self.is_moving:
            self._goal = self._goal.moved(dx, dy)
            self._from = self._from.moved(dx, dy)
        self.camera = self.camera.moved(dx, dy)
        self.moved.emit()

    def shift(self, dx: float, dy: float) -> None:
        """Follow the drawing, which was moved by so many of its units."""
        self.push(-dx * self.camera.scale, -dy * self.camera.scale)

    def turn_wheel(self, units: float, at: tuple[float, float]) -> None:
        """Zoom around a point of the view by a wheel's angle."""
        self._turned += units / WHEEL_UNITS
        steps = round(self._turned)
        if steps:
            self._turned -= steps
            self.zoom(steps, at)

    def zoom(self, steps: int, at: tuple[float, float] | None = None) -> None:
        """Larger or smaller by steps, around a point of the view; by default its middle."""
        point = at or (self.view[0] / 2, self.view[1] / 2)
        scale = scale_of(min(LARGEST_STEP, max(self._smallest_step, step_near(self.goal.scale) + steps)))
        self._go(self.camera.zoomed(scale, point, self.view), ZOOM_S)

    def pinch(self, factor: float, at: tuple[float, float]) -> None:
        """Zoom as two fingers do; `rest` ends it."""
        self._timer.stop()
        least, most = scale_of(self._smallest_step), scale_of(LARGEST_STEP)
        self.camera = self.camera.zoomed(max(least, min(most, self.camera.scale * factor)), at, self.view)
        self.moved.emit()

    def rest(self) -> None:
        """Come to rest at the nearest step."""
        self._go(self.camera.settled(), ZOOM_S)

    def fit(self, bounds: Rect, *, at_once: bool = False) -> None:
        goal = fitting(bounds, self.view, covered=self.covered)
        self._smallest_step = min(self._smallest_step, step_near(goal.scale))
        self.look(goal) if at_once else self._go(goal, FLIGHT_S)

    def begin(self, bounds: Rect) -> None:
        """See a drawing for the first time: all of it, or its upper part where its classes would be too small."""
        goal = fitting(bounds, self.view, covered=self.covered)
        scale = max(goal.scale, FIRST_SCALE)
        if scale > goal.scale:
            top = bounds[1] + (self.view[1] / 2 - self.covered - MARGIN) / scale
            goal = Camera((bounds[0] + bounds[2]) / 2, top, scale)
        self.look(goal)

    def allow(self, bounds: Rect) -> None:
        """Never be farther away than it takes to see all of this, and a little more."""
        self._smallest_step = step_near(fitting(bounds, self.view, covered=self.covered).scale) - 1

    def bring_in(self, box: Rect) -> None:
        goal = bringing_in(self.goal, box, self.view, MARGIN)
        if goal != self.goal:
            self._go(goal, FLIGHT_S)

    def fly_to(self, box: Rect, least_scale: float) -> None:
        scale = max(self.goal.scale, least_scale)
        self._go(Camera((box[0] + box[2]) / 2, (box[1] + box[3]) / 2, scale), FLIGHT_S)

    # -- moving

    def _go(self, goal: Camera, length_s: float) -> None:
        if self.is_calm:
            self.look(goal)
            self.settled.emit()
            return
        self._from, self._goal = self.camera, goal
        self._began_s, self._length_s = time.perf_counter(), length_s
        self._timer.start()

    def _on_frame(self) -> None:
        share = min(1.0, (time.perf_counter() - self._began_s) / self._length_s)
        if share >= 1.0:
            self._timer.stop()
            self.camera = self._goal
        else:
            self.camera = self._from.towards(self._goal, eased(share))
        self.moved.emit()
        if share >= 1.0:
            self.settled.emit()


def eased(share: float) -> float:
    """Fast at first, gently at rest."""
    return 1 - (1 - share) ** 3
