"""Reads pictures whose pixels lie unpacked in the file, as in most BMP and PPM files, strip by strip."""

from collections.abc import Iterator
from typing import Final

from PIL import Image, ImageFile

from engine.images.pixels import like_its_whole

# Bytes a pixel, by Pillow's raw modes.
_PIXEL_BYTES: Final = {"L": 1, "P": 1, "RGB": 3, "BGR": 3, "BGRX": 4, "BGRA": 4, "RGBA": 4}


def is_raw_in_strips(image: Image.Image, data: bytes) -> bool:
    """Whether an opened image, not loaded yet, has all its rows unpacked behind one another."""
    if not isinstance(image, ImageFile.ImageFile) or image.format not in {"BMP", "DIB", "PPM"}:
        return False
    if [(tile.codec_name, tile.extents) for tile in image.tile] != [("raw", (0, 0, *image.size))]:
        return False
    raw_mode, row_bytes, _direction = _layout(image)
    needed = image.tile[0].offset + row_bytes * image.height
    return raw_mode in _PIXEL_BYTES and row_bytes >= image.width * _PIXEL_BYTES[raw_mode] and needed <= len(data)


def raw_strips(image: Image.Image, data: bytes, strip_rows: int) -> Iterator[Image.Image]:
    """Read from top to bottom; see `is_raw_in_strips`."""
    assert isinstance(image, ImageFile.ImageFile)
    raw_mode, row_bytes, direction = _layout(image)
    start = image.tile[0].offset
    for top in range(0, image.height, strip_rows):
        rows = min(strip_rows, image.height - top)
        first = image.height - top - rows if direction < 0 else top  # the last row may come first
        at = start + first * row_bytes
        pixels = memoryview(data)[at : at + rows * row_bytes]
        strip = Image.frombytes(image.mode, (image.width, rows), bytes(pixels), "raw", raw_mode, row_bytes, direction)
        yield like_its_whole(strip, image)


def _layout(image: ImageFile.ImageFile) -> tuple[str, int, int]:
    """How a pixel is stored, bytes of a row, and -1 where the rows go upwards."""
    arguments = image.tile[0].args
    raw_mode, row_bytes, direction = arguments if isinstance(arguments, tuple) else (str(arguments), 0, 1)
    return str(raw_mode), int(row_bytes) or image.width * _PIXEL_BYTES.get(str(raw_mode), 0), int(direction)
