"""RGB pixels of a part of an image opened by Pillow, in as little memory as possible.

Pillow decodes a picture as a whole, at up to sixteen bytes a pixel. A large one that is reduced is
read in strips where its format allows that; else it is decoded whole, and only turned into RGB in
strips.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from PIL import Image, ImageFile

from engine.images.image_header import image_orientation
from engine.images.pixels import (
    Part,
    cropped_strips,
    is_deep,
    like_its_whole,
    reduced_rgb,
    rgb_image,
    strip_rows,
)
from engine.images.read_file import PIXELS, return_freed_memory
from engine.images.strips import (
    add_late_exif,
    is_png_in_strips,
    is_tiff_in_strips,
    png_strips,
    stored_size,
    tiff_strips,
)

LARGE_PIXELS = 16_000_000  # from here on a picture is reduced strip by strip
_WORTHWHILE = 4  # times as many pixels as are wanted
_MOST_STRIP_PIXELS = 16_000_000
"""A TIFF whose strip has more is decoded whole: there is nothing to gain (decision 110)."""
# what the strips of one picture hold, at most, with all their copies
_STRIP_BYTES = 160 * 1024**2
# from here on freed memory is given back to the system first. Chosen.
_MUCH_BYTES = 64 * 1024**2
_ONE_BYTE_MODES = frozenset({"1", "L", "P"})
# Bytes a pixel that a reader holds besides Pillow's picture, measured on large ones.
_READER_BYTES = {"WEBP": 12, "AVIF": 10, "HEIF": 6, "JPEG2000": 16, "TIFF": 4}
Choose = Callable[[int, int, int], tuple[Part, int]]
"""Chooses part and reduction factor for a stored width, height and orientation."""
# Bytes a pixel, by Pillow's raw modes.
_PIXEL_BYTES = {"L": 1, "P": 1, "RGB": 3, "BGR": 3, "BGRX": 4, "BGRA": 4, "RGBA": 4}


class WantedPart(NamedTuple):
    """A part of a picture, reduced by a factor along each side."""

    image: Image.Image  # of mode RGB, as stored: not turned upright
    part: Part
    factor: int
    size: tuple[int, int]  # width and height of the whole picture
    orientation: int  # EXIF value 1-8


@contextmanager
def reading(
    image: Image.Image, data: bytes, choose: Choose, *, as_array: bool = False
) -> Iterator[WantedPart]:
    """Read a part of an opened, not yet loaded image; its memory is reserved until the block ends.

    `choose` is called again where a reader turns pictures by itself. With `as_array` the memory of
    an array, which the caller makes of it, counts too.
    """
    strips = _strips_of_file(image, data, choose)
    held_bytes = _whole_bytes(image, as_array=as_array) if strips is None else _STRIP_BYTES
    with PIXELS.holding(held_bytes):
        if held_bytes >= _MUCH_BYTES:
            return_freed_memory()
        if strips is None:
            yield _whole(image, choose)
        else:
            size, orientation = _stored_size(image), image_orientation(image)
            part, factor = choose(*size, orientation)
            yield WantedPart(reduced_rgb(strips, part, factor), part, factor, size, orientation)


def _whole(image: Image.Image, choose: Choose) -> WantedPart:
    """Decode the whole picture; a reader may turn it upright itself: its orientation is then 1."""
    image.load()
    size, orientation = image.size, image_orientation(image)
    part, factor = choose(*size, orientation)
    if _is_worthwhile(size, part, factor):
        return WantedPart(
            reduced_rgb(cropped_strips(image, factor), part, factor),
            part,
            factor,
            size,
            orientation,
        )
    return WantedPart(rgb_image(image), Part(0, 0, *size), 1, size, orientation)


def _strips_of_file(
    image: Image.Image, data: bytes, choose: Choose
) -> Iterator[Image.Image] | None:
    """Strips read directly from the file; None where it is not large, or its format has none."""
    if image.width * image.height < LARGE_PIXELS:
        return None
    is_png = is_png_in_strips(image, data)
    if is_png:
        add_late_exif(image, data)
    size = _stored_size(image)
    part, factor = choose(*size, image_orientation(image))
    rows = strip_rows(size[0], factor)
    if not _is_worthwhile(size, part, factor):
        return None
    if is_png:
        return png_strips(image, data, rows)
    if _is_raw_in_strips(image, data):
        return _raw_strips(image, data, rows)
    return (
        tiff_strips(image, data, rows)
        if is_tiff_in_strips(image, data, _MOST_STRIP_PIXELS)
        else None
    )


def _stored_size(image: Image.Image) -> tuple[int, int]:
    return stored_size(image) if image.format == "TIFF" else image.size


def _is_worthwhile(size: tuple[int, int], part: Part, factor: int) -> bool:
    pixels = size[0] * size[1]
    wanted = (part.right - part.left) * (part.bottom - part.top) / factor**2
    return pixels >= LARGE_PIXELS and wanted * _WORTHWHILE <= pixels


def _whole_bytes(image: Image.Image, *, as_array: bool) -> int:
    """What decoding the whole picture holds at its peak."""
    pixel_bytes = _READER_BYTES.get(image.format or "", 0)
    pixel_bytes += 1 if image.mode in _ONE_BYTE_MODES else 4
    if image.width * image.height < LARGE_PIXELS or as_array:  # turned into RGB as a whole
        pixel_bytes += 12 if is_deep(image) else 0 if image.mode == "RGB" else 9
        pixel_bytes += 6 if as_array else 0
    return image.width * image.height * pixel_bytes


def _is_raw_in_strips(image: Image.Image, data: bytes) -> bool:
    """Whether an opened image, not loaded yet, has all its rows unpacked behind one another."""
    if not isinstance(image, ImageFile.ImageFile) or image.format not in {"BMP", "DIB", "PPM"}:
        return False
    if [(tile.codec_name, tile.extents) for tile in image.tile] != [("raw", (0, 0, *image.size))]:
        return False
    raw_mode, row_bytes, _direction = _layout(image)
    needed = image.tile[0].offset + row_bytes * image.height
    return (
        raw_mode in _PIXEL_BYTES
        and row_bytes >= image.width * _PIXEL_BYTES[raw_mode]
        and needed <= len(data)
    )


def _raw_strips(image: Image.Image, data: bytes, strip_rows: int) -> Iterator[Image.Image]:
    assert isinstance(image, ImageFile.ImageFile)
    raw_mode, row_bytes, direction = _layout(image)
    start = image.tile[0].offset
    for top in range(0, image.height, strip_rows):
        rows = min(strip_rows, image.height - top)
        first = image.height - top - rows if direction < 0 else top  # the last row may come first
        at = start + first * row_bytes
        pixels = memoryview(data)[at : at + rows * row_bytes]
        strip = Image.frombytes(
            image.mode, (image.width, rows), bytes(pixels), "raw", raw_mode, row_bytes, direction
        )
        yield like_its_whole(strip, image)


def _layout(image: ImageFile.ImageFile) -> tuple[str, int, int]:
    """How a pixel is stored, bytes of a row, and -1 where the rows go upwards."""
    arguments = image.tile[0].args
    raw_mode, row_bytes, direction = (
        arguments if isinstance(arguments, tuple) else (str(arguments), 0, 1)
    )
    return (
        str(raw_mode),
        int(row_bytes) or image.width * _PIXEL_BYTES.get(str(raw_mode), 0),
        int(direction),
    )
