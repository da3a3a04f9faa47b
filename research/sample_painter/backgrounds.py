"""Backgrounds: paper, linen, wood, stone, soil, moss, sky, and a meadow out of focus."""

from collections.abc import Callable

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from research.sample_painter.canvas import Floats
from research.sample_painter.paints import Colour, clouds, colour, mix, ramp, rise, varied

# (height, width, generator) -> (height, width, 3)
Background = Callable[[int, int, np.random.Generator], Floats]

PAPERS = tuple(colour(text) for text in ("efe7d6", "f2eee4", "e6dcc4", "dfe1dc", "cdb38c"))
LINENS = tuple(colour(text) for text in ("d9cfbd", "c3c8c6", "b9a88c"))
STONES = tuple(colour(text) for text in ("9b9a96", "b3aa9c", "7f868b"))


def paper(height: int, width: int, generator: np.random.Generator) -> Floats:
    """Herbarium paper with a few fibres."""
    base = varied(
        PAPERS[generator.choice(len(PAPERS), p=(0.35, 0.3, 0.15, 0.1, 0.1))], generator, 0.02
    )
    tone = (
        1
        + 0.022 * clouds(height, width, 90, generator, octaves=2)
        + 0.012 * clouds(height, width, 3, generator)
    )
    fibres = _lines(height, width, generator, count=60, length=16)
    return np.clip(base * (tone - 0.09 * fibres)[:, :, None], 0, 1).astype(np.float32)


def linen(height: int, width: int, generator: np.random.Generator) -> Floats:
    """Coarse cloth."""
    base = varied(LINENS[generator.integers(len(LINENS))], generator, 0.03)
    warp = np.sin(np.arange(width) * generator.uniform(1.5, 1.9))[None, :] * generator.normal(
        1, 0.35, (height, 1)
    )
    weft = np.sin(np.arange(height) * generator.uniform(1.5, 1.9))[:, None] * generator.normal(
        1, 0.35, (1, width)
    )
    tone = 1 + 0.035 * (warp + weft) + 0.03 * clouds(height, width, 70, generator, octaves=2)
    return np.clip(base * tone[:, :, None], 0, 1).astype(np.float32)


def wood(height: int, width: int, generator: np.random.Generator) -> Floats:
    """Weathered boards with a grain."""
    base = varied(colour(("a98a66", "8d7a66", "c2a57e")[generator.integers(3)]), generator, 0.05)
    squeezed = clouds(height, max(width // 14, 8), 5, generator, octaves=3)
    grain = np.asarray(Image.fromarray(squeezed).resize((width, height), Image.Resampling.BICUBIC))
    rings = np.sin(
        9 * clouds(height, width, 160, generator, octaves=1) + np.linspace(0, 14, height)[:, None]
    )
    tone = 1 + 0.09 * grain + 0.035 * rings + 0.02 * clouds(height, width, 2, generator, octaves=1)
    gap = int(generator.uniform(0.1, 0.9) * height)
    tone[gap : gap + 2] *= 0.6
    field = base * tone[:, :, None]
    is_upright = height == width and generator.random() < 0.5  # noqa: PLR2004
    turned = field.swapaxes(0, 1) if is_upright else field
    return np.clip(turned, 0, 1).astype(np.float32)


def stone(height: int, width: int, generator: np.random.Generator) -> Floats:
    """A slab of speckled stone."""
    base = varied(STONES[generator.integers(len(STONES))], generator, 0.05)
    bumps = _embossed(clouds(height, width, 40, generator, octaves=5))
    speckle = generator.normal(0, 0.035, (height, width)).astype(np.float32)
    lichen = rise(clouds(height, width, 70, generator, octaves=4), 0.75, 1.0)[:, :, None]
    field = base * (1 + 0.55 * bumps + speckle)[:, :, None]
    return np.clip(mix(field, colour("b9b48a"), 0.5 * lichen[:, :, 0]), 0, 1)


def soil(height: int, width: int, generator: np.random.Generator) -> Floats:
    """Crumbly earth with straws."""
    rough = clouds(height, width, 24, generator, octaves=4)
    earth = (colour("2f2118"), colour("5d432e"), colour("8a6a4a"))
    field = ramp(0.5 + 0.38 * rough, tuple(zip((0.0, 0.55, 1.0), earth, strict=True)))
    field *= (1 + 0.8 * _embossed(rough))[:, :, None]
    straws = _lines(height, width, generator, count=26, length=22, thick=2)
    return np.clip(mix(field, colour("b79a6b"), 0.7 * straws), 0, 1)


def moss(height: int, width: int, generator: np.random.Generator) -> Floats:
    """A cushion of moss, all short bright strokes over dark green."""
    rough = clouds(height, width, 60, generator, octaves=3)
    base = varied(colour(("4d6a26", "5f7a2b", "3f6138")[generator.integers(3)]), generator, 0.06)
    picture = Image.fromarray(
        (np.clip(base * (0.62 + 0.25 * rough)[:, :, None], 0, 1) * 255).astype(np.uint8)
    )
    pen = ImageDraw.Draw(picture)
    starts = generator.uniform(0, 1, (1500, 2)) * (width, height)
    bends = generator.normal(0, 4.5, (1500, 2))
    shades = np.clip(
        base * generator.uniform(0.6, 1.75, (1500, 1)) + generator.normal(0, 0.02, (1500, 3)), 0, 1
    )
    for start, bend, shade in zip(starts, bends, (shades * 255).astype(int).tolist(), strict=True):
        pen.line((*start, *(start + bend)), fill=tuple(shade), width=1)
    softened = picture.filter(ImageFilter.GaussianBlur(generator.uniform(0.6, 1.8)))
    return np.asarray(softened, np.float32) / 255


def meadow(height: int, width: int, generator: np.random.Generator) -> Floats:
    """Greenery far out of focus, with discs of light."""
    top = varied(
        colour(("9fbf8a", "b9c9a2", "86a878", "c9d3b0")[generator.integers(4)]), generator, 0.05
    )
    low = varied(colour(("3f5f2e", "5a7a3c", "4b6b45")[generator.integers(3)]), generator, 0.06)
    return _out_of_focus(height, width, generator, top=top, low=low, lights=colour("e9f0b8"))


def sky(height: int, width: int, generator: np.random.Generator) -> Floats:
    """Sky above a hint of land, out of focus."""
    top = varied(colour(("6fa3d0", "9cc0dc", "b8cbd8")[generator.integers(3)]), generator, 0.04)
    low = varied(colour(("dfe6e2", "cfdcc0", "f1e2c6")[generator.integers(3)]), generator, 0.03)
    return _out_of_focus(height, width, generator, top=top, low=low, lights=colour("ffffff"))


def _out_of_focus(
    height: int,
    width: int,
    generator: np.random.Generator,
    *,
    top: Colour,
    low: Colour,
    lights: Colour,
) -> Floats:
    """A gradient with soft clouds and discs of light, drawn small and enlarged."""
    rows, columns = height // 2, width // 2
    fall = np.linspace(0, 1, rows, dtype=np.float32)[:, None] + 0.38 * clouds(
        rows, columns, 70, generator, octaves=2
    )
    field = mix(top, low, rise(fall, -0.1, 1.1))
    for _ in range(int(generator.integers(5, 14))):
        x, y, radius = (
            generator.uniform(0, columns),
            generator.uniform(0, rows),
            generator.uniform(5, 20),
        )
        box = (
            slice(max(int(y - radius - 3), 0), int(y + radius + 3)),
            slice(max(int(x - radius - 3), 0), int(x + radius + 3)),
        )
        down, right = np.mgrid[
            box[0].start : min(box[0].stop, rows), box[1].start : min(box[1].stop, columns)
        ]
        distance = np.hypot(down - y, right - x)
        glow = rise(distance, radius + 2, radius - 2) * (
            0.65 + 0.35 * rise(distance, radius * 0.6, radius)
        )
        field[box] = mix(field[box], lights, glow * generator.uniform(0.06, 0.32))
    picture = Image.fromarray((np.clip(field, 0, 1) * 255).astype(np.uint8)).filter(
        ImageFilter.GaussianBlur(1.5)
    )
    return np.asarray(picture.resize((width, height), Image.Resampling.BICUBIC), np.float32) / 255


def _lines(
    height: int,
    width: int,
    generator: np.random.Generator,
    *,
    count: int,
    length: float,
    thick: int = 1,
) -> Floats:
    """Short bent lines scattered over a field, as coverage."""
    sheet = Image.new("L", (width, height))
    pen = ImageDraw.Draw(sheet)
    for x, y in generator.uniform(0, 1, (count, 2)) * (width, height):
        steps = generator.normal(0, length / 2, (2, 2))
        path = np.cumsum(np.concatenate(([[x, y]], steps + steps[:1])), axis=0)
        pen.line(path.ravel().tolist(), fill=int(generator.integers(90, 255)), width=thick)
    return np.asarray(sheet.filter(ImageFilter.GaussianBlur(0.6)), np.float32) / 255


def _embossed(field: Floats) -> Floats:
    """Light from the upper left on a height field, in about -1..1."""
    down, right = np.gradient(field)
    return np.asarray(np.clip((down + right) * 2, -1, 1), np.float32)


BACKGROUNDS: dict[str, Background] = {
    "paper": paper,
    "linen": linen,
    "wood": wood,
    "stone": stone,
    "soil": soil,
    "moss": moss,
    "meadow": meadow,
    "sky": sky,
}
