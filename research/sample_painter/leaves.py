"""Leaves: lobed, toothed and compound, green or autumnal. A subject fills about the unit disc.

A leaf lies along the x axis, its stalk at the left.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from research.sample_painter.canvas import Canvas, Floats, Outline, Paint, Patch, Place, place
from research.sample_painter.paints import Colour, colour, mix, mottle, plain, rise, streaks, varied
from research.sample_painter.shapes import Blade, Point, mirrored, smooth, stroke

OAK_HALF: tuple[Point, ...] = (
    *(
        (0.0, 0.0),
        (0.05, 0.05),
        (0.1, 0.12),
        (0.17, 0.13),
        (0.2, 0.07),
        (0.25, 0.08),
        (0.31, 0.19),
        (0.39, 0.21),
    ),
    *(
        (0.42, 0.13),
        (0.46, 0.11),
        (0.52, 0.25),
        (0.6, 0.3),
        (0.64, 0.26),
        (0.65, 0.16),
        (0.69, 0.15),
        (0.76, 0.26),
    ),
    *((0.83, 0.27), (0.85, 0.17), (0.88, 0.13), (0.94, 0.16), (0.99, 0.09), (1.0, 0.0)),
)
MAPLE_HALF: tuple[Point, ...] = (
    *(
        (0.06, 0.0),
        (0.0, 0.08),
        (0.02, 0.2),
        (-0.06, 0.36),
        (0.06, 0.34),
        (0.14, 0.42),
        (0.19, 0.34),
        (0.27, 0.3),
    ),
    *(
        (0.26, 0.44),
        (0.3, 0.58),
        (0.38, 0.54),
        (0.46, 0.66),
        (0.51, 0.53),
        (0.6, 0.52),
        (0.55, 0.4),
        (0.46, 0.24),
    ),
    *(
        (0.47, 0.17),
        (0.58, 0.22),
        (0.68, 0.32),
        (0.72, 0.23),
        (0.84, 0.21),
        (0.84, 0.1),
        (1.0, 0.0),
    ),
)
BIRCH = Blade(
    ((0, 0.03), (0.06, 0.24), (0.22, 0.36), (0.4, 0.31), (0.65, 0.16), (0.85, 0.06), (1, 0.0))
)
BEECH = Blade(
    ((0, 0.02), (0.12, 0.17), (0.35, 0.3), (0.6, 0.31), (0.82, 0.19), (0.95, 0.06), (1, 0.0))
)
LEAFLET = Blade(((0, 0.02), (0.15, 0.11), (0.45, 0.17), (0.75, 0.13), (0.93, 0.05), (1, 0.0)))
CLOVER_LEAFLET = smooth(
    (
        *((0, 0.03), (0.3, 0.22), (0.62, 0.42), (0.9, 0.36), (1.0, 0.17), (0.95, 0.0)),
        *((1.0, -0.17), (0.9, -0.36), (0.62, -0.42), (0.3, -0.22), (0, -0.03)),
    )
)
BROWN = colour("6b4a2c")


@dataclass(frozen=True)
class Foliage:
    """How leaves of a plant are coloured.

    Attributes:
        blade: colour of the blade.
        autumn: autumn colour from the rim.
        ageing: extent of the autumn colour, 0..1.
        vein: colour of the veins.
        spots: share of brown spots on the blade.
    """

    blade: Colour
    autumn: Colour
    ageing: float
    vein: Colour
    spots: float = 0.0


def draw_oak_leaf(canvas: Canvas, generator: np.random.Generator) -> None:
    """One leaf with round lobes, dark green to brown."""
    green = varied(colour(("4f7330", "5f7f35", "436a34")[generator.integers(3)]), generator, 0.07)
    foliage = _season(generator, green, autumn=("a5712f", "8a5a2b", "b58a3c"), turned=0.25)
    outline = _jittered(smooth(mirrored(OAK_HALF), steps=4), generator, 0.008)
    outline[:, 1] *= generator.normal(1.15, 0.06)
    reaches = ((0.03, 0.12), (0.2, 0.2), (0.42, 0.3), (0.66, 0.26), (0.84, 0.14))
    sides = [_bent(at, reach, 0.17) for at, reach in reaches]
    _leaf(canvas, generator, outline, foliage, _with_mirror(sides), stalk=0.07)


def draw_maple_leaf(canvas: Canvas, generator: np.random.Generator) -> None:
    """One leaf with five pointed lobes on a long stalk, green, yellow or red."""
    green = varied(colour(("6f9a35", "5d8a34", "86a53a")[generator.integers(3)]), generator, 0.06)
    foliage = _season(
        generator, green, autumn=("e07a1f", "d8551d", "b92a1c", "c83a1a"), turned=0.85
    )
    half = [(x, y * 1.05) for x, y in MAPLE_HALF]
    outline = _jittered(np.asarray(mirrored(half), np.float32), generator, 0.01)
    tips = ((0.0, 0.33), (0.44, 0.63))
    veins = [(((0.05, 0.0), (0.05 + 0.5 * (x - 0.05), 0.47 * y), (x, y)), 0.013) for x, y in tips]
    veins += [
        (((0.25, 0.26), (0.3, 0.4), (0.32, 0.52)), 0.007),
        (((0.55, 0.0), (0.63, 0.13), (0.68, 0.28)), 0.008),
    ]
    veins += [
        (((0.66, 0.0), (0.74, 0.08), (0.82, 0.18)), 0.007),
        (((0.32, 0.36), (0.45, 0.42), (0.56, 0.49)), 0.007),
    ]
    strokes = [stroke(points, width, width * 0.4) for points, width in veins]
    _leaf(canvas, generator, outline, foliage, _with_mirror(strokes), stalk=0.5)


def draw_birch_leaf(canvas: Canvas, generator: np.random.Generator) -> None:
    """One small triangular leaf with a double saw of teeth, fresh green to golden."""
    green = varied(colour(("94b436", "86aa3a", "a6bd48")[generator.integers(3)]), generator, 0.06)
    foliage = _season(generator, green, autumn=("e9c52f", "f0d35a", "d9a92a"), turned=0.4)
    outline = _toothed(BIRCH, generator, teeth=22, depth=0.03)
    sides = [_bent(at, 0.36 - 0.36 * at, 0.16) for at in (0.08, 0.2, 0.32, 0.44, 0.56, 0.68, 0.79)]
    _leaf(canvas, generator, outline, foliage, _with_mirror(sides), stalk=0.26)


def draw_beech_leaf(canvas: Canvas, generator: np.random.Generator) -> None:
    """One oval leaf with straight side veins that end in a wavy rim, green to copper."""
    green = varied(colour(("4d8036", "5d8f3f", "3f7034")[generator.integers(3)]), generator, 0.06)
    foliage = _season(generator, green, autumn=("b9662a", "a04e26", "c98536"), turned=0.92)
    outline = BEECH.outline()
    outline[:, 1] *= 1 + 0.035 * np.sin(outline[:, 0] * 54 + generator.uniform(0, 6))
    ats = np.linspace(0.08, 0.84, 8)
    sides = [
        _bent(float(at), float(BEECH.half_width(np.array(at + 0.12))), 0.15, width=0.009)
        for at in ats
    ]
    _leaf(canvas, generator, outline, foliage, _with_mirror(sides), stalk=0.09, pleats=8)


def draw_rowan_leaf(canvas: Canvas, generator: np.random.Generator) -> None:
    """A feather of narrow toothed leaflets in pairs, with one at the tip."""
    green = varied(colour(("3f6e3a", "4a7a42", "567f3c")[generator.integers(3)]), generator, 0.06)
    foliage = _season(generator, green, autumn=("c9772a", "b33f22", "d8a63a"), turned=0.08)
    pairs = int(generator.integers(5, 8))
    bend = generator.normal(0, 0.1)
    spine = ((-1.0, 0.0), (-0.4, bend), (0.15, bend * 1.2), (0.55, 0.0))
    canvas.fill(
        [stroke(spine, 0.04, 0.02)],
        plain(mix(foliage.vein, BROWN, 0.35)),
        relief=0.5,
        roundness=0.02,
    )
    path = smooth(spine, closed=False, steps=16)
    for at in np.linspace(0.27, 0.93, pairs):
        x, y = path[int(at * (len(path) - 1))]
        size = 0.57 * (1 - 0.9 * (at - 0.5) ** 2) * generator.normal(1, 0.04)
        for side in (-1, 1):
            turn = side * (72 - 20 * at) + generator.normal(0, 4)
            _leaflet(canvas, generator, foliage, place(float(x), float(y), turn=turn, scale=size))
    _leaflet(canvas, generator, foliage, place(0.53, 0.0, turn=generator.normal(0, 6), scale=0.5))


def draw_clover_leaf(canvas: Canvas, generator: np.random.Generator) -> None:
    """Three heart-shaped leaflets with pale arrows on a thin stalk; once in a while four."""
    green = varied(colour(("4b8a3a", "5b9a45", "3f7a3c")[generator.integers(3)]), generator, 0.06)
    count = 4 if generator.random() < 0.06 else 3  # noqa: PLR2004 (luck)
    stalk = stroke(
        ((0.0, 0.0), (generator.normal(0, 0.1), 0.6), (generator.normal(0, 0.25), 1.3)), 0.05, 0.06
    )
    canvas.fill([stalk], plain(mix(green, colour("b9c48a"), 0.35)), relief=0.5, roundness=0.025)
    start = 90 + 180 / count + generator.normal(0, 8)
    mark = generator.uniform(0.15, 0.6)
    for index in range(count):
        where = place(
            turn=start + index * 360 / count + generator.normal(0, 5),
            scale=generator.normal(0.86, 0.03),
        )
        canvas.fill(
            [CLOVER_LEAFLET], _clover_paint(green, mark, generator), where, relief=0.28, shadow=0.35
        )


def draw_small_leaf(
    canvas: Canvas, generator: np.random.Generator, where: Place, *, base: Colour
) -> None:
    """Draw a toothed leaf next to a fruit, one unit long before it is placed."""
    foliage = Foliage(varied(base, generator, 0.08), BROWN, 0.0, mix(base, colour("dfe6b0"), 0.4))
    _leaflet(canvas, generator, foliage, where, wide=1.6)


def _season(
    generator: np.random.Generator, green: Colour, *, autumn: Sequence[str], turned: float
) -> Foliage:
    """Choose a season: a share of the leaves have autumn colours, the others are green."""
    ageing = (
        generator.uniform(0.55, 1) if generator.random() < turned else generator.uniform(0, 0.2)
    )
    late = varied(colour(autumn[int(generator.integers(len(autumn)))]), generator, 0.06)
    blade = mix(green, late, 0.75 * ageing)
    vein = mix(blade, colour("f0ecc0"), generator.uniform(0.3, 0.5))
    return Foliage(blade, late, ageing, vein, spots=ageing * generator.uniform(0, 0.9))


def _leaf(
    canvas: Canvas,
    generator: np.random.Generator,
    outline: Outline,
    foliage: Foliage,
    veins: Sequence[Outline],
    *,
    stalk: float,
    pleats: int = 0,
) -> None:
    """Draw a single leaf with its stalk across the unit disc."""
    length = 2.1 / (1 + stalk * 0.7)
    where = place(1.05 - length, 0.0, scale=length).of(Place(xy=generator.normal(0, 0.06)))
    bend = generator.normal(0, 0.08)
    petiole = stroke(
        ((0.1, 0.0), (-stalk * 0.5, bend * stalk), (-stalk, bend * stalk * 3)), 0.02, 0.03
    )
    canvas.fill([petiole], plain(mix(foliage.vein, BROWN, 0.4)), where, relief=0.5, roundness=0.012)
    midrib = stroke(((0.0, 0.0), (0.5, 0.0), (0.98, 0.0)), 0.024, 0.004)
    paint = _leaf_paint(foliage, [midrib, *veins], generator, pleats=pleats)
    canvas.fill([outline], paint, where, relief=0.22, roundness=0.04)


def _leaflet(
    canvas: Canvas,
    generator: np.random.Generator,
    foliage: Foliage,
    where: Place,
    *,
    wide: float = 1.0,
) -> None:
    """Draw one leaflet of a compound leaf, one unit long before it is placed."""
    outline = _toothed(LEAFLET, generator, teeth=13, depth=0.018)
    midrib = stroke(((0.0, 0.0), (0.5, 0.0), (0.97, 0.0)), 0.024, 0.006)
    sides = _with_mirror([_bent(at, 0.13, 0.12, width=0.009) for at in (0.15, 0.33, 0.51, 0.68)])
    paint = _leaf_paint(foliage, [midrib, *sides], generator)
    canvas.fill(
        [outline], paint, where.of(place(stretch=wide)), relief=0.25, roundness=0.05, shadow=0.25
    )


def _leaf_paint(
    foliage: Foliage, veins: Sequence[Outline], generator: np.random.Generator, *, pleats: int = 0
) -> Paint:
    """Paint of a leaf: a brighter and a darker half, blotches, veins, autumn colours, spots."""

    def paint(patch: Patch) -> Floats:
        cloud = mottle(patch, generator, 0.22)
        facing = np.tanh(patch.v * 14) * patch.light[1]
        tone = 1 + 0.07 * facing + 0.07 * cloud
        if pleats:
            tone += 0.06 * np.sin((patch.u - 0.55 * np.abs(patch.v)) * pleats * 2 * math.pi / 0.87)
        rim = np.clip(np.abs(patch.v) * 2.2 + 0.4 * np.abs(patch.u - 0.45) + 0.5 * cloud, 0, 1.4)
        turned = foliage.ageing * rise(rim, 1.15 - foliage.ageing, 1.45 - foliage.ageing)
        shade = mix(foliage.blade * tone[:, None], foliage.autumn * tone[:, None], turned)
        if foliage.spots:
            blots = rise(mottle(patch, generator, 0.09), 1.35 - foliage.spots, 1.6 - foliage.spots)
            shade = mix(shade, BROWN, 0.75 * blots)
        lines = patch.inside(veins, soften_by=0.004)
        dents = patch.inside(veins, soften_by=0.025)
        shade *= (1 - 0.14 * dents)[:, None]
        return mix(shade, foliage.vein, 0.7 * lines)

    return paint


def _clover_paint(green: Colour, mark: float, generator: np.random.Generator) -> Paint:
    """Paint of a clover's leaflet: fine side veins and a pale arrow across."""
    pale = colour("c9d8b4")

    def paint(patch: Patch) -> Floats:
        fan = np.arctan2(np.abs(patch.v), patch.u - 0.1)
        tone = (
            1
            + 0.05 * streaks(np.clip(fan, -1, 1), generator, 40)
            + 0.06 * mottle(patch, generator, 0.3)
        )
        tone -= 0.18 * np.exp(-((patch.v / 0.015) ** 2))
        tone += 0.06 * np.sign(patch.v) * patch.light[1]
        arrow = patch.u - 0.62 + 0.75 * np.abs(patch.v)
        band = rise(arrow, -0.09, 0.0) * rise(arrow, 0.09, 0.02)
        return mix(green * tone[:, None], pale, mark * band)

    return paint


def _toothed(blade: Blade, generator: np.random.Generator, *, teeth: int, depth: float) -> Outline:
    """Outline of a blade with teeth that point to its tip."""
    along = np.linspace(0, 1, teeth * 6 + 1, dtype=np.float32)
    half = blade.half_width(along)
    saw = (along * teeth) % 1
    bite = np.where((along > 0.06) & (along < 0.97), saw * depth, 0) * generator.uniform(0.7, 1.2)  # noqa: PLR2004
    upper = np.stack((along, half + bite * np.clip(half / 0.1, 0.3, 1)), axis=1)
    lower = upper[::-1] * (1, -1)
    return np.concatenate((upper, lower)).astype(np.float32)


def _bent(at: float, reach: float, forward: float, *, width: float = 0.011) -> Outline:
    """A side vein that starts at the midrib and bends outwards and forwards."""
    points = ((at, 0.0), (at + forward * 0.4, reach * 0.5), (at + forward, reach * 0.95))
    return stroke(points, width, width * 0.35)


def _with_mirror(outlines: Sequence[Outline]) -> list[Outline]:
    """Outlines of one half of a leaf, and their mirror images."""
    return [*outlines, *[np.asarray(outline * (1, -1), np.float32) for outline in outlines]]


def _jittered(outline: Outline, generator: np.random.Generator, amount: float) -> Outline:
    """Shift the points of an outline a little, smoothly."""
    count = len(outline)
    knots = generator.normal(0, amount, (12, 2))
    at = np.linspace(0, 12, count, endpoint=False)
    shifts = [
        np.interp(at, np.arange(13), np.append(knots[:, axis], knots[0, axis])) for axis in range(2)
    ]
    return np.asarray(outline + np.stack(shifts, axis=1), np.float32)
