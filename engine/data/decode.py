"""Decodes one image file to upright RGB pixels. Whatever is wrong with a file becomes one `ImageError`.

Two ways lead to pixels. Nearly all photos are JPEGs: libjpeg-turbo decodes them straight to the scale that is needed,
without holding the interpreter lock. Everything else, and every JPEG that the first way refuses, goes through Pillow,
which also has the last word on whether a file is damaged.
"""

import io
import struct
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Literal

import numpy as np
import simplejpeg
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from engine.data.library_warnings import pillow_is_quiet
from engine.data.orientation import image_orientation, jpeg_orientation, upright
from engine.data.pixels import rgb_pixels
from engine.data.read_file import read_file
from engine.data.resize import square
from engine.data.unreadable import not_an_image
from engine.errors import ImageError

MAX_PIXELS: Final = 500_000_000
LARGE_PIXELS: Final = 50_000_000
# Named one by one because some of Pillow's readers start other programs (EPS) or guess without a signature (TGA).
FORMATS: Final = ("JPEG", "PNG", "GIF", "BMP", "TIFF", "WEBP", "AVIF", "PPM", "JPEG2000")
_JPEG_SIGNATURE: Final = b"\xff\xd8\xff"
_TURBO_COLOURS: Final = frozenset({"YCbCr", "Gray", "RGB"})
# What Pillow's readers are known to raise on damaged files, besides what they promise.
_DAMAGE: Final = (
    OSError,
    SyntaxError,
    ValueError,
    ArithmeticError,
    EOFError,
    LookupError,
    TypeError,
    AttributeError,
    AssertionError,
    RuntimeError,
    struct.error,
    zlib.error,
)

# Pillow's own limit warns long before ours and stops at another size; ours is checked right after the header.
Image.MAX_IMAGE_PIXELS = None
_large_image = threading.Lock()


def read_rgb(path: Path, *, smallest_side: int | None = None) -> NDArray[np.uint8]:
    """Read and decode an image file.

    Args:
        path: the file.
        smallest_side: pixels that the shorter side should still have; lets a JPEG be decoded at a reduced scale.

    Returns:
        (H, W, 3) uint8, upright, the first frame of an animation.

    Raises:
        ImageError: the file is not there, is no image, is damaged, or declares more than `MAX_PIXELS`.
    """
    return decode_rgb(read_file(path), smallest_side=smallest_side)


def decode_rgb(data: bytes, *, smallest_side: int | None = None) -> NDArray[np.uint8]:
    """Decode the bytes of an image file; see `read_rgb`.

    Raises:
        ImageError: the bytes are no image, are damaged, or declare more than `MAX_PIXELS`.
    """
    try:
        pixels = _decode_jpeg(data, smallest_side or 0, "rgb")
        if pixels is None:
            return _decode_with_pillow(data, smallest_side)
        return upright(pixels, jpeg_orientation(data))
    except MemoryError as error:
        raise ImageError("there is not enough memory for this image") from error


def decode_square(data: bytes, side: int, resize_share: float = 1.0) -> NDArray[np.uint8]:
    """Decode the bytes of an image file to the network's square input: `square` of `decode_rgb`, in fewer steps.

    A JPEG is decoded to the four bytes a pixel that Pillow resizes in place, and is turned upright once it is small. Of
    turned pictures single values may differ by rounding from resizing after turning.

    Args:
        data: the file's bytes.
        side, resize_share: see `square`.

    Returns:
        (side, side, 3) uint8 RGB, upright; a view where possible.

    Raises:
        ImageError: the bytes are no image, are damaged, or declare more than `MAX_PIXELS`.
    """
    smallest_side = round(side / resize_share)
    try:
        pixels = _decode_jpeg(data, smallest_side, "rgbx")
        if pixels is None:
            return square(_decode_with_pillow(data, smallest_side), side, resize_share)
        return upright(square(pixels, side, resize_share), jpeg_orientation(data))
    except MemoryError as error:
        raise ImageError("there is not enough memory for this image") from error


def _decode_jpeg(data: bytes, smallest_side: int, channels: Literal["rgb", "rgbx"]) -> NDArray[np.uint8] | None:
    """Decode with libjpeg-turbo, as stored, or return None where Pillow must decide: no JPEG, CMYK, any damage."""
    if not data.startswith(_JPEG_SIGNATURE):
        return None
    try:
        height, width, colours, _sampling = simplejpeg.decode_jpeg_header(data)
        _refuse_bomb(width, height)
        if colours not in _TURBO_COLOURS:
            return None
        with _one_large_at_a_time(width * height):
            pixels: NDArray[np.uint8] = simplejpeg.decode_jpeg(
                data, channels, min_height=smallest_side, min_width=smallest_side
            )
    except ValueError:
        return None
    return pixels


def _decode_with_pillow(data: bytes, smallest_side: int | None) -> NDArray[np.uint8]:
    with pillow_is_quiet():
        try:
            with Image.open(io.BytesIO(data), formats=FORMATS) as image:
                return _decode_opened(image, smallest_side)
        except UnidentifiedImageError as error:
            raise not_an_image(data) from error
        except _DAMAGE as error:
            raise ImageError("the image is damaged or incomplete", found=str(error) or type(error).__name__) from error


def _decode_opened(image: Image.Image, smallest_side: int | None) -> NDArray[np.uint8]:
    _refuse_bomb(*image.size)
    with _one_large_at_a_time(image.width * image.height):
        if smallest_side:
            image.draft(None, (smallest_side, smallest_side))
        image.load()
        return upright(rgb_pixels(image), image_orientation(image))


def _refuse_bomb(width: int, height: int) -> None:
    if width * height > MAX_PIXELS:
        raise ImageError(
            "the image is too large",
            expected=f"at most {MAX_PIXELS // 1_000_000} megapixels",
            found=f"{width} x {height}",
            remedy="scale it down first",
        )


@contextmanager
def _one_large_at_a_time(pixels: int) -> Iterator[None]:
    """Let only one thread decode a huge image at once, so that several do not add up to more than the memory."""
    if pixels < LARGE_PIXELS:
        yield
        return
    with _large_image:
        yield
