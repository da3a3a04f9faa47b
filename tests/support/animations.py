"""Generated animations: a light square moves over a background, one step per frame."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

SUFFIXES = (".gif", ".webp", ".png")
_STEP = 4  # pixels per frame


def frame(number: int) -> NDArray[np.uint8]:
    """A frame (48, 64, 3) uint8, different from all others."""
    pixels = np.full((48, 64, 3), (90, 60, 30), dtype=np.uint8)
    top, left = _STEP * (number // 14), _STEP * (number % 14)
    pixels[top : top + 8, left : left + 8] = (250, 220, 40)
    return pixels


def write_animation(
    path: Path,
    milliseconds: Sequence[int],
    pictures: Sequence[NDArray[np.uint8]] = (),
    **options: Any,
) -> Path:
    """Write a lossless GIF, WebP or PNG by suffix, with a picture or number per duration."""
    frames = [Image.fromarray(each) for each in pictures or map(frame, range(len(milliseconds)))]
    if path.suffix == ".gif":  # avoids quantisation of colours
        frames = [each.quantize(256, dither=Image.Dither.NONE) for each in frames]
    options = {"lossless": True, "exact": True, **options} if path.suffix == ".webp" else options
    frames[0].save(
        path, save_all=True, append_images=frames[1:], duration=list(milliseconds), **options
    )
    return path
