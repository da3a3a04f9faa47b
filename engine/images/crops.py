"""What is in a box of an image, cut out as a file of its own."""

import io
import math
from pathlib import Path
from typing import Final

from PIL import Image

from engine.errors import ImageError
from engine.file_parts import FilePart
from engine.images.decode import read_rgb

_QUALITY: Final = 95  # of the JPEG. Chosen: above what cameras write.


def jpeg_crop(file: Path, part: FilePart) -> bytes:
    """The pixels of a part as a JPEG; at least one pixel each way.

    Raises:
        ImageError: the image cannot be read, or it is a page or a moment that cannot be cut out.
    """
    if part.page not in (None, 1) or part.seconds is not None:
        raise ImageError("boxes of later pages and of videos cannot be cut out")
    pixels = read_rgb(file)
    height, width = pixels.shape[:2]
    if part.box is not None:
        left, top, across, down = part.box.in_pixels((width, height))
        first_column, first_row = (
            min(math.floor(left + 0.5), width - 1),
            min(math.floor(top + 0.5), height - 1),
        )
        last_column = max(first_column + 1, round(left + across))
        last_row = max(first_row + 1, round(top + down))
        pixels = pixels[first_row:last_row, first_column:last_column]
    held = io.BytesIO()
    Image.fromarray(pixels).save(held, "JPEG", quality=_QUALITY)
    return held.getvalue()
