"""Objects of no class: a pebble, a key, a button. A subject fills about the unit disc."""

import math

import numpy as np

from research.sample_painter.canvas import Canvas, Floats, Patch
from research.sample_painter.paints import colour, mix, mottle, rise, varied
from research.sample_painter.shapes import disc, smooth, stroke


def draw_pebble(canvas: Canvas, generator: np.random.Generator) -> None:
    """A smooth stone with a vein of quartz."""
    base = varied(colour(("8d8a84", "a89b88", "6f7880")[generator.integers(3)]), generator, 0.08)
    corners = np.linspace(0, 2 * math.pi, 9, endpoint=False)
    reach = generator.uniform(0.72, 0.95, 9)
    outline = smooth(
        [(r * math.cos(a), 0.78 * r * math.sin(a)) for a, r in zip(corners, reach, strict=True)]
    )
    slope, offset = generator.normal(0, 0.8), generator.normal(0, 0.2)

    def paint(patch: Patch) -> Floats:
        lit = (
            1
            - 0.3 * (patch.u * patch.light[0] + patch.v * patch.light[1])
            - 0.25 * (patch.u**2 + patch.v**2)
        )
        grain = 0.12 * mottle(patch, generator, 0.25, octaves=5)
        vein = np.exp(-(((patch.v - slope * patch.u - offset + 0.1 * grain) / 0.05) ** 2))
        return mix(base * (lit + grain)[:, None], colour("e9e6de"), 0.7 * vein)

    canvas.fill([outline], paint, relief=0.35, roundness=0.3)


def draw_button(canvas: Canvas, generator: np.random.Generator) -> None:
    """A round button with a raised rim and four holes."""
    base = varied(
        colour(("b33a3a", "2f5b8a", "e9dfc8", "3b3a3c")[generator.integers(4)]), generator, 0.06
    )
    holes = [disc(0.11, x, y) for x in (-0.19, 0.19) for y in (-0.19, 0.19)]

    def paint(patch: Patch) -> Floats:
        out = np.hypot(patch.u, patch.v)
        toward = (patch.u * patch.light[0] + patch.v * patch.light[1]) / np.maximum(out, 0.05)
        ring = rise(out, 0.55, 0.65) * rise(out, 0.82, 0.7)
        slope = (rise(out, 0.55, 0.62) - 2 * rise(out, 0.7, 0.78)) * rise(out, 0.98, 0.9)
        tone = 0.95 + 0.3 * toward * slope + 0.12 * ring
        return mix(base * tone[:, None], colour("1a1614"), 0.9 * patch.inside(holes))

    canvas.fill([disc(0.9, corners=60)], paint, relief=0.5, roundness=0.08)


def draw_key(canvas: Canvas, generator: np.random.Generator) -> None:
    """An old key: a ring, a shaft and a bit."""
    base = varied(colour(("8a8b90", "b08d4a", "6a5a4c")[generator.integers(3)]), generator, 0.08)

    def paint(patch: Patch) -> Floats:
        return np.asarray(
            base * (0.95 + 0.15 * mottle(patch, generator, 0.12, octaves=4))[:, None], np.float32
        )

    angle = np.linspace(0, 2 * math.pi, 15)
    ring = stroke([(-0.65 + 0.26 * math.cos(a), 0.26 * math.sin(a)) for a in angle], 0.13, 0.13)
    shaft = stroke(((-0.42, 0.0), (0.2, 0.0), (0.92, 0.0)), 0.12, 0.12)
    teeth = generator.uniform(0.2, 0.36, 3)
    bits = [
        np.array(((x, 0.0), (x + 0.12, 0.0), (x + 0.12, depth), (x, depth)), np.float32)
        for x, depth in zip((0.5, 0.64, 0.78), teeth, strict=True)
    ]
    canvas.fill([ring, shaft, *bits], paint, relief=0.7, roundness=0.06)
