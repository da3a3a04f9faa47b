"""Simulated photos: a painted subject on a background, with random pose, light and camera."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageFilter

from research.sample_painter.backgrounds import BACKGROUNDS
from research.sample_painter.canvas import Canvas, Floats, Place, place, shifted, soften

Painter = Callable[[Canvas, np.random.Generator], None]

SIZES = ((320, 320), (352, 288), (288, 352), (360, 270))  # width, height
DISTANT = ("meadow", "sky")  # too far behind the subject for a shadow


@dataclass(frozen=True)
class Scene:
    """How subjects of a kind are shown.

    Attributes:
        grounds: names of possible backgrounds.
        turn: largest rotation from upright, in degrees.
    """

    grounds: tuple[str, ...]
    turn: float = 180.0


def photograph(draw: Painter, scene: Scene, generator: np.random.Generator) -> Image.Image:
    """Generate a photo.

    Args:
        draw: paints the subject into about the unit disc.
        scene: where and how the subject is shown.
        generator: of specimen, pose, light, background and camera.

    Returns:
        An RGB picture of about 320 x 320 pixels.
    """
    width, height = SIZES[generator.integers(len(SIZES))]
    angle = math.radians(generator.uniform(25, 155))
    light = (math.cos(angle), math.sin(angle))
    canvas = Canvas(width, height, _pose(width, height, scene.turn, generator), light)
    draw(canvas, generator)
    subject, alpha = canvas.developed()
    name = scene.grounds[generator.integers(len(scene.grounds))]
    ground = _blurred(BACKGROUNDS[name](height, width, generator), generator.uniform(0, 1.8))
    if name not in DISTANT:
        ground = _shaded(ground, alpha, light, generator)
    return _developed(ground * (1 - alpha)[:, :, None] + subject, generator)


def _pose(width: int, height: int, turn: float, generator: np.random.Generator) -> Place:
    """Pose of the unit disc: near the centre of the picture, rotated and tilted."""
    side = min(width, height)
    shift = np.clip(generator.normal(0, 0.035, 2), -0.07, 0.07) * side
    size = side * generator.uniform(0.33, 0.47)
    tilt = generator.uniform(0, 180)
    view = place(
        width / 2 + shift[0],
        height / 2 + shift[1],
        turn=tilt,
        scale=size,
        stretch=generator.uniform(0.78, 1),
    )
    return view.of(place(turn=generator.uniform(-turn, turn) - tilt))


def _blurred(field: Floats, radius: float) -> Floats:
    """Lens blur; small radii are skipped."""
    if radius < 0.3:  # noqa: PLR2004 (pixels; too little to see)
        return field
    picture = Image.fromarray((np.clip(field, 0, 1) * 255).astype(np.uint8))
    return np.asarray(picture.filter(ImageFilter.BoxBlur(radius)), np.float32) / 255


def _shaded(
    ground: Floats, alpha: Floats, light: tuple[float, float], generator: np.random.Generator
) -> Floats:
    """Shadow of the subject on the ground: a dark one close by and a soft one along the light."""
    shade = np.zeros_like(alpha)
    softness = generator.uniform(4, 12)
    for reach, strength in ((softness, generator.uniform(0.3, 0.6)), (3.0, 0.25)):
        shift = (round(light[1] * reach * 0.9), round(light[0] * reach * 0.9))
        shade = np.maximum(shade, soften(shifted(alpha, *shift), reach) * np.float32(strength))
    return np.asarray(ground * (1 - shade)[:, :, None], np.float32)


def _developed(field: Floats, generator: np.random.Generator) -> Image.Image:
    """Camera effects: exposure, colour cast, contrast, vignetting, blur and grain."""
    height, width, _ = field.shape
    field = _blurred(field, max(generator.normal(0.3, 0.35), 0))
    down, right = np.linspace(-1, 1, height)[:, None], np.linspace(-1, 1, width)[None, :]
    slope = generator.normal(0, 0.05, 2)
    falling = (
        1 + slope[0] * right + slope[1] * down - generator.uniform(0, 0.12) * (right**2 + down**2)
    )
    warmth = generator.normal(0, 0.025)
    cast = np.array((1 + warmth, 1 + generator.normal(0, 0.008), 1 - warmth)) * generator.normal(
        1, 0.08
    )
    gain = falling.astype(np.float32)[:, :, None] * cast.astype(np.float32)
    lit = np.clip(field * gain, 0, 1)
    contrast = np.float32(generator.uniform(-0.15, 0.35))
    lit *= 1 + contrast * (1 - lit) * (2 * lit - 1)  # towards the S-curve lit^2 (3 - 2 lit)
    grain = generator.standard_normal((height, width, 1), np.float32) * np.float32(
        generator.uniform(0.003, 0.016)
    )
    lit += grain
    return Image.fromarray((np.clip(lit, 0, 1, out=lit) * 255 + np.float32(0.5)).astype(np.uint8))
