"""EXIF orientation: how a camera was held. Pixels are turned once, right after decoding."""

from typing import Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from engine.images.tiff_directory import byte_order, entries, first_directory

# From Exif 2.3, section 4.6.4 A, and of JPEG markers from ITU-T T.81, table B.1.
ORIENTATION_TAG: Final = 0x0112
UPRIGHT: Final = 1
_EXIF_HEADER: Final = b"Exif\x00\x00"
_MARKER: Final = 0xFF
_START_OF_SCAN: Final = 0xDA
_APP1: Final = 0xE1
_LENGTH_BYTES: Final = 2
_EXIF_ERRORS: Final = (ValueError, SyntaxError, OSError, KeyError, IndexError, TypeError, EOFError, OverflowError)


def jpeg_orientation(data: bytes) -> int:
    """Orientation 1-8 that a JPEG's EXIF block declares; 1 when there is none or it makes no sense.

    Walks the segments in front of the picture instead of opening the file with Pillow, which costs more than
    decoding a small JPEG, and warns about EXIF blocks that are odd elsewhere.
    """
    at = 2
    while at + 4 <= len(data) and data[at] == _MARKER:
        if data[at + 1] == _MARKER:  # fill byte: any number of them may stand before a marker
            at += 1
            continue
        marker, length = data[at + 1], int.from_bytes(data[at + 2 : at + 4], "big")
        if marker == _START_OF_SCAN or length < _LENGTH_BYTES:
            break
        if marker == _APP1 and data.startswith(_EXIF_HEADER, at + 4):
            return orientation_in(data[at + 4 + len(_EXIF_HEADER) : at + 2 + length])
        at += 2 + length
    return UPRIGHT


def orientation_in(tiff: bytes) -> int:
    """Orientation 1-8 that the first directory of a TIFF structure declares; 1 when there is none."""
    order = byte_order(tiff)
    for entry in entries(tiff, first_directory(tiff, order), order):
        if entry.tag == ORIENTATION_TAG:
            return _checked(entry.value)
    return UPRIGHT


def image_orientation(image: Image.Image) -> int:
    """Orientation 1-8 of an image that Pillow opened (EXIF or XMP); 1 when there is none or it makes no sense."""
    try:
        # not the PNG reader's own way, which decodes the whole picture to see whether a block follows
        return _checked(Image.Image.getexif(image).get(ORIENTATION_TAG, UPRIGHT))
    except _EXIF_ERRORS:
        return UPRIGHT


def _checked(value: object) -> int:
    return value if isinstance(value, int) and 1 <= value <= 8 else UPRIGHT  # noqa: PLR2004  # EXIF knows eight


def upright(pixels: NDArray[np.uint8], orientation: int) -> NDArray[np.uint8]:
    """Turn pixels as they were seen: (H, W, 3) or, for 5-8, (W, H, 3) uint8; a view where possible.

    Args:
        pixels: (H, W, 3) uint8 as stored.
        orientation: EXIF value 1-8.
    """
    if orientation >= 5:  # noqa: PLR2004  # 5-8 swap rows and columns
        pixels = pixels.transpose(1, 0, 2)
    if orientation in {3, 4, 7, 8}:
        pixels = pixels[::-1]
    if orientation in {2, 3, 6, 7}:
        pixels = pixels[:, ::-1]
    return pixels
