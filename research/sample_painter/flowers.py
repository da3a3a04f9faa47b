"""Flowers from above: daisies, roses, poppies, bulbs. A subject fills about the unit disc."""

import math
from collections.abc import Sequence

import numpy as np

from research.sample_painter.canvas import Canvas, Floats, Paint, Patch, place
from research.sample_painter.paints import (
    Colour,
    ball_paint,
    colour,
    mix,
    mottle,
    petal_paint,
    plain,
    ramp,
    rise,
    varied,
)
from research.sample_painter.shapes import Blade, Point, disc, smooth, spiral, stroke, wavy_disc

RAY = Blade(
    ((0, 0.03), (0.12, 0.055), (0.5, 0.092), (0.85, 0.095), (0.95, 0.065), (0.975, 0.05), (1, 0.0))
)
FINE_RAY = Blade(((0, 0.02), (0.3, 0.04), (0.75, 0.058), (0.93, 0.045), (1, 0.0)))
CONE_RAY = Blade(((0, 0.05), (0.25, 0.11), (0.7, 0.135), (0.9, 0.1), (0.96, 0.07), (1, 0.0)))
HEART = smooth(
    (
        *((0, 0.05), (0.35, 0.27), (0.72, 0.5), (0.98, 0.42), (1.04, 0.2), (0.95, 0.0)),
        *((1.04, -0.2), (0.98, -0.42), (0.72, -0.5), (0.35, -0.27), (0, -0.05)),
    )
)
ROUND = Blade(((0, 0.08), (0.2, 0.3), (0.55, 0.52), (0.8, 0.52), (0.94, 0.36), (1, 0.0)))
TEPAL = Blade(((0, 0.06), (0.25, 0.22), (0.55, 0.3), (0.8, 0.2), (0.93, 0.09), (1, 0.0)))
CUP = Blade(((0, 0.07), (0.3, 0.23), (0.6, 0.31), (0.82, 0.26), (0.94, 0.14), (1, 0.0)))
GREEN = colour("5d7d38")


def draw_stem(
    canvas: Canvas, generator: np.random.Generator, *, length: float = 2.6, width: float = 0.07
) -> None:
    """Draw a bent green stem downwards from the middle, here and there with a leaf."""
    bend = generator.normal(0, 0.25, 2)
    path = (
        (0.0, 0.0),
        (bend[0] * 0.4, length * 0.35),
        (bend[0], length * 0.7),
        (bend[0] + bend[1], length),
    )
    tone = varied(GREEN, generator, 0.1)
    canvas.fill([stroke(path, width, width * 1.15)], plain(tone), relief=0.5, roundness=width / 2)
    if generator.random() < 0.5:  # noqa: PLR2004 (every second one)
        side = generator.choice((-1.0, 1.0))
        leaf = Blade(((0, 0.02), (0.4, 0.13), (0.75, 0.09), (1, 0)))
        where = place(
            bend[0] * 0.5,
            length * 0.45,
            turn=90 - side * generator.uniform(30, 60),
            scale=0.9,
            stretch=side,
        )
        paint = petal_paint(
            leaf, ((0, tone * 0.8), (1, tone * 1.1)), generator, streak=0.1, groove=0.2
        )
        canvas.fill([leaf.outline(generator, ripple=0.1)], paint, where, relief=0.3)


def draw_ox_eye_daisy(canvas: Canvas, generator: np.random.Generator) -> None:
    """White rays around a broad golden disc."""
    draw_stem(canvas, generator)
    white = varied(colour("f7f5ee"), generator, 0.012)
    stops = ((0.25, white * colour("d8dcc0")), (0.5, white * 0.97), (1, white))
    _rays(canvas, generator, RAY, stops, count=int(generator.integers(19, 26)), streak=0.05)
    gold = varied(colour("edb71f"), generator, 0.05)
    _florets(
        canvas, generator, radius=0.33, count=190, inner=gold * colour("d9c95a") * 1.08, outer=gold
    )


def draw_common_daisy(canvas: Canvas, generator: np.random.Generator) -> None:
    """Two rows of fine rays, tipped with pink, around a small disc."""
    draw_stem(canvas, generator, width=0.06)
    pink = mix(
        colour("f6e9ea"), varied(colour("d5698d"), generator, 0.06), generator.uniform(0.45, 1)
    )
    white = colour("f8f5f0")
    stops = ((0.2, white * colour("e3e3cc")), (0.55, white), (0.82, white), (1, pink))
    for reach in (0.98, 0.84):
        _rays(
            canvas,
            generator,
            FINE_RAY,
            stops,
            count=int(generator.integers(27, 33)),
            reach=reach,
            streak=0.03,
        )
    gold = varied(colour("f2c62c"), generator, 0.05)
    _florets(canvas, generator, radius=0.24, count=120, inner=gold * 0.93, outer=gold)


def draw_coneflower(canvas: Canvas, generator: np.random.Generator) -> None:
    """Loose magenta rays under a bristling orange cone."""
    draw_stem(canvas, generator, width=0.09)
    magenta = varied(colour("c75b9b"), generator, 0.07)
    stops = ((0.2, magenta * 0.72), (0.5, magenta), (1, np.clip(magenta * 1.16, 0, 1)))
    _rays(
        canvas,
        generator,
        CONE_RAY,
        stops,
        count=int(generator.integers(12, 17)),
        streak=0.13,
        spread=5,
    )
    rust = varied(colour("b5541c"), generator, 0.06)
    _florets(
        canvas,
        generator,
        radius=0.37,
        count=150,
        inner=rust * colour("8a8a45") * 1.25,
        outer=rust,
        spiky=True,
    )


def draw_dog_rose(canvas: Canvas, generator: np.random.Generator) -> None:
    """Five heart-shaped petals, pink at the rim and white inside, around a ring of stamens."""
    _sepals(canvas, generator, count=5, reach=0.85)
    pink = varied(colour("e88fae"), generator, 0.06)
    pink = mix(pink, colour("fbe9ec"), generator.uniform(0, 0.55))
    start = generator.uniform(0, 72)
    for index in range(5):
        where = place(
            turn=start + index * 72 + generator.normal(0, 3), scale=generator.normal(0.97, 0.03)
        )
        canvas.fill(
            [HEART], _heart_paint(pink, generator), where, relief=0.3, roundness=0.12, shadow=0.28
        )
    _stamens(
        canvas,
        generator,
        count=44,
        reach=(0.2, 0.36),
        head=varied(colour("e7b73c"), generator, 0.05),
    )
    canvas.fill(
        [disc(0.085)],
        ball_paint(colour("a9b45a"), gloss=0.15, radius=(0.085, 0.085)),
        relief=0,
        shadow=0.3,
    )


def draw_damask_rose(canvas: Canvas, generator: np.random.Generator) -> None:
    """A full rose: rings of petals that close to a dark heart."""
    _sepals(canvas, generator, count=5, reach=0.98)
    rose = varied(colour(("c42f57", "d0547a", "b3224a")[generator.integers(3)]), generator, 0.05)
    for ring, (count, reach) in enumerate(
        ((6, 0.98), (6, 0.84), (6, 0.69), (5, 0.54), (5, 0.41), (4, 0.3), (3, 0.2))
    ):
        start = generator.uniform(0, 360)
        stops = (
            (0.15, rose * (0.42 + 0.02 * ring)),
            (0.6, rose * (0.78 - 0.025 * ring)),
            (0.9, rose * (1.06 - 0.03 * ring)),
            (1, np.clip(rose * 1.12 + 0.1, 0, 1)),
        )
        for index in range(count):
            wide = generator.normal(1.12 + 0.05 * ring, 0.05)
            where = place(
                turn=start + index * 360 / count + generator.normal(0, 6), scale=reach, stretch=wide
            )
            paint = petal_paint(ROUND, stops, generator, streak=0.04, groove=0)
            outline = ROUND.outline(generator, ripple=0.07)
            canvas.fill([outline], paint, where, relief=0.32, roundness=0.09, shadow=0.42)
    canvas.fill([disc(0.07)], plain(rose * 0.36), relief=0.1)


def draw_field_poppy(canvas: Canvas, generator: np.random.Generator) -> None:
    """Four crumpled scarlet petals with black blotches around a dark crown."""
    draw_stem(canvas, generator, width=0.055)
    scarlet = varied(colour("d92b1c"), generator, 0.06)
    _crumpled(canvas, generator, scarlet, blotch=colour("1d1114"))
    _stamens(
        canvas,
        generator,
        count=60,
        reach=(0.13, 0.31),
        head=colour("231b26"),
        filament=colour("3a2530"),
    )
    _pod(canvas, colour("8a9a62"), rays=colour("3b3226"))


def draw_welsh_poppy(canvas: Canvas, generator: np.random.Generator) -> None:
    """Four silky petals, lemon to orange, around golden stamens."""
    draw_stem(canvas, generator, width=0.055)
    yellow = mix(colour("f4cc1c"), colour("f08a17"), generator.uniform(0, 0.8))
    _crumpled(canvas, generator, varied(yellow, generator, 0.03), blotch=None)
    _stamens(
        canvas,
        generator,
        count=50,
        reach=(0.14, 0.33),
        head=colour("dd9a12"),
        filament=colour("e7c34a"),
    )
    _pod(canvas, colour("7f9a3c"), rays=colour("b9c25a"))


def draw_daffodil(canvas: Canvas, generator: np.random.Generator) -> None:
    """Six pale tepals behind a frilled golden trumpet."""
    draw_stem(canvas, generator, width=0.09)
    pale = varied(
        mix(colour("f7e04b"), colour("faf3cf"), generator.uniform(0, 0.9)), generator, 0.02
    )
    stops = ((0.2, pale * colour("c9cf8f")), (0.5, pale * 0.96), (1, pale))
    _whorls(canvas, generator, TEPAL, stops, reach=(0.98, 0.93), stretch=1.12)
    trumpet = varied(
        mix(colour("f3b71b"), colour("ee8a1d"), generator.uniform(0, 0.8)), generator, 0.03
    )
    rim = wavy_disc(0.4, generator, waves=int(generator.integers(8, 12)), depth=0.07)
    tilt = place(*generator.normal(0, 0.03, 2))
    canvas.fill(
        [rim], _trumpet_paint(trumpet, generator), tilt, relief=0.3, roundness=0.05, shadow=0.5
    )
    for angle in np.linspace(0, 2 * math.pi, 6, endpoint=False) + generator.uniform(0, 1):
        head = disc(0.038, 0.085 * math.cos(angle), 0.085 * math.sin(angle))
        canvas.fill([head], plain(colour("f6d65a")), tilt, relief=0.3, roundness=0.03, shadow=0.3)
    canvas.fill([disc(0.035)], plain(colour("c9c65a")), tilt, relief=0.3, roundness=0.03)


def draw_crocus(canvas: Canvas, generator: np.random.Generator) -> None:
    """Six cupped violet tepals with dark veins around an orange style."""
    violet = varied(
        mix(colour("7b52b5"), colour("b9a2dc"), generator.uniform(0, 0.85)), generator, 0.04
    )
    for _ in range(int(generator.integers(2, 5))):
        leaf = Blade(((0, 0.03), (0.5, 0.04), (1, 0)))
        paint = petal_paint(leaf, ((0, GREEN * 0.8), (1, GREEN)), generator, groove=-0.9)
        canvas.fill(
            [leaf.outline()], paint, place(turn=generator.uniform(0, 360), scale=1.25), relief=0.3
        )
    stops = (
        (0.0, colour("f3ead9")),
        (0.22, mix(violet, colour("f3ead9"), 0.45)),
        (0.5, violet * 0.9),
        (1, violet),
    )
    _whorls(canvas, generator, CUP, stops, reach=(0.96, 0.86), stretch=1.3, streak=0.2)
    orange = varied(colour("ec7c12"), generator, 0.04)
    for turn in generator.uniform(0, 360) + np.array((0, 120, 240)):
        arm = stroke(((0.0, 0.0), (0.12, 0.02), (0.25, 0.0)), 0.035, 0.075)
        canvas.fill(
            [arm], plain(orange), place(turn=float(turn)), relief=0.5, roundness=0.03, shadow=0.4
        )


def _rays(
    canvas: Canvas,
    generator: np.random.Generator,
    blade: Blade,
    stops: Sequence[tuple[float, Colour]],
    *,
    count: int,
    reach: float = 0.98,
    streak: float = 0.05,
    spread: float = 3,
) -> None:
    """Lay a wreath of rays; every second one a little behind its neighbours."""
    start = generator.uniform(0, 360)
    order = [*range(0, count, 2), *range(1, count, 2)]
    for index in order:
        where = place(
            turn=start + index * 360 / count + generator.normal(0, spread),
            scale=reach * generator.normal(1, 0.035),
            stretch=generator.normal(1.05, 0.1),
        )
        behind = 0.94 if index % 2 == 0 else 1.0
        shades = tuple((at, shade * behind) for at, shade in stops)
        paint = petal_paint(blade, shades, generator, streak=streak, veins=9, groove=0.09)
        canvas.fill([blade.outline()], paint, where, relief=0.25, roundness=0.05, shadow=0.22)


def _whorls(
    canvas: Canvas,
    generator: np.random.Generator,
    blade: Blade,
    stops: Sequence[tuple[float, Colour]],
    *,
    reach: tuple[float, float],
    stretch: float,
    streak: float = 0.08,
) -> None:
    """Lay three outer and three inner tepals."""
    start = generator.uniform(0, 120)
    for whorl, length in enumerate(reach):
        for index in range(3):
            where = place(
                turn=start + whorl * 60 + index * 120 + generator.normal(0, 4),
                scale=length * generator.normal(1, 0.03),
                stretch=stretch * generator.normal(1, 0.06),
            )
            shades = tuple((at, shade * (0.93 + 0.07 * whorl)) for at, shade in stops)
            paint = petal_paint(blade, shades, generator, streak=streak, veins=21, groove=0.1)
            outline = blade.outline(generator, ripple=0.05)
            canvas.fill([outline], paint, where, relief=0.3, roundness=0.1, shadow=0.3)


def _florets(
    canvas: Canvas,
    generator: np.random.Generator,
    *,
    radius: float,
    count: int,
    inner: Colour,
    outer: Colour,
    spiky: bool = False,
) -> None:
    """Draw a flower's disc: a dome of small florets in a spiral."""
    seeds = spiral(count, radius * 0.96, start=generator.uniform(0, 6))
    size = radius * 1.15 / math.sqrt(count)

    def dots(shift: tuple[float, float], share: float) -> list[Floats]:
        return [
            disc(size * share, float(x) + shift[0], float(y) + shift[1], corners=8)
            for x, y in seeds
        ]

    def paint(patch: Patch) -> Floats:
        out = np.hypot(patch.u, patch.v) / radius
        base = ramp(
            out, ((0, inner), (0.45, mix(inner, outer, 0.5)), (0.8, outer), (1, outer * 0.9))
        )
        lit = (
            1 - 0.3 * (patch.u * patch.light[0] + patch.v * patch.light[1]) / radius - 0.15 * out**3
        )
        heads = patch.inside(dots((0, 0), 1.0))
        step = size * 0.35
        glints = patch.inside(dots((-patch.light[0] * step, -patch.light[1] * step), 0.45))
        depth = 0.45 if spiky else 0.66
        tone = (depth + (1 - depth) * heads + (0.5 if spiky else 0.2) * glints) * lit
        return np.asarray(base * tone[:, None], np.float32)

    rim = wavy_disc(radius, generator, waves=23, depth=0.02 if not spiky else 0.04)
    canvas.fill([rim], paint, relief=0.25, roundness=radius * 0.4, shadow=0.5)


def _heart_paint(pink: Colour, generator: np.random.Generator) -> Paint:
    """Paint of a dog rose's petal: white at the base, veined, pink towards the rim."""
    lines = generator.uniform(-1, 1, 40)

    def paint(patch: Patch) -> Floats:
        fan = np.arctan2(patch.v, patch.u + 0.12) / 0.75
        veins = np.interp(fan, np.linspace(-1, 1, 40), lines).astype(np.float32)
        reach = np.hypot(patch.u, patch.v)
        base = ramp(
            reach, ((0.1, colour("fdf6e6")), (0.4, mix(pink, colour("fff6f4"), 0.7)), (1.0, pink))
        )
        cloud = mottle(patch, generator, 0.3)
        return np.asarray(
            base * (1 + 0.035 * veins * rise(reach, 0.2, 0.8) + 0.03 * cloud)[:, None], np.float32
        )

    return paint


def _crumpled(
    canvas: Canvas, generator: np.random.Generator, base: Colour, *, blotch: Colour | None
) -> None:
    """Lay two pairs of broad crumpled petals."""
    start = generator.uniform(0, 90)
    for pair in range(2):
        for side in range(2):
            where = place(
                turn=start + pair * 90 + side * 180 + generator.normal(0, 6),
                scale=(1.0, 0.92)[pair] * generator.normal(1, 0.03),
                stretch=generator.normal(1.45, 0.07),
            )
            outline = ROUND.outline(generator, ripple=0.12)
            outline[:, 0] *= 1 + 0.05 * np.sin(
                outline[:, 1] * generator.uniform(9, 16) + generator.uniform(0, 6)
            )
            canvas.fill(
                [outline],
                _crumpled_paint(base, blotch, generator),
                where,
                relief=0.3,
                roundness=0.1,
                shadow=0.35,
            )


def _crumpled_paint(base: Colour, blotch: Colour | None, generator: np.random.Generator) -> Paint:
    """Paint of a poppy's petal: silky folds that fan out, with or without a blotch at the base."""
    folds, fine = generator.uniform(-1, 1, 14), generator.uniform(-1, 1, 60)

    def paint(patch: Patch) -> Floats:
        fan = np.arctan2(patch.v, patch.u + 0.15) / 0.95
        reach = np.hypot(patch.u, patch.v)
        silk = 0.13 * np.interp(fan, np.linspace(-1, 1, 14), folds) + 0.06 * np.interp(
            fan, np.linspace(-1, 1, 60), fine
        )
        tone = (
            0.82
            + 0.2 * reach
            + silk * rise(reach, 0.15, 0.7)
            + 0.05 * mottle(patch, generator, 0.2)
        )
        tinted = np.clip(base * tone[:, None], 0, 1)
        if blotch is None:
            return np.asarray(tinted, np.float32)
        edge = 0.36 + 0.05 * np.cos(fan * 5)
        return mix(tinted, blotch, 0.93 * rise(reach, edge + 0.05, edge - 0.05))

    return paint


def _trumpet_paint(base: Colour, generator: np.random.Generator) -> Paint:
    """Paint of a daffodil's trumpet from the front: bright frill, dark throat."""
    pleats = generator.uniform(-1, 1, 40)

    def paint(patch: Patch) -> Floats:
        out = np.hypot(patch.u, patch.v) / 0.4
        angle = np.arctan2(patch.v, patch.u) / math.pi
        fold = np.interp(angle, np.linspace(-1, 1, 40), pleats)
        lit = 1 + 0.25 * (patch.u * patch.light[0] + patch.v * patch.light[1]) / 0.4 * rise(
            out, 0.95, 0.5
        )
        base_tone = ramp(
            out,
            (
                (0, base * 0.5),
                (0.45, base * 0.7),
                (0.72, base * 0.9),
                (0.85, base * 1.05),
                (1, base),
            ),
        )
        return np.asarray(base_tone * ((1 + 0.09 * fold) * lit)[:, None], np.float32)

    return paint


def _stamens(
    canvas: Canvas,
    generator: np.random.Generator,
    *,
    count: int,
    reach: tuple[float, float],
    head: Colour,
    filament: Colour | None = None,
) -> None:
    """Draw a ring of stamens: fine filaments, each with a head."""
    angles = np.linspace(0, 2 * math.pi, count, endpoint=False) + generator.normal(0, 0.06, count)
    lengths = generator.uniform(*reach, count)
    tips: list[Point] = [
        (r * math.cos(a), r * math.sin(a)) for r, a in zip(lengths, angles, strict=True)
    ]
    threads = [
        stroke(((0.02 * x, 0.02 * y), (0.5 * x, 0.5 * y), (x, y)), 0.012, 0.01) for x, y in tips
    ]
    canvas.fill(
        threads,
        plain(filament if filament is not None else colour("e9d9a0")),
        relief=0,
        shadow=0.25,
    )
    heads = [disc(generator.uniform(0.02, 0.03), x, y, flatten=0.8, corners=10) for x, y in tips]
    canvas.fill(heads, plain(head), relief=0.6, roundness=0.018, shadow=0.35)


def _pod(canvas: Canvas, base: Colour, *, rays: Colour) -> None:
    """Draw a poppy's seed pod from above, with its rays."""
    canvas.fill(
        [disc(0.125)], ball_paint(base, gloss=0.1, radius=(0.125, 0.125)), relief=0.1, shadow=0.5
    )
    spokes = [
        stroke(
            (
                (0.0, 0.0),
                (0.05 * math.cos(a), 0.05 * math.sin(a)),
                (0.1 * math.cos(a), 0.1 * math.sin(a)),
            ),
            0.02,
            0.014,
        )
        for a in np.linspace(0, 2 * math.pi, 9, endpoint=False)
    ]
    canvas.fill(spokes, plain(rays), relief=0.2, roundness=0.02)


def _sepals(canvas: Canvas, generator: np.random.Generator, *, count: int, reach: float) -> None:
    """Draw a stem and the green sepals that show between petals."""
    draw_stem(canvas, generator, width=0.07)
    blade = Blade(((0, 0.08), (0.4, 0.13), (0.75, 0.06), (1, 0)))
    start = generator.uniform(0, 360)
    for index in range(count):
        paint = petal_paint(blade, ((0, GREEN * 0.8), (1, GREEN * 1.1)), generator, groove=0.2)
        canvas.fill(
            [blade.outline()],
            paint,
            place(turn=start + index * 360 / count, scale=reach),
            relief=0.3,
        )
