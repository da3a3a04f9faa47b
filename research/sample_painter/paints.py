"""Colours and paints: ramps, petal streaks, shiny balls, clouds of noise."""

from collections.abc import Sequence

import numpy as np
from PIL import Image

from research.sample_painter.canvas import Floats, Paint, Patch
from research.sample_painter.shapes import Blade

Colour = Floats  # (3,): red, green, blue in 0..1


def colour(text: str) -> Colour:
    """Read a colour such as "e8c14a"."""
    return np.array([int(text[i : i + 2], 16) / 255 for i in (0, 2, 4)], np.float32)


def varied(base: Colour, generator: np.random.Generator, amount: float = 0.05) -> Colour:
    """Vary a colour a little in brightness and in each channel."""
    shift = generator.normal(0, amount) + generator.normal(0, amount / 2, 3)
    return np.clip(base * (1 + shift), 0, 1).astype(np.float32)


def mix(first: Floats, second: Floats, share: Floats | float) -> Floats:
    """Blend two colours; `share` (pixels,) is the weight of the second."""
    weight = np.asarray(share, np.float32)[..., None]
    return np.asarray(first + (second - first) * weight, np.float32)


def ramp(position: Floats, stops: Sequence[tuple[float, Colour]]) -> Floats:
    """Interpolate colours at positions; stops are (position, colour), ascending."""
    at = [stop for stop, _ in stops]
    channels = [np.interp(position, at, [shade[i] for _, shade in stops]) for i in range(3)]
    return np.stack(channels, axis=-1).astype(np.float32)


def rise(position: Floats, start: float, end: float) -> Floats:
    """Smooth step from 0 at `start` to 1 at `end`; falling where `end` is smaller."""
    share = np.clip((position - start) / (end - start), 0, 1)
    return np.asarray(share * share * (3 - 2 * share), np.float32)


def plain(base: Colour) -> Paint:
    """One colour everywhere; relief comes from the canvas."""
    return lambda patch: np.broadcast_to(base, (len(patch.u), 3))


def streaks(position: Floats, generator: np.random.Generator, count: int) -> Floats:
    """Uneven stripes in -1..1 across positions in -1..1."""
    heights = generator.uniform(-1, 1, count)
    return np.interp(position, np.linspace(-1, 1, count), heights).astype(np.float32)


def petal_paint(
    blade: Blade,
    stops: Sequence[tuple[float, Colour]],
    generator: np.random.Generator,
    *,
    streak: float = 0.06,
    veins: int = 25,
    groove: float = 0.05,
) -> Paint:
    """Paint of a petal: a ramp from base to tip, streaks along its shape, a groove in the middle.

    Args:
        blade: the petal's shape.
        stops: colours from base (0) to tip (1).
        generator: draws the streaks.
        streak: strength of the streaks.
        veins: how many streaks lie across the petal.
        groove: darkness of the middle line.
    """

    def paint(patch: Patch) -> Floats:
        across = blade.across(patch.u, patch.v)
        light = 1 + streak * streaks(across, generator, veins) * (0.4 + 0.6 * patch.u)
        light -= groove * np.exp(-((across / 0.16) ** 2)) * rise(patch.u, 1.05, 0.5)
        return np.asarray(ramp(patch.u, stops) * light[:, None], np.float32)

    return paint


def ball_paint(
    base: Colour,
    *,
    gloss: float = 0.5,
    dark: float = 0.45,
    bounce: float = 0.12,
    radius: tuple[float, float] = (1, 1),
) -> Paint:
    """Paint of a shiny ball that fills the ellipse of the given radii.

    Args:
        base: colour where the light falls slantwise.
        gloss: strength of the highlight.
        dark: how dark the side away from the light is.
        bounce: light reflected by the ground on the dark rim.
        radius: the ellipse's radii along u and v.
    """

    def paint(patch: Patch) -> Floats:
        x, y = patch.u / radius[0], patch.v / radius[1]
        out = np.clip(x * x + y * y, 0, 1)
        height = np.sqrt(1 - out)
        lit = -(x * patch.light[0] + y * patch.light[1]) * 0.62 + height * 0.78
        shade = (
            1
            - dark
            + dark * np.clip(lit, 0, 1) * 1.35
            + bounce * rise(out, 0.6, 1) * rise(lit, 0.35, -0.4)
        )
        spark = np.exp(
            -((x + patch.light[0] * 0.42) ** 2 + (y + patch.light[1] * 0.42) ** 2) / 0.035
        )
        haze = (
            np.exp(-((x + patch.light[0] * 0.35) ** 2 + (y + patch.light[1] * 0.35) ** 2) / 0.22)
            * 0.28
        )
        return mix(
            base * shade[:, None], np.ones(3, np.float32), np.clip((spark + haze) * gloss, 0, 1)
        )

    return paint


def clouds(
    height: int, width: int, cell: float, generator: np.random.Generator, *, octaves: int = 3
) -> Floats:
    """Fractal noise of about -1..1: layers of halving cell size and amplitude.

    Args:
        height: rows.
        width: columns.
        cell: size of the coarsest spots, in pixels.
        generator: draws it.
        octaves: how many layers.
    """
    total = np.zeros((height, width), np.float32)
    for octave in range(octaves):
        size = max(cell / 2**octave, 1.0)
        small = (max(round(width / size), 2), max(round(height / size), 2))
        grid = generator.uniform(-1, 1, (small[1], small[0])).astype(np.float32)
        layer = np.asarray(Image.fromarray(grid).resize((width, height), Image.Resampling.BICUBIC))
        total += layer * np.float32(0.5**octave)
    return total


def mottle(
    patch: Patch, generator: np.random.Generator, cell: float, *, octaves: int = 3
) -> Floats:
    """Fractal noise of about -1..1 on a patch; `cell` is in the shape's own units."""
    top, left = int(patch.rows.min()), int(patch.columns.min())
    height, width = int(patch.rows.max()) - top + 1, int(patch.columns.max()) - left + 1
    field = clouds(height, width, cell * patch.place.scale, generator, octaves=octaves)
    return field[patch.rows - top, patch.columns - left]
