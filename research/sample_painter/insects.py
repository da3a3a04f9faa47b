"""Insects from above: beetles with closed wing cases, butterflies with spread wings.

A subject fills about the unit disc, its head towards the top. Right halves are drawn; left ones
mirror them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from research.sample_painter.canvas import Canvas, Floats, Outline, Paint, Patch, Place, place
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
from research.sample_painter.shapes import Point, disc, smooth, stroke

BLACK = colour("1b1818")
DOTS = colour("f4efe4")
MIRROR = Place(xx=-1.0)
SIDES = (Place(), MIRROR)

FOREWING: tuple[Point, ...] = (
    *(
        (0.04, -0.2),
        (0.3, -0.52),
        (0.62, -0.8),
        (0.88, -0.88),
        (0.97, -0.76),
        (0.9, -0.5),
        (0.8, -0.22),
        (0.7, -0.02),
    ),
    *((0.45, 0.02), (0.2, 0.02), (0.04, 0.04)),
)
HOOKED_FOREWING: tuple[Point, ...] = (
    *(
        (0.04, -0.2),
        (0.3, -0.5),
        (0.58, -0.72),
        (0.8, -0.82),
        (0.93, -0.86),
        (0.9, -0.68),
        (0.86, -0.42),
        (0.78, -0.1),
    ),
    *((0.6, 0.03), (0.3, 0.04), (0.04, 0.04)),
)
HINDWING: tuple[Point, ...] = (
    *(
        (0.04, -0.06),
        (0.35, -0.1),
        (0.62, -0.02),
        (0.78, 0.2),
        (0.76, 0.46),
        (0.62, 0.66),
        (0.42, 0.76),
        (0.22, 0.66),
    ),
    *((0.1, 0.4), (0.04, 0.2)),
)
TIPPED_HINDWING: tuple[Point, ...] = (
    *(
        (0.04, -0.06),
        (0.35, -0.1),
        (0.62, -0.02),
        (0.78, 0.18),
        (0.76, 0.4),
        (0.72, 0.56),
        (0.52, 0.68),
        (0.26, 0.66),
    ),
    *((0.1, 0.42), (0.04, 0.2)),
)
WING_ROOT: Point = (0.05, -0.06)


def draw_ladybird(canvas: Canvas, generator: np.random.Generator) -> None:
    """A red dome with seven black spots and white cheeks."""
    _legs(canvas, generator, BLACK, roots=(-0.35, 0.0, 0.35), body=0.6, reach=0.28, thick=0.06)
    _armour(canvas, disc(0.26, 0, -0.78, flatten=0.75), BLACK, (), BLACK)
    cheeks = [disc(0.1, side * 0.3, -0.66, flatten=1.1) for side in (-1, 1)]
    _armour(canvas, disc(0.47, 0, -0.55, flatten=0.62), BLACK, cheeks, colour("efe9da"), shadow=0.3)
    red = varied(colour(("c9281c", "d84a1b", "b51f1d")[generator.integers(3)]), generator, 0.06)
    size = generator.normal(0.13, 0.014)
    spots = [disc(size, 0, -0.42)]
    for side in (-1, 1):
        for x, y in ((0.42, -0.17), (0.25, 0.2), (0.5, 0.42)):
            spots.append(
                disc(size, side * x + generator.normal(0, 0.012), y + generator.normal(0, 0.015))
            )
    back = disc(0.76, 0, 0.13, flatten=1.0, corners=60)
    _armour(canvas, back, red, [*spots, _seam(-0.5, 0.9)], BLACK, gloss=0.85, shadow=0.5)


def draw_rose_chafer(canvas: Canvas, generator: np.random.Generator) -> None:
    """A broad metallic green beetle with a few white scratches."""
    green = varied(
        mix(colour("2f8f3a"), colour("a3842a"), generator.uniform(0, 0.55)), generator, 0.06
    )
    dark = green * colour("4a5a4a")
    _legs(canvas, generator, dark, roots=(-0.35, 0.02, 0.4), body=0.45, reach=0.42, thick=0.07)
    _antennae(
        canvas, generator, dark, start=(0.12, -0.85), end=(0.3, -0.98), thick=0.03, club=0.045
    )
    head = smooth(
        (
            (-0.17, -0.62),
            (-0.19, -0.84),
            (-0.12, -0.96),
            (0.12, -0.96),
            (0.19, -0.84),
            (0.17, -0.62),
        )
    )
    canvas.fill([head], plain(green * 0.8), relief=0.5, roundness=0.06)
    shield = smooth(
        (
            (-0.22, -0.78),
            (0.22, -0.78),
            (0.42, -0.5),
            (0.46, -0.3),
            (0.0, -0.2),
            (-0.46, -0.3),
            (-0.42, -0.5),
        )
    )
    _armour(canvas, shield, green, (), BLACK, gloss=0.6, sheen=colour("e2b53a"), shadow=0.4)
    back = _symmetric(
        ((0.0, -0.28), (0.44, -0.3), (0.57, 0.0), (0.56, 0.4), (0.4, 0.74), (0.0, 0.86))
    )
    scratches = [
        stroke(
            ((side * x, y), (side * (x + 0.05), y + 0.01), (side * (x + w), y + 0.03)), 0.035, 0.015
        )
        for side in (-1, 1)
        for x, y, w in ((0.2, 0.42, 0.14), (0.3, 0.56, 0.16), (0.14, 0.62, 0.1), (0.4, 0.3, 0.1))
    ]
    _armour(
        canvas,
        back,
        green,
        scratches,
        colour("e9ead8"),
        gloss=0.6,
        sheen=colour("e2b53a"),
        shadow=0.5,
    )
    canvas.fill([_seam(-0.05, 0.84)], plain(dark), relief=0, opacity=0.8)
    wedge = np.array(((-0.13, -0.27), (0.13, -0.27), (0.0, 0.02)), np.float32)
    canvas.fill([wedge], plain(green * 0.85), relief=0.5, roundness=0.04, shadow=0.4)


def draw_stag_beetle(canvas: Canvas, generator: np.random.Generator) -> None:
    """A long dark beetle with chestnut wing cases and antlers."""
    dark = varied(colour("2a1d19"), generator, 0.1)
    chestnut = varied(
        mix(colour("5a2a1a"), colour("3b211a"), generator.uniform(0, 1)), generator, 0.07
    )
    _legs(canvas, generator, dark, roots=(-0.12, 0.15, 0.42), body=0.3, reach=0.5, thick=0.05)
    _antennae(canvas, generator, dark, start=(0.2, -0.5), end=(0.5, -0.62), thick=0.025, club=0.045)
    reach = generator.normal(1.0, 0.08)
    for side in SIDES:
        arm = stroke(
            ((0.13, -0.52), (0.27, -0.66 * reach), (0.26, -0.84 * reach), (0.12, -0.98 * reach)),
            0.11,
            0.04,
        )
        prong = stroke(
            ((0.26, -0.74 * reach), (0.2, -0.78 * reach), (0.12, -0.79 * reach)), 0.06, 0.02
        )
        fork = stroke(
            ((0.2, -0.9 * reach), (0.22, -0.96 * reach), (0.22, -1.02 * reach)), 0.05, 0.02
        )
        canvas.fill(
            [arm, prong, fork],
            plain(mix(chestnut, dark, 0.3)),
            side,
            relief=0.8,
            roundness=0.04,
            shadow=0.3,
        )
    head = smooth(
        (
            (-0.3, -0.4),
            (-0.27, -0.58),
            (-0.12, -0.6),
            (0.12, -0.6),
            (0.27, -0.58),
            (0.3, -0.4),
            (0, -0.36),
        )
    )
    _armour(canvas, head, dark * 1.1, (), BLACK, gloss=0.35, shadow=0.3)
    shield = smooth(
        ((-0.3, -0.4), (0.3, -0.4), (0.37, -0.26), (0.33, -0.12), (-0.33, -0.12), (-0.37, -0.26))
    )
    _armour(canvas, shield, dark * 1.1, (), BLACK, gloss=0.4, shadow=0.4)
    back = _symmetric(
        ((0.0, -0.14), (0.3, -0.12), (0.38, 0.1), (0.38, 0.45), (0.24, 0.8), (0.0, 0.92))
    )
    _armour(canvas, back, chestnut, [_seam(-0.1, 0.9)], BLACK, gloss=0.5, shadow=0.5)


@dataclass(frozen=True)
class Wing:
    """How a wing is coloured.

    Attributes:
        outline: of the right wing.
        base: colour at the root.
        outer: colour towards the rim.
        rim: colour of the border.
        border: width of the border as a depth below the rim; 0.5 is none, 1 half the wing.
        veins: strength of dark veins, 0..1.
        spots: groups of outlines, each with its colour, later ones above.
        dots: white ones on the border.
    """

    outline: Outline
    base: Colour
    outer: Colour
    rim: Colour
    border: float = 0.55
    veins: float = 0.15
    spots: tuple[tuple[tuple[Outline, ...], Colour], ...] = ()
    dots: tuple[Outline, ...] = ()


def draw_monarch(canvas: Canvas, generator: np.random.Generator) -> None:
    """Orange wings with black veins and a black border full of white dots."""
    orange = varied(
        mix(colour("e0761b"), colour("c9591a"), generator.uniform(0, 1)), generator, 0.05
    )
    tip = smooth(
        ((0.5, -0.72), (0.75, -0.9), (0.95, -0.9), (1.0, -0.7), (0.86, -0.5), (0.7, -0.52))
    )
    bars = [
        disc(0.05, x, y, flatten=0.7)
        for x, y in ((0.62, -0.62), (0.7, -0.56), (0.76, -0.47), (0.62, -0.74))
    ]
    front, back = _outline(FOREWING, generator), _outline(HINDWING, generator)
    fore_spots = (((tip,), BLACK), (tuple(bars), mix(orange, DOTS, 0.6)))
    fore_dots, hind_dots = _dots(front, (0.2, 0.66), 22), _dots(back, (0.2, 0.8), 20)
    fore = Wing(front, orange, orange, BLACK, 0.78, 0.95, fore_spots, fore_dots)
    hind = Wing(back, orange * 0.96, orange, BLACK, 0.82, 0.95, dots=hind_dots)
    _butterfly(canvas, generator, fore, hind, BLACK)


def draw_peacock(canvas: Canvas, generator: np.random.Generator) -> None:
    """Rust-red wings with an eye on each."""
    rust = varied(colour(("9e2f22", "a83a24", "8c2a22")[generator.integers(3)]), generator, 0.06)
    front, back = (
        _outline(FOREWING, generator, ragged=0.025),
        _outline(HINDWING, generator, ragged=0.03),
    )
    brown, cream, blue = (
        colour("3a2823"),
        colour("e8cf8e"),
        varied(colour("5a76c4"), generator, 0.07),
    )
    size = generator.normal(1, 0.07)
    fore_eye = (
        ((disc(0.2 * size, 0.74, -0.64),), cream),
        ((disc(0.155 * size, 0.73, -0.63),), mix(rust, brown, 0.5)),
        ((disc(0.09 * size, 0.77, -0.67), disc(0.03, 0.86, -0.5), disc(0.025, 0.84, -0.4)), blue),
        (
            (
                stroke(((0.3, -0.5), (0.36, -0.42), (0.4, -0.36)), 0.09, 0.06),
                disc(0.09, 0.5, -0.56, flatten=0.7),
            ),
            BLACK,
        ),
        ((disc(0.055, 0.6, -0.68),), cream),
    )
    hind_eye = (
        ((disc(0.2 * size, 0.55, 0.3),), colour("b9a78c")),
        ((disc(0.155 * size, 0.55, 0.3),), BLACK),
        ((disc(0.085 * size, 0.53, 0.28), disc(0.04, 0.62, 0.36)), blue),
    )
    fore = Wing(front, rust * 0.85, rust, brown, 0.68, 0.2, fore_eye)
    hind = Wing(back, brown * 1.15, rust * 0.8, brown, 0.74, 0.2, hind_eye)
    _butterfly(canvas, generator, fore, hind, colour("3d2a24"))


def draw_brimstone(canvas: Canvas, generator: np.random.Generator) -> None:
    """Lemon wings with a hooked tip and one orange dot each."""
    lemon = varied(
        mix(colour("f0e24a"), colour("dfe6a8"), generator.uniform(0, 0.8)), generator, 0.03
    )
    orange = colour("e58a24")
    edge = mix(lemon, colour("b9a04a"), 0.5)
    front, back = _outline(HOOKED_FOREWING, generator), _outline(TIPPED_HINDWING, generator)
    fore = Wing(
        front, lemon * 0.97, lemon, edge, 0.52, 0.14, (((disc(0.035, 0.48, -0.42),), orange),)
    )
    hind = Wing(back, lemon * 0.95, lemon, edge, 0.52, 0.14, (((disc(0.042, 0.45, 0.2),), orange),))
    _butterfly(canvas, generator, fore, hind, colour("8a8560"))


def _butterfly(
    canvas: Canvas, generator: np.random.Generator, fore: Wing, hind: Wing, body: Colour
) -> None:
    """Draw spread wings, hind ones below, then the body with its antennae."""
    spread = generator.normal(0, 6), generator.normal(0, 5)
    seed = int(generator.integers(2**31))
    for wing, opening, shadow in ((hind, spread[1], 0.0), (fore, spread[0], 0.3)):
        for side in SIDES:
            hinge = place(*WING_ROOT, turn=opening).of(place(-WING_ROOT[0], -WING_ROOT[1]))
            # Both sides wear the same pattern.
            paint = _wing_paint(wing, np.random.default_rng(seed))
            canvas.fill(
                [wing.outline], paint, side.of(hinge), relief=0.12, roundness=0.075, shadow=shadow
            )
    abdomen = stroke(((0.0, 0.0), (0.0, 0.3), (generator.normal(0, 0.02), 0.56)), 0.13, 0.05)
    canvas.fill([abdomen], plain(body), relief=0.6, roundness=0.06, shadow=0.3)
    _antennae(
        canvas, generator, BLACK, start=(0.02, -0.32), end=(0.24, -0.84), thick=0.014, club=0.022
    )
    fur = mix(body, colour("a08a66"), 0.3)
    canvas.fill(
        [disc(0.085, 0, -0.08, flatten=1.9)],
        _fur_paint(fur, generator),
        relief=0.5,
        roundness=0.07,
        shadow=0.3,
    )
    canvas.fill([disc(0.055, 0, -0.29)], plain(body), relief=0.6, roundness=0.04)


def _wing_paint(wing: Wing, generator: np.random.Generator) -> Paint:
    """Paint of a butterfly's wing: scales in rays from the root, veins, a border, spots."""
    lines = _veins(wing.outline)

    def paint(patch: Patch) -> Floats:
        x, y = patch.u - WING_ROOT[0], patch.v - WING_ROOT[1]
        reach = np.hypot(x, y)
        rays = streaks(np.arctan2(y, x) / np.pi, generator, 120)
        shade = ramp(reach, ((0.05, wing.base * 0.8), (0.35, wing.base), (0.75, wing.outer)))
        shade = shade * (1 + 0.06 * rays + 0.04 * mottle(patch, generator, 0.2))[:, None]
        shade = mix(shade, wing.rim, wing.veins * patch.inside(lines, soften_by=0.004))
        for outlines, tone in wing.spots:
            shade = mix(shade, tone, patch.inside(outlines, soften_by=0.012))
        shade = mix(
            shade, wing.rim, 0.93 * rise(patch.depth, wing.border + 0.06, wing.border - 0.06)
        )
        return mix(shade, DOTS, patch.inside(wing.dots)) if wing.dots else shade

    return paint


def _fur_paint(base: Colour, generator: np.random.Generator) -> Paint:
    """Paint of a hairy back."""
    return lambda patch: np.asarray(
        base * (1 + 0.3 * mottle(patch, generator, 0.04))[:, None], np.float32
    )


def _veins(outline: Outline) -> list[Outline]:
    """Lines from a wing's root to its rim, and the cell they leave from."""
    root = np.array(WING_ROOT, np.float32)
    outer = outline[np.hypot(*(outline - root).T) > 0.5]  # noqa: PLR2004 (the rim away from the body)
    tips = outer[np.linspace(0, len(outer) - 1, 9).astype(int)]
    middle = root + 0.42 * (tips.mean(axis=0) - root)
    starts = [middle + 0.16 * (tip - middle) for tip in tips]
    lines = [
        stroke(np.stack((start, start + 0.5 * (tip - start), tip)), 0.016, 0.011)
        for start, tip in zip(starts, tips, strict=True)
    ]
    return [
        *lines,
        stroke(np.stack((root, 0.5 * (root + starts[0]), starts[0])), 0.018, 0.014),
        stroke(np.stack((root, 0.5 * (root + starts[-1]), starts[-1])), 0.018, 0.014),
        stroke(np.stack((starts[0], starts[4], starts[-1])), 0.012, 0.012),
    ]


def _dots(outline: Outline, stretch: tuple[float, float], count: int) -> tuple[Outline, ...]:
    """Two staggered rows of dots along a stretch of a wing's rim, in shares of the outline."""
    centre = outline.mean(axis=0)
    at = (np.linspace(*stretch, count) * (len(outline) - 1)).astype(int)
    places = [
        centre + (outline[index] - centre) * (0.965, 0.915)[row % 2] for row, index in enumerate(at)
    ]
    return tuple(
        disc(0.017 - 0.003 * (row % 2), float(x), float(y), corners=10)
        for row, (x, y) in enumerate(places)
    )


def _outline(
    points: Sequence[Point], generator: np.random.Generator, *, ragged: float = 0.008
) -> Outline:
    """Outline of a wing; its points shift a little, and the rim of some kinds is ragged."""
    shifted = np.asarray(points, np.float32) + generator.normal(0, 0.008, (len(points), 2))
    outline = smooth([(float(x), float(y)) for x, y in shifted])
    waves = np.sin(np.arange(len(outline)) * 1.15) * ragged
    away = rise(np.hypot(outline[:, 0], outline[:, 1]), 0.45, 0.7) * waves
    return np.asarray(outline * (1 + away)[:, None], np.float32)


def _armour(
    canvas: Canvas,
    outline: Outline,
    base: Colour,
    marks: Sequence[Outline],
    mark: Colour,
    *,
    gloss: float = 0.4,
    sheen: Colour | None = None,
    shadow: float = 0.0,
) -> None:
    """Draw a domed plate of a beetle with marks; `sheen` is the colour at grazing angles."""
    low, high = outline.min(axis=0), outline.max(axis=0)
    centre, half = (low + high) / 2, (high - low) / 2 * 1.08
    radius = (float(half[0]), float(half[1]))
    here = place(float(centre[0]), float(centre[1]))
    moved = [np.asarray(shape - centre, np.float32) for shape in marks]

    def paint(patch: Patch) -> Floats:
        body = base
        if sheen is not None:
            grazing = np.clip((patch.u / radius[0]) ** 2 + (patch.v / radius[1]) ** 2, 0, 1)
            body = mix(base, sheen, 0.45 * rise(grazing, 0.25, 0.9))
        dome = ball_paint(body, gloss=gloss, radius=radius)(patch)
        if not moved:
            return dome
        return mix(
            dome, ball_paint(mark, gloss=gloss * 0.8, radius=radius)(patch), patch.inside(moved)
        )

    canvas.fill([outline - centre], paint, here, relief=0.2, roundness=0.07, shadow=shadow)


def _symmetric(right: Sequence[Point]) -> Outline:
    """Symmetric outline from points down the right side; the first and last are on the axis."""
    return smooth([*right, *[(-x, y) for x, y in right[-2:0:-1]]])


def _seam(top: float, bottom: float) -> Outline:
    """The line between two wing cases."""
    return stroke(((0.0, top), (0.0, (top + bottom) / 2), (0.0, bottom)), 0.022, 0.022)


def _legs(
    canvas: Canvas,
    generator: np.random.Generator,
    base: Colour,
    *,
    roots: tuple[float, float, float],
    body: float,
    reach: float,
    thick: float,
) -> None:
    """Draw three pairs of bent legs.

    Args:
        canvas: to draw on.
        generator: of random variation.
        base: colour.
        roots: positions of the pairs along the body.
        body: half width of the body.
        reach: how far the legs stick out.
        thick: width of a thigh.
    """
    for side in SIDES:
        legs = []
        for root, lean in zip(roots, (-0.8, 0.15, 0.9), strict=True):
            swing = lean + generator.normal(0, 0.15)
            knee = (body + 0.5 * reach, root + 0.35 * reach * swing)
            footer = (body + reach, root + reach * swing * 1.05)
            legs += [
                stroke(
                    ((body * 0.5, root), (body, root + 0.1 * reach * swing), knee),
                    thick,
                    thick * 0.8,
                )
            ]
            legs += [
                stroke(
                    (knee, ((knee[0] + footer[0]) / 2, (knee[1] + footer[1]) / 2), footer),
                    thick * 0.65,
                    thick * 0.3,
                )
            ]
        canvas.fill(legs, plain(base * 1.1), side, relief=0.7, roundness=thick / 2)


def _antennae(
    canvas: Canvas,
    generator: np.random.Generator,
    base: Colour,
    *,
    start: Point,
    end: Point,
    thick: float,
    club: float,
) -> None:
    """Draw a pair of feelers that end in clubs; the ends are those of the right one."""
    for side in SIDES:
        x, y = end[0] + generator.normal(0, 0.03), end[1] + generator.normal(0, 0.02)
        middle = (start[0] + 0.35 * (x - start[0]), start[1] + 0.6 * (y - start[1]))
        feeler = stroke((start, middle, (x, y)), thick, thick)
        canvas.fill(
            [feeler, disc(club, x, y, corners=14)], plain(base), side, relief=0.3, roundness=thick
        )
