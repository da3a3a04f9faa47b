"""Small pictures of images, for grids and cards."""

from pathlib import Path
from typing import Final

import simplejpeg

from engine.images.decode import read_rgb
from engine.images.resize import fit_within

_QUALITY: Final = 85
"""Of a JPEG, out of 100. Chosen: no difference is seen at this size."""


def thumbnail(path: Path, side: int) -> bytes:
    """Make a small upright picture of an image file, aspect kept.

    Args:
        side: pixels of the longer side; a smaller image keeps its size.

    Raises:
        ImageError: the file cannot be read.
    """
    pixels = fit_within(read_rgb(path, longest_side=side), side)
    encoded: bytes = simplejpeg.encode_jpeg(pixels, quality=_QUALITY)
    return encoded
