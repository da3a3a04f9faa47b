"""Cuts the network's square input out of an image. Training and inference share this one function."""

from typing import Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image

# Box-averages first down to three times the wanted size: far cheaper on large images, and hardly to be told apart.
REDUCING_GAP: Final = 3.0
_CHANNELS: Final = 3  # Red, green and blue

Box = tuple[float, float, float, float]
"""Left, top, right and lower edge, in pixels."""


def square(image: NDArray[np.uint8], side: int, resize_share: float = 1.0) -> NDArray[np.uint8]:
    """Resize the short side to `side / resize_share` with antialiasing; the centre square, (side, side, 3) uint8.

    Cropping and resizing are one step: only pixels of the centre are ever touched.

    Args:
        image: (H, W, 3) uint8 RGB, or (H, W, 4) of which the last channel is padding: Pillow takes that as it is.
        resize_share: share of the short side that the result shows, in (0, 1].
    """
    height, width = image.shape[:2]
    box = centre_box(width, height, resize_share)
    if _is_just(box, (width, height), side):
        return np.ascontiguousarray(image[..., :_CHANNELS])
    return square_in_box(_pillow_image(image), box, side)


def centre_box(width: int, height: int, resize_share: float = 1.0) -> Box:
    """The square in the middle of a picture that shows this share of its short side."""
    kept = min(height, width) * resize_share
    left, top = (width - kept) / 2, (height - kept) / 2
    return left, top, left + kept, top + kept


def square_in_box(image: Image.Image, box: Box, side: int) -> NDArray[np.uint8]:
    """Resize a part of a picture with antialiasing to (side, side, 3) uint8.

    Args:
        image: of mode RGB or RGBX.
        box: the part, a square.
    """
    resized = image
    if not _is_just(box, image.size, side):
        resized = image.resize((side, side), Image.Resampling.BILINEAR, box=box, reducing_gap=REDUCING_GAP)
    # Pillow drops the padding much faster than numpy copies three bytes of every four
    return np.frombuffer(resized.tobytes("raw", "RGB"), dtype=np.uint8).reshape(side, side, _CHANNELS)


def _is_just(box: Box, size: tuple[int, int], side: int) -> bool:
    return size == (side, side) and box == (0, 0, side, side)


def _pillow_image(image: NDArray[np.uint8]) -> Image.Image:
    """The pixels as Pillow's image; padded ones are shared with it, others copied."""
    height, width, channels = image.shape
    if channels == _CHANNELS or not image.flags.c_contiguous:
        return Image.fromarray(image[..., :_CHANNELS])
    return Image.frombuffer("RGBX", (width, height), image, "raw", "RGBX", 0, 1)


def fit_within(image: NDArray[np.uint8], longest_side: int) -> NDArray[np.uint8]:
    """Scale an image down, aspect kept, until its longer side is at most `longest_side`; never up, (h, w, 3) uint8.

    Args:
        image: (H, W, 3) uint8 RGB.
        longest_side: in pixels.
    """
    height, width = image.shape[:2]
    scale = longest_side / max(height, width)
    if scale >= 1:
        return np.ascontiguousarray(image)
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    resized = Image.fromarray(image).resize(size, Image.Resampling.BICUBIC, reducing_gap=REDUCING_GAP)
    return np.asarray(resized)
