"""What is in a part of a file, cut out as a file of its own."""

import io
import math
from pathlib import Path

from engine.file_parts import FilePart

LONGEST_PAGE = 3000
"""Pixels of the longer side that a page is drawn with. Chosen: 250 a inch of a usual page."""
_QUALITY = 95  # of the JPEG. Chosen: above what cameras write.


def jpeg_of_part(file: Path, part: FilePart) -> bytes:
    """The pixels of a box, page or moment as a JPEG; at least one pixel each way.

    Raises:
        ImageError: it cannot be read.
    """
    from PIL import Image

    from engine.images.decode import read_rgb
    from engine.images.parts_of_file import open_file_parts

    if part.picture == FilePart():
        pixels = read_rgb(file)
    else:
        with open_file_parts(file) as opened:
            pixels = opened.rgb(part.picture, longest_side=LONGEST_PAGE)
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
