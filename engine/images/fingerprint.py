"""Fingerprints of pictures: sharpness, and a perceptual hash robust to resizing and recompression.

The hash is the usual one of the discrete cosine transform, bit for bit that of the library
ImageHash, which needs SciPy and PyWavelets for it.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from engine.arrays import Doubles, Floats, Pixels
from engine.config import THUMBNAIL_SIDES
from engine.file_parts import WHOLE, file_part

if TYPE_CHECKING:
    from PIL import Image

SIDE = THUMBNAIL_SIDES[0]  # longer side, in pixels, of the picture that is looked at
HASH_SIDE = 8  # rows and columns of low frequencies in the hash: 64 bits
SHRUNK = 4 * HASH_SIDE  # side of the picture that is transformed
LEAST_CONTRAST = 4.0
"""Standard deviation, in grey levels, below which a picture is plain: night, fog, a lens cap."""
NO_HASH = 0  # all bits of a plain picture


@dataclass(frozen=True)
class Fingerprint:
    """Perceptual hash and sharpness of a picture."""

    bits: int  # 64 bits; `NO_HASH` for a plain picture
    sharpness: float  # variance of its Laplacian, in grey levels


def fingerprint_of(path: Path, part: str = WHOLE) -> Fingerprint:
    """Read, decode and look at a part of an image file; raises as `read_rgb`."""
    from engine.images.opened_file import OpenedFile

    wanted = file_part(part)
    with OpenedFile(path, wanted) as opened:
        return fingerprint(opened.decoder(wanted, SIDE).shown(SIDE, wanted.box))


def fingerprint(pixels: Pixels) -> Fingerprint:
    """The fingerprint of a picture (H, W, 3) uint8."""
    from PIL import Image

    grey = Image.fromarray(pixels).convert("L")
    return Fingerprint(perceptual_hash(grey), sharpness(np.asarray(grey, dtype=np.float32)))


def perceptual_hash(grey: "Image.Image") -> int:
    """64 bits, row by row, of a grey picture: which low frequencies are above their median."""
    from PIL import Image

    small = np.asarray(grey.resize((SHRUNK, SHRUNK), Image.Resampling.LANCZOS), dtype=np.float64)
    if small.std() < LEAST_CONTRAST:
        return NO_HASH
    low = (_cosines() @ small @ _cosines().T)[:HASH_SIDE, :HASH_SIDE]
    return int.from_bytes(np.packbits(low > np.median(low)).tobytes(), "big")


def sharpness(grey: Floats) -> float:
    """Variance of the Laplacian of grey levels (H, W); 0 for a picture without an inside."""
    if min(grey.shape) <= 2:  # noqa: PLR2004 (both edges)
        return 0.0
    inside = grey[1:-1, 1:-1]
    laplacian = grey[:-2, 1:-1] + grey[2:, 1:-1] + grey[1:-1, :-2] + grey[1:-1, 2:] - 4 * inside
    return float(laplacian.var())


@cache
def _cosines() -> Doubles:
    """The discrete cosine transform (type II) of `SHRUNK` values as a matrix."""
    places = np.arange(SHRUNK)
    cosines: Doubles = 2 * np.cos(np.pi * places[:, None] * (2 * places[None] + 1) / (2 * SHRUNK))
    return cosines
