"""Fruits: rose hips, berries and nuts on stalks. A subject fills about the unit disc."""

import math

import numpy as np

from research.sample_painter.canvas import Canvas, Floats, Paint, Patch, Place, place
from research.sample_painter.leaves import draw_small_leaf
from research.sample_painter.paints import (
    Colour,
    ball_paint,
    colour,
    mix,
    mottle,
    plain,
    ramp,
    rise,
    streaks,
    varied,
)
from research.sample_painter.shapes import Blade, Point, disc, smooth, stroke

GREEN = colour("5f7d36")
TWIG = colour("77573a")
SEPAL = Blade(((0, 0.05), (0.3, 0.09), (0.7, 0.04), (1, 0.0)))
HIP = smooth(
    (
        *(
            (0.0, -0.52),
            (0.2, -0.47),
            (0.36, -0.2),
            (0.38, 0.12),
            (0.25, 0.42),
            (0.1, 0.52),
            (0.0, 0.53),
        ),
        *((-0.1, 0.52), (-0.25, 0.42), (-0.38, 0.12), (-0.36, -0.2), (-0.2, -0.47)),
    )
)
ACORN = smooth(
    (
        *(
            (0.33, -0.35),
            (0.4, -0.05),
            (0.36, 0.35),
            (0.2, 0.66),
            (0.05, 0.76),
            (0.0, 0.84),
            (-0.05, 0.76),
        ),
        *((-0.2, 0.66), (-0.36, 0.35), (-0.4, -0.05), (-0.33, -0.35)),
    )
)
HAZELNUT = smooth(
    (
        *((0.0, -0.5), (0.3, -0.42), (0.47, -0.1), (0.43, 0.25), (0.2, 0.5), (0.0, 0.6)),
        *((-0.2, 0.5), (-0.43, 0.25), (-0.47, -0.1), (-0.3, -0.42)),
    )
)


def draw_rose_hip(canvas: Canvas, generator: np.random.Generator) -> None:
    """One to three glossy red hips with withered sepals at the end."""
    red = varied(
        mix(colour("cf2a1c"), colour("e2661f"), generator.uniform(0, 0.9)), generator, 0.06
    )
    count = int(generator.integers(1, 4))
    if generator.random() < 0.7:  # noqa: PLR2004 (most of them)
        side = generator.choice((-1.0, 1.0))
        draw_small_leaf(
            canvas,
            generator,
            place(0, -0.85, turn=90 - side * generator.uniform(45, 75)),
            base=GREEN,
        )
    spread = {1: (0.0,), 2: (-0.42, 0.4), 3: (-0.58, 0.02, 0.58)}[count]
    size = {1: 1.25, 2: 1.0, 3: 0.82}[count]
    for x in spread:
        y = 0.2 + generator.normal(0, 0.07) + (0.12 if count > 1 and x == spread[-1] else 0)
        where = place(
            x, y, turn=-x * 35 + generator.normal(0, 6), scale=size * generator.normal(1, 0.05)
        )
        _stalk(
            canvas, (0.0, -1.15), _carried(where, (0.0, -0.5)), mix(GREEN, red, 0.3), width=0.055
        )
        _hip(canvas, generator, where, varied(red, generator, 0.04))


def draw_blackberry(canvas: Canvas, generator: np.random.Generator) -> None:
    """A dense black cluster of glossy drupelets under green sepals; some still red."""
    ripe = varied(colour("2a1a33"), generator, 0.12)
    unripe = varied(colour("a3253a"), generator, 0.08)
    redness = max(generator.normal(0.05, 0.25), 0)
    _stalk(canvas, (generator.normal(0, 0.2), -1.3), (0.0, -0.55), GREEN, width=0.07)
    _sepal_star(canvas, generator, Place(y0=-0.56), count=5, reach=0.52)
    rows = ((-0.42, 4), (-0.2, 5), (0.03, 5), (0.26, 5), (0.48, 4), (0.66, 3))
    order = [
        (y + 0.02, x) for y, count in rows for x in np.linspace(-1, 1, count) * _berry_width(y)
    ]
    order.sort(key=lambda seat: -abs(seat[1]) - 0.3 * abs(seat[0] - 0.1))
    for y, x in order:
        tone = mix(ripe, unripe, min(redness * generator.uniform(0, 2), 1))
        radius = generator.normal(0.172, 0.008)
        where = place(x + generator.normal(0, 0.015), y + generator.normal(0, 0.02), scale=radius)
        paint = ball_paint(varied(tone, generator, 0.08), gloss=0.85, dark=0.6)
        canvas.fill([disc(corners=20)], paint, where, relief=0, roundness=0.5, shadow=0.55)


def draw_blueberry(canvas: Canvas, generator: np.random.Generator) -> None:
    """A heap of three to six dusty blue berries, each with a crown."""
    blue = varied(mix(colour("3f4f86"), colour("5b6f9f"), generator.uniform(0, 1)), generator, 0.06)
    if generator.random() < 0.6:  # noqa: PLR2004 (most of them)
        for turn in generator.uniform(180, 360, 2):
            draw_small_leaf(
                canvas,
                generator,
                place(0, -0.2, turn=float(turn), scale=1.15),
                base=colour("6f8f45"),
            )
    count = int(generator.integers(3, 7))
    size = 1.02 / math.sqrt(count) ** 0.8
    start = generator.uniform(0, 360)
    for index in range(count):
        angle = math.radians(start + index * 360 / count + generator.normal(0, 6))
        reach = (0.5 if count < 6 or index else 0.05) * generator.normal(1, 0.08)  # noqa: PLR2004 (one lies in the middle)
        where = place(
            reach * math.cos(angle),
            reach * math.sin(angle),
            scale=size * generator.normal(0.84, 0.05),
        )
        _blueberry(canvas, generator, where, varied(blue, generator, 0.07))


def draw_redcurrant(canvas: Canvas, generator: np.random.Generator) -> None:
    """A hanging string of clear red berries, smaller towards its end."""
    red = varied(colour(("c3161d", "d62a20", "b01226")[generator.integers(3)]), generator, 0.05)
    if generator.random() < 0.5:  # noqa: PLR2004 (every second one)
        draw_small_leaf(
            canvas,
            generator,
            place(0, -0.95, turn=generator.uniform(20, 160), scale=0.8),
            base=GREEN,
        )
    bend = generator.normal(0, 0.12)
    line = smooth(
        ((0.0, -1.15), (bend, -0.4), (bend * 0.6, 0.3), (0.0, 0.8)), closed=False, steps=12
    )
    canvas.fill(
        [stroke(line[::6], 0.045, 0.02)], plain(mix(GREEN, red, 0.2)), relief=0.5, roundness=0.02
    )
    count = int(generator.integers(9, 14))
    for index in range(count):
        share = 0.22 + 0.78 * index / (count - 1)
        x, y = line[int(share * (len(line) - 1))]
        side = (-1, 1)[index % 2] * (1 - 0.75 * share) * generator.uniform(0.32, 0.5)
        where = place(
            float(x) + side, float(y) + generator.normal(0.05, 0.03), scale=0.215 - 0.09 * share
        )
        _stalk(
            canvas,
            (float(x), float(y) - 0.08),
            (where.x0, where.y0),
            mix(GREEN, red, 0.3),
            width=0.02,
        )
        canvas.fill(
            [disc()], _currant_paint(red, generator), where, relief=0.1, roundness=0.3, shadow=0.4
        )
        canvas.fill([disc(0.2, 0, 0.82)], plain(colour("3b2a20")), where, relief=0.4, roundness=0.1)


def draw_acorn(canvas: Canvas, generator: np.random.Generator) -> None:
    """One or two smooth brown or green nuts in scaly cups."""
    nut = varied(
        mix(colour("a8743c"), colour("9aa04a"), generator.choice((0.0, 0.15, 0.9))), generator, 0.07
    )
    pair = generator.random() < 0.45  # noqa: PLR2004 (nearly every second one)
    for x in (-0.46, 0.46) if pair else (0.0,):
        size = (0.82 if pair else 1.08) * generator.normal(1, 0.04)
        where = place(
            x, 0.05 + generator.normal(0, 0.05), turn=-x * 40 + generator.normal(0, 8), scale=size
        )
        _stalk(canvas, (0.0, -1.2), _carried(where, (0.0, -0.6)), TWIG, width=0.06)
        paint = _nut_paint(nut, generator, radius=(0.44, 0.9), stripe=0.05, gloss=0.55)
        canvas.fill([ACORN], paint, where, relief=0.15, roundness=0.1, shadow=0.4)
        _cup(canvas, generator, where)


def draw_hazelnut(canvas: Canvas, generator: np.random.Generator) -> None:
    """One to three round nuts in ragged green husks."""
    nut = varied(mix(colour("b27a45"), colour("c9ab6a"), generator.uniform(0, 1)), generator, 0.06)
    husk = varied(
        mix(colour("8fa04a"), colour("a58a55"), generator.choice((0.0, 0.2, 0.9))), generator, 0.07
    )
    count = int(generator.integers(1, 4))
    size = (1.25, 0.95, 0.8)[count - 1]
    seats = (((0.0, 0.1),), ((-0.45, 0.1), (0.45, 0.15)), ((-0.5, 0.0), (0.5, 0.05), (0.0, 0.38)))[
        count - 1
    ]
    for x, y in seats:
        turn = -x * 45 + generator.normal(0, 8)
        where = place(x, y, turn=turn, scale=size * generator.normal(1, 0.04))
        _stalk(
            canvas, (0.0, -1.2), _carried(where, (0.0, -0.45)), mix(GREEN, TWIG, 0.5), width=0.06
        )
        _husk(canvas, generator, where, husk * 0.85, reach=0.78)
        paint = _nut_paint(nut, generator, radius=(0.52, 0.62), stripe=0.12, gloss=0.25)
        canvas.fill([HAZELNUT], paint, where, relief=0.2, roundness=0.1, shadow=0.4)
        _husk(canvas, generator, where.of(place(0, -0.08)), husk, reach=0.42)


def _hip(canvas: Canvas, generator: np.random.Generator, where: Place, red: Colour) -> None:
    """Draw one hip, its sepals at the lower end."""
    for turn in np.linspace(25, 155, 5) + generator.normal(0, 8, 5):
        sepal = where.of(place(0, 0.46, turn=float(turn), scale=generator.uniform(0.22, 0.36)))
        canvas.fill(
            [SEPAL.outline()], plain(varied(colour("6b5a36"), generator, 0.12)), sepal, relief=0.4
        )
    shine = ball_paint(red, gloss=0.7, radius=(0.42, 0.58))

    def paint(patch: Patch) -> Floats:
        ends = rise(np.abs(patch.v), 0.3, 0.55)
        return mix(
            shine(patch) * (1 + 0.04 * mottle(patch, generator, 0.15))[:, None],
            colour("7a3a1c"),
            0.35 * ends,
        )

    canvas.fill([HIP], paint, where, relief=0.12, roundness=0.12, shadow=0.45)
    canvas.fill(
        [disc(0.08, 0, 0.51, flatten=0.5)],
        plain(colour("3b2a1c")),
        where,
        relief=0.3,
        roundness=0.04,
    )


def _blueberry(canvas: Canvas, generator: np.random.Generator, where: Place, blue: Colour) -> None:
    """Draw one berry with its bloom and its crown, somewhere near the middle."""
    ball = ball_paint(blue, gloss=0.18, dark=0.5)

    def paint(patch: Patch) -> Floats:
        bloom = np.clip(0.45 + 0.4 * mottle(patch, generator, 0.6), 0, 0.8) * rise(
            np.hypot(patch.u, patch.v), 1.05, 0.6
        )
        return mix(ball(patch), colour("a9b5d6"), 0.55 * bloom)

    canvas.fill([disc(corners=48)], paint, where, relief=0.1, roundness=0.2, shadow=0.5)
    seat = where.of(
        place(*generator.uniform(-0.3, 0.3, 2), turn=generator.uniform(0, 72), scale=0.34)
    )
    angle = np.linspace(0, 2 * math.pi, 10, endpoint=False)
    reach = np.where(np.arange(10) % 2, 0.62, 1.05)
    star = np.stack((reach * np.cos(angle), reach * np.sin(angle)), axis=1).astype(np.float32)
    canvas.fill(
        [star],
        plain(mix(blue, colour("8f9cc4"), 0.5)),
        seat,
        relief=0.7,
        roundness=0.15,
        shadow=0.3,
    )
    canvas.fill([disc(0.55, corners=20)], plain(blue * 0.42), seat, relief=-0.3, roundness=0.2)


def _currant_paint(red: Colour, generator: np.random.Generator) -> Paint:
    """Paint of a clear berry: light gathers on the far side, seeds and fine lines show through."""
    ball = ball_paint(red, gloss=0.95, dark=0.4)
    seeds = [
        disc(0.2, *generator.uniform(-0.35, 0.35, 2), flatten=1.4, corners=12) for _ in range(3)
    ]

    def paint(patch: Patch) -> Floats:
        behind = np.clip(patch.u * patch.light[0] + patch.v * patch.light[1], 0, 1)
        glowing = mix(
            ball(patch), colour("ff7a4a"), 0.4 * behind * rise(np.hypot(patch.u, patch.v), 1, 0.7)
        )
        lines = np.exp(
            -((np.sin(4 * patch.u / np.sqrt(np.maximum(1.05 - patch.v**2, 0.1))) / 0.15) ** 2)
        )
        return mix(
            mix(glowing, colour("ffb38a"), 0.12 * lines),
            colour("e8a86a"),
            0.22 * patch.inside(seeds, soften_by=0.1),
        )

    return paint


def _nut_paint(
    base: Colour,
    generator: np.random.Generator,
    *,
    radius: tuple[float, float],
    stripe: float,
    gloss: float,
) -> Paint:
    """Paint of a nut's shell: lengthwise stripes on a shiny dome."""
    dome = ball_paint(base, gloss=gloss, radius=radius)

    def paint(patch: Patch) -> Floats:
        bulge = np.sqrt(np.maximum(1 - (patch.v / (radius[1] * 1.05)) ** 2, 0.05))
        lines = streaks(np.clip(patch.u / radius[0] / bulge, -1, 1), generator, 34)
        return np.asarray(
            dome(patch) * (1 + stripe * lines + 0.04 * mottle(patch, generator, 0.2))[:, None],
            np.float32,
        )

    return paint


def _cup(canvas: Canvas, generator: np.random.Generator, where: Place) -> None:
    """Draw an acorn's cup with rows of scales."""
    base = varied(colour("8a7350"), generator, 0.08)
    rim = smooth(
        (
            (-0.46, -0.2),
            (-0.42, -0.45),
            (-0.2, -0.62),
            (0.2, -0.62),
            (0.42, -0.45),
            (0.46, -0.2),
            (0.25, -0.13),
            (-0.25, -0.13),
        )
    )
    rows = [
        (y, index)
        for row, y in enumerate((-0.54, -0.46, -0.38, -0.3, -0.22))
        for index in range(7 + row)
    ]
    scales = [
        disc(0.04, -0.4 + 0.8 * (index + 0.5) / (7 + 12.5 * (y + 0.54)), y, flatten=0.85, corners=8)
        for y, index in rows
    ]

    def paint(patch: Patch) -> Floats:
        heads = patch.inside(scales)
        lit = 1 - 0.45 * (patch.u * patch.light[0] + (patch.v + 0.35) * patch.light[1])
        return np.asarray(base * ((0.62 + 0.45 * heads) * lit)[:, None], np.float32)

    canvas.fill([rim], paint, where, relief=0.3, roundness=0.08, shadow=0.5)


def _husk(
    canvas: Canvas, generator: np.random.Generator, where: Place, base: Colour, *, reach: float
) -> None:
    """Draw the ragged leaves around a hazelnut: a fringed collar open towards the lower end."""
    tips: list[Point] = []
    for index, x in enumerate(np.linspace(-0.56, 0.56, 11)):
        deep = (
            (reach if index % 2 else reach * 0.45)
            * generator.uniform(0.8, 1.1)
            * (1 - 0.35 * abs(float(x)))
        )
        tips.append((float(x) * (1 + 0.1 * (index % 2)), -0.42 + deep))
    outline = np.array(
        ((-0.1, -0.58), (-0.42, -0.45), *tips, (0.42, -0.45), (0.1, -0.58)), np.float32
    )

    def paint(patch: Patch) -> Floats:
        ribs = streaks(np.clip(patch.u / 0.6, -1, 1), generator, 26)
        tone = 1 + 0.1 * ribs + 0.06 * mottle(patch, generator, 0.15)
        return ramp(patch.v, ((-0.55, base * 0.8), (0.3, base * 1.12))) * tone[:, None]

    canvas.fill([outline], paint, where, relief=0.35, roundness=0.05, shadow=0.35)


def _sepal_star(
    canvas: Canvas, generator: np.random.Generator, where: Place, *, count: int, reach: float
) -> None:
    """Draw the sepals a berry sits on."""
    start = generator.uniform(0, 360)
    for index in range(count):
        sepal = where.of(
            place(
                turn=start + index * 360 / count + generator.normal(0, 7), scale=reach, stretch=1.6
            )
        )
        canvas.fill(
            [SEPAL.outline()], plain(varied(colour("8a9a5a"), generator, 0.08)), sepal, relief=0.35
        )


def _stalk(canvas: Canvas, start: Point, end: Point, base: Colour, *, width: float) -> None:
    """Draw a slightly bent stalk between two points."""
    middle = (0.65 * end[0] + 0.35 * start[0], 0.5 * (start[1] + end[1]))
    canvas.fill(
        [stroke((start, middle, end), width, width)], plain(base), relief=0.5, roundness=width / 2
    )


def _carried(where: Place, point: Point) -> Point:
    """Map a point of a shape to the subject's coordinates."""
    x, y = where.points(np.array([point], np.float32))[0]
    return float(x), float(y)


def _berry_width(y: float) -> float:
    """Half width of a blackberry's cluster at a height."""
    return 0.5 * math.sqrt(max(1 - ((y - 0.08) / 0.8) ** 2, 0.05))
