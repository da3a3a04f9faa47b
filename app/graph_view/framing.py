"""Cameras that frame a drawing.

Scales at rest are discrete, so that cached tiles fit pixel by pixel.
"""

from dataclasses import replace
from math import floor, log2

from app.canvas.camera import Camera, Rect

STEPS_PER_DOUBLING = 4
LARGEST_STEP = 4  # twice the full size
SMALLEST_STEP = -36  # fits 82,000 classes side by side
FIT_MARGIN = 24.0  # logical pixels around a fitted drawing
# Least initial scale, at which names are readable.
READABLE_STEP = -2


def scale_of(step: int) -> float:
    """Logical pixels per drawing unit."""
    return float(2.0 ** (step / STEPS_PER_DOUBLING))


def step_near(scale: float) -> int:
    return _limited(round(STEPS_PER_DOUBLING * log2(scale)))


def _limited(step: int) -> int:
    return max(SMALLEST_STEP, min(LARGEST_STEP, step))


def fitting(bounds: Rect, view: Camera, *, covered: float = 0.0) -> Camera:
    """The camera that shows all of `bounds`, at most at full size.

    Args:
        view: a camera of the same view.
        covered: pixels at the top that are covered by other widgets.
    """
    across = max(view.width - 2 * FIT_MARGIN, 1.0) / max(bounds[2] - bounds[0], 1.0)
    along = max(view.height - covered - 2 * FIT_MARGIN, 1.0) / max(bounds[3] - bounds[1], 1.0)
    step = floor(STEPS_PER_DOUBLING * log2(min(across, along)) + 1e-9)
    return view.centred(bounds, scale_of(min(0, _limited(step))), covered=covered)


def bringing_in(camera: Camera, box: Rect, margin: float, *, covered: float = 0.0) -> Camera:
    """Move the camera as little as needed to show `box`.

    Args:
        margin: least distance to the edge of the view, in pixels.
        covered: pixels at the top that are covered by other widgets.
    """
    seen, room = camera.seen, margin / camera.scale
    above = max(margin, covered + FIT_MARGIN) / camera.scale
    x = camera.x + _shift(box[0] - room, box[2] + room, seen[0], seen[2])
    y = camera.y + _shift(box[1] - above, box[3] + room, seen[1], seen[3])
    return replace(camera, x=x, y=y)


def kept_within(camera: Camera, bounds: Rect, *, covered: float) -> Camera:
    """Move the camera so that no empty space is visible where the drawing could fill it."""
    room, above = FIT_MARGIN / camera.scale, (covered + FIT_MARGIN) / camera.scale
    seen = camera.seen
    x = camera.x + _back(seen[0], seen[2], bounds[0] - room, bounds[2] + room)
    y = camera.y + _back(seen[1], seen[3], bounds[1] - above, bounds[3] + room)
    return replace(camera, x=x, y=y)


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
