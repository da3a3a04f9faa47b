"""Outlines in a shape's own coordinates: petals and leaves, strokes, discs, smooth curves."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from research.sample_painter.canvas import Floats, Outline

Point = tuple[float, float]


@dataclass(frozen=True)
class Blade:
    """A petal or leaf along the x axis from 0 to 1, symmetric, with a width profile.

    Attributes:
        profile: (position along the blade, half width there), from 0 to 1.
    """

    profile: tuple[Point, ...]

    def half_width(self, along: Floats) -> Floats:
        """Half width at positions along the blade, rounded between the profile's points."""
        fine = smooth(self.profile, closed=False, steps=6)
        return np.interp(along, fine[:, 0], np.maximum(fine[:, 1], 0)).astype(np.float32)

    def outline(
        self, generator: np.random.Generator | None = None, *, ripple: float = 0.0
    ) -> Outline:
        """Outline of the blade; with a generator, the rim ripples by a share of its width."""
        fine = smooth(self.profile, closed=False, steps=6)
        upper, lower = fine.copy(), fine[::-1].copy()
        lower[:, 1] *= -1
        outline = np.concatenate((upper, lower))
        if generator is not None and ripple:
            outline[:, 1] *= 1 + ripple * _wobble(len(outline), generator)
        return outline

    def across(self, u: Floats, v: Floats) -> Floats:
        """Position across the blade: -1 at one rim, 0 on the midrib, 1 at the other rim."""
        return v / np.maximum(self.half_width(u), 0.02)


def smooth(points: Sequence[Point], *, closed: bool = True, steps: int = 8) -> Outline:
    """Draw a Catmull-Rom curve through points.

    Args:
        points: corners to pass through.
        closed: whether the curve returns to its start.
        steps: pieces between two corners.
    """
    knots = np.asarray(points, np.float32)
    if closed:
        knots = np.concatenate((knots[-1:], knots, knots[:2]))
    else:
        knots = np.concatenate((2 * knots[:1] - knots[1:2], knots, 2 * knots[-1:] - knots[-2:-1]))
    t = np.linspace(0, 1, steps, endpoint=False, dtype=np.float32)[None, :, None]
    before, start, end, after = (knots[i : len(knots) - 3 + i, None, :] for i in range(4))
    curve = 0.5 * (
        2 * start
        + (end - before) * t
        + (2 * before - 5 * start + 4 * end - after) * t**2
        + (3 * start - before - 3 * end + after) * t**3
    )
    flat = curve.reshape(-1, 2)
    return flat if closed else np.concatenate((flat, knots[-2:-1]))


def stroke(points: Sequence[Point] | Outline, start_width: float, end_width: float) -> Outline:
    """Outline of a line that tapers from one width to another, with smooth bends."""
    path = smooth([(float(x), float(y)) for x, y in points], closed=False, steps=6)
    along = np.gradient(path, axis=0)
    normal = np.stack((-along[:, 1], along[:, 0]), axis=1) / np.maximum(
        np.linalg.norm(along, axis=1)[:, None], 1e-6
    )
    half = np.linspace(start_width / 2, end_width / 2, len(path), dtype=np.float32)[:, None]
    return np.concatenate((path + normal * half, (path - normal * half)[::-1])).astype(np.float32)


def disc(
    radius: float = 1.0, x: float = 0.0, y: float = 0.0, *, flatten: float = 1.0, corners: int = 28
) -> Outline:
    """Outline of a disc, or of an ellipse whose y radius is `flatten` of the x radius."""
    angle = np.linspace(0, 2 * math.pi, corners, endpoint=False)
    return np.stack(
        (x + radius * np.cos(angle), y + radius * flatten * np.sin(angle)), axis=1
    ).astype(np.float32)


def wavy_disc(
    radius: float,
    generator: np.random.Generator,
    *,
    waves: int = 9,
    depth: float = 0.08,
    corners: int = 90,
) -> Outline:
    """Outline of a disc with a frilled rim."""
    angle = np.linspace(0, 2 * math.pi, corners, endpoint=False)
    phase = generator.uniform(0, 2 * math.pi, 2)
    rim = (
        1
        + depth * np.sin(waves * angle + phase[0])
        + 0.5 * depth * np.sin((waves * 2 + 3) * angle + phase[1])
    )
    return np.stack((radius * rim * np.cos(angle), radius * rim * np.sin(angle)), axis=1).astype(
        np.float32
    )


def mirrored(half: Sequence[Point]) -> list[Point]:
    """Close a half outline that starts and ends on the x axis by its mirror image."""
    return [*half, *[(x, -y) for x, y in reversed(half) if abs(y) > 1e-6]]  # noqa: PLR2004 (on the axis)


def spiral(count: int, radius: float, *, start: float = 0.0) -> Outline:
    """Points (count, 2) of a sunflower spiral: uniform in a disc, from the centre outwards."""
    index = np.arange(count)
    reach = radius * np.sqrt((index + 0.5) / count)
    angle = index * math.radians(137.507) + start
    return np.stack((reach * np.cos(angle), reach * np.sin(angle)), axis=1).astype(np.float32)


def _wobble(count: int, generator: np.random.Generator) -> Floats:
    """Smooth random numbers in about -1..1."""
    knots = generator.uniform(-1, 1, max(count // 4, 3))
    return np.interp(np.linspace(0, len(knots) - 1, count), np.arange(len(knots)), knots).astype(
        np.float32
    )
