"""Camera of the drawing: immediate panning, smooth zooming, and animated flights to a class."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from math import floor, log2
from typing import Final, final

from PySide6.QtCore import QObject, QTimer, Signal

Rect = tuple[float, float, float, float]  # left, top, right, bottom
Size = tuple[float, float]  # width and height of the view, in logical pixels

STEPS_PER_DOUBLING: Final = 4
"""Scales at rest are discrete, so that cached tiles fit pixel by pixel."""
LARGEST_STEP: Final = 4  # twice the full size
SMALLEST_STEP: Final = -36  # fits 82,000 classes side by side
_FIT_MARGIN: Final = 24.0  # logical pixels around a fitted drawing
FRAME_MS: Final = 16  # milliseconds per frame of an animation
# Duration of a zoom step.
ZOOM_S: Final = 0.14
FLIGHT_S: Final = 0.28  # duration of a flight to a class
MARGIN: Final = 48.0  # logical pixels around the target of a flight
# Least initial scale, at which names are readable.
READABLE_STEP: Final = -2
WHEEL_UNITS: Final = 60.0  # `QWheelEvent.angleDelta` per step: a usual notch is two steps


def scale_of(step: int) -> float:
    """Logical pixels per drawing unit."""
    return float(2.0 ** (step / STEPS_PER_DOUBLING))


def step_near(scale: float) -> int:
    return _within(round(STEPS_PER_DOUBLING * log2(scale)))


def _within(step: int) -> int:
    return max(SMALLEST_STEP, min(LARGEST_STEP, step))


@dataclass(frozen=True)
class Camera:
    """Position and scale of the view."""

    x: float = 0.0  # drawing coordinates of the view's centre
    y: float = 0.0
    scale: float = 1.0  # logical pixels per drawing unit

    def to_view(self, x: float, y: float, view: Size) -> tuple[float, float]:
        return (x - self.x) * self.scale + view[0] / 2, (y - self.y) * self.scale + view[1] / 2

    def to_drawing(self, x: float, y: float, view: Size) -> tuple[float, float]:
        return (x - view[0] / 2) / self.scale + self.x, (y - view[1] / 2) / self.scale + self.y

    def seen(self, view: Size) -> Rect:
        half_width, half_height = view[0] / 2 / self.scale, view[1] / 2 / self.scale
        return self.x - half_width, self.y - half_height, self.x + half_width, self.y + half_height

    def moved(self, dx: float, dy: float) -> Camera:
        return replace(self, x=self.x - dx / self.scale, y=self.y - dy / self.scale)

    def zoomed(self, scale: float, at: tuple[float, float], view: Size) -> Camera:
        """Zoom to a scale around the point `at`."""
        x, y = self.to_drawing(*at, view)
        return Camera(x - (at[0] - view[0] / 2) / scale, y - (at[1] - view[1] / 2) / scale, scale)

    def towards(self, goal: Camera, share: float) -> Camera:
        """Interpolate to another camera: the scale exponentially, points in both views straight."""
        scale = self.scale * (goal.scale / self.scale) ** share
        if abs(goal.scale - self.scale) < 1e-9 * self.scale:
            part = share
        else:
            part = (1 / self.scale - 1 / scale) / (1 / self.scale - 1 / goal.scale)
        return Camera(self.x + part * (goal.x - self.x), self.y + part * (goal.y - self.y), scale)

    def settled(self) -> Camera:
        return replace(self, scale=scale_of(step_near(self.scale)))


def fitting(bounds: Rect, view: Size, *, covered: float = 0.0) -> Camera:
    """The camera that shows all of `bounds`, at most at full size.

    Args:
        covered: pixels at the top that are covered by other widgets.
    """
    width = max(bounds[2] - bounds[0], 1.0)
    height = max(bounds[3] - bounds[1], 1.0)
    room = max(view[0] - 2 * _FIT_MARGIN, 1.0), max(view[1] - covered - 2 * _FIT_MARGIN, 1.0)
    step = floor(STEPS_PER_DOUBLING * log2(min(room[0] / width, room[1] / height)) + 1e-9)
    scale = scale_of(min(0, _within(step)))
    return Camera(
        (bounds[0] + bounds[2]) / 2, (bounds[1] + bounds[3]) / 2 - covered / 2 / scale, scale
    )


def bringing_in(
    camera: Camera, box: Rect, view: Size, margin: float, *, covered: float = 0.0
) -> Camera:
    """Move the camera as little as needed to show `box`.

    Args:
        margin: least distance to the edge of the view, in pixels.
        covered: pixels at the top that are covered by other widgets.
    """
    seen, room = camera.seen(view), margin / camera.scale
    above = max(margin, covered + _FIT_MARGIN) / camera.scale
    x = camera.x + _shift(box[0] - room, box[2] + room, seen[0], seen[2])
    y = camera.y + _shift(box[1] - above, box[3] + room, seen[1], seen[3])
    return Camera(x, y, camera.scale)


def _kept_within(camera: Camera, bounds: Rect, view: Size, *, covered: float) -> Camera:
    """Move the camera so that no empty space is visible where the drawing could fill it."""
    room, above = _FIT_MARGIN / camera.scale, (covered + _FIT_MARGIN) / camera.scale
    seen = camera.seen(view)
    x = camera.x + _back(seen[0], seen[2], bounds[0] - room, bounds[2] + room)
    y = camera.y + _back(seen[1], seen[3], bounds[1] - above, bounds[3] + room)
    return Camera(x, y, camera.scale)


def _back(seen_low: float, seen_high: float, low: float, high: float) -> float:
    """Translation that clamps a view to a range, or centres it on a smaller range."""
    if high - low < seen_high - seen_low:
        return (low + high - seen_low - seen_high) / 2
    return max(low - seen_low, 0.0) + min(high - seen_high, 0.0)


def _shift(low: float, high: float, seen_low: float, seen_high: float) -> float:
    """Translation that makes a range visible; its start if it exceeds the view."""
    if low < seen_low or high - low > seen_high - seen_low:
        return low - seen_low
    return max(0.0, high - seen_high)


@final
class Viewport(QObject):
    """Camera with its animations."""

    moved = Signal()
    settled = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.camera = Camera()
        self.view: Size = (1.0, 1.0)
        self.covered = 0.0  # logical pixels at the top covered by other widgets
        self.is_calm = False  # whether animations are off
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
        return self._goal if self.is_moving else self.camera

    def look(self, camera: Camera) -> None:
        self._timer.stop()
        self.camera = self._goal = camera
        self.moved.emit()

    def push(self, dx: float, dy: float) -> None:
        """Pan by pixels."""
        if self.is_moving:
            self._goal = self._goal.moved(dx, dy)
            self._from = self._from.moved(dx, dy)
        self.camera = self.camera.moved(dx, dy)
        self.moved.emit()

    def shift(self, dx: float, dy: float) -> None:
        self.push(-dx * self.camera.scale, -dy * self.camera.scale)

    def turn_wheel(self, units: float, at: tuple[float, float]) -> None:
        self._turned += units / WHEEL_UNITS
        steps = round(self._turned)
        if steps:
            self._turned -= steps
            self.zoom(steps, at)

    def zoom(self, steps: int, at: tuple[float, float] | None = None) -> None:
        """Zoom in by steps (negative: out) around a point of the view, by default its centre."""
        point = at or (self.view[0] / 2, self.view[1] / 2)
        scale = scale_of(
            min(LARGEST_STEP, max(self._smallest_step, step_near(self.goal.scale) + steps))
        )
        self._go(self.camera.zoomed(scale, point, self.view), ZOOM_S)

    def pinch(self, factor: float, at: tuple[float, float]) -> None:
        self._timer.stop()
        least, most = scale_of(self._smallest_step), scale_of(LARGEST_STEP)
        self.camera = self.camera.zoomed(
            max(least, min(most, self.camera.scale * factor)), at, self.view
        )
        self.moved.emit()

    def rest(self) -> None:
        self._go(self.camera.settled(), ZOOM_S)

    def fit(self, bounds: Rect, *, at_once: bool = False) -> None:
        goal = fitting(bounds, self.view, covered=self.covered)
        self._smallest_step = min(self._smallest_step, step_near(goal.scale))
        self.look(goal) if at_once else self._go(goal, FLIGHT_S)

    @property
    def readable_room(self) -> Size:
        """Size of the viewport at the least readable scale, in drawing units."""
        width, height = (
            self.view[0] - 2 * _FIT_MARGIN,
            self.view[1] - self.covered - 2 * _FIT_MARGIN,
        )
        return max(width, 1.0) / scale_of(READABLE_STEP), max(height, 1.0) / scale_of(READABLE_STEP)

    def begin(self, bounds: Rect, first: Rect, chosen: Rect | None, *, at_once: bool) -> None:
        """Show all of a drawing if names are readable then, else a part of it.

        Args:
            bounds: bounding box of the drawing.
            first: box of its first class, where the part starts by default.
            chosen: box of the current class, which is centred.
        """
        goal, scale = fitting(bounds, self.view, covered=self.covered), scale_of(READABLE_STEP)
        if goal.scale < scale:
            goal = self._centred(chosen or first, scale)
            goal = (
                goal
                if chosen is not None
                else _kept_within(goal, bounds, self.view, covered=self.covered)
            )
        self.look(goal) if at_once else self._go(goal, FLIGHT_S)

    def allow(self, bounds: Rect) -> None:
        """Limit zooming out to slightly more than all of these bounds."""
        self._smallest_step = step_near(fitting(bounds, self.view, covered=self.covered).scale) - 1

    def bring_in(self, box: Rect) -> None:
        goal = bringing_in(self.goal, box, self.view, MARGIN, covered=self.covered)
        if goal != self.goal:
            self._go(goal, FLIGHT_S)

    def sees(self, box: Rect) -> bool:
        """Whether a class is completely visible with a readable name."""
        is_in = bringing_in(self.goal, box, self.view, 0.0, covered=self.covered) == self.goal
        return is_in and step_near(self.goal.scale) >= READABLE_STEP

    def fly_to(self, box: Rect) -> None:
        """Centre a class, at a scale where its name is readable."""
        self._go(self._centred(box, max(self.goal.scale, scale_of(READABLE_STEP))), FLIGHT_S)

    def _centred(self, box: Rect, scale: float) -> Camera:
        return Camera(
            (box[0] + box[2]) / 2, (box[1] + box[3]) / 2 - self.covered / 2 / scale, scale
        )

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
    """Ease-out curve."""
    return 1 - (1 - share) ** 3
