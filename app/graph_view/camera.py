"""Where one looks at the drawing from: a point of it in the middle of the view, and how large it is shown."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import floor, log2
from typing import Final

Rect = tuple[float, float, float, float]  # left, top, right, bottom
Size = tuple[float, float]  # width and height of the view, in logical pixels

STEPS_PER_DOUBLING: Final = 4
"""Scales at rest are steps: pictures that were painted at one fit again wherever one looks, pixel by pixel."""
LARGEST_STEP: Final = 4  # twice as large as drawn
SMALLEST_STEP: Final = -36  # 82,000 classes side by side fit on a screen
_FIT_MARGIN: Final = 24.0  # logical pixels around what is fitted


def scale_of(step: int) -> float:
    """Logical pixels for one unit of the drawing."""
    return float(2.0 ** (step / STEPS_PER_DOUBLING))


def step_near(scale: float) -> int:
    """The step nearest to a scale."""
    return _within(round(STEPS_PER_DOUBLING * log2(scale)))


def _within(step: int) -> int:
    return max(SMALLEST_STEP, min(LARGEST_STEP, step))


@dataclass(frozen=True)
class Camera:
    """A place to look from."""

    x: float = 0.0  # point of the drawing in the middle of the view
    y: float = 0.0
    scale: float = 1.0  # logical pixels for one unit of the drawing

    def to_view(self, x: float, y: float, view: Size) -> tuple[float, float]:
        return (x - self.x) * self.scale + view[0] / 2, (y - self.y) * self.scale + view[1] / 2

    def to_drawing(self, x: float, y: float, view: Size) -> tuple[float, float]:
        return (x - view[0] / 2) / self.scale + self.x, (y - view[1] / 2) / self.scale + self.y

    def seen(self, view: Size) -> Rect:
        half_width, half_height = view[0] / 2 / self.scale, view[1] / 2 / self.scale
        return self.x - half_width, self.y - half_height, self.x + half_width, self.y + half_height

    def moved(self, dx: float, dy: float) -> Camera:
        """After the drawing was pushed by so many pixels of the view."""
        return replace(self, x=self.x - dx / self.scale, y=self.y - dy / self.scale)

    def zoomed(self, scale: float, at: tuple[float, float], view: Size) -> Camera:
        """With another scale; what is seen at `at` stays there."""
        x, y = self.to_drawing(*at, view)
        return Camera(x - (at[0] - view[0] / 2) / scale, y - (at[1] - view[1] / 2) / scale, scale)

    def towards(self, goal: Camera, share: float) -> Camera:
        """Part of the way to another place: the scale grows evenly, and what is in both views moves straight."""
        scale = self.scale * (goal.scale / self.scale) ** share
        if abs(goal.scale - self.scale) < 1e-9 * self.scale:
            part = share
        else:
            part = (1 / self.scale - 1 / scale) / (1 / self.scale - 1 / goal.scale)
        return Camera(self.x + part * (goal.x - self.x), self.y + part * (goal.y - self.y), scale)

    def settled(self) -> Camera:
        """At the nearest scale that is a step."""
        return replace(self, scale=scale_of(step_near(self.scale)))


def fitting(bounds: Rect, view: Size, *, covered: float = 0.0) -> Camera:
    """The camera that shows all of `bounds`, as large as a step allows, but no larger than drawn.

    Args:
        covered: logical pixels at its upper edge that something lies on.
    """
    width = max(bounds[2] - bounds[0], 1.0)
    height = max(bounds[3] - bounds[1], 1.0)
    room = max(view[0] - 2 * _FIT_MARGIN, 1.0), max(view[1] - covered - 2 * _FIT_MARGIN, 1.0)
    step = floor(STEPS_PER_DOUBLING * log2(min(room[0] / width, room[1] / height)) + 1e-9)
    scale = scale_of(min(0, _within(step)))
    return Camera((bounds[0] + bounds[2]) / 2, (bounds[1] + bounds[3]) / 2 - covered / 2 / scale, scale)


def bringing_in(camera: Camera, box: Rect, view: Size, margin: float) -> Camera:
    """The camera moved as little as it must be for `box` to be seen, `margin` pixels from the edge."""
    seen, room = camera.seen(view), margin / camera.scale
    x = camera.x + _shift(box[0] - room, box[2] + room, seen[0], seen[2])
    y = camera.y + _shift(box[1] - room, box[3] + room, seen[1], seen[3])
    return Camera(x, y, camera.scale)


def _shift(low: float, high: float, seen_low: float, seen_high: float) -> float:
    """How far to move so that a range is seen; its beginning where it is longer than the view."""
    if low < seen_low or high - low > seen_high - seen_low:
        return low - seen_low
    return max(0.0, high - seen_high)
