"""Any picture that Pillow opens, as plain RGB pixels."""

from typing import Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image

# What shows through transparent pixels.
_WHITE: Final = (255, 255, 255)
_WITH_ALPHA: Final = frozenset({"LA", "La", "PA", "RGBA", "RGBa"})
_DEEP: Final = frozenset({"I;16", "I;16L", "I;16B", "I;16N", "I", "F"})
# Largest values of so many bits: 10, 12 and 14 are what sensors have, and what they fill of sixteen.
_EIGHT_BIT_MAX: Final = 255
_LARGEST_VALUES: Final = (_EIGHT_BIT_MAX, 1023, 4095, 16_383, 65_535)


def rgb_image(image: Image.Image) -> Image.Image:
    """Turn an opened image into RGB; transparency shows a white ground, deep grays are scaled to eight bits."""
    if is_deep(image):
        values = deep_values(image)
        low, high = float(values.min()), float(values.max())
        gray = eight_bit(values, low, high, has_whole_numbers=image.mode != "F")
        return Image.fromarray(gray).convert("RGB")
    if image.mode in _WITH_ALPHA or "transparency" in image.info:
        return _on_white(image)
    return image if image.mode == "RGB" else image.convert("RGB")


def is_deep(image: Image.Image) -> bool:
    """Whether an image is gray with more than eight bits."""
    return image.mode in _DEEP


def deep_values(image: Image.Image) -> NDArray[np.float32]:
    """Values of a deep gray image, (H, W) float32; what is no number counts as zero."""
    return np.nan_to_num(np.asarray(image).astype(np.float32), copy=False, posinf=0.0, neginf=0.0)


def eight_bit(values: NDArray[np.float32], low: float, high: float, *, has_whole_numbers: bool) -> NDArray[np.uint8]:
    """Scale deep gray values to eight bits: whole numbers by the bits that they fill, others by the range they use.

    Args:
        values: of the picture, or means of them; changed.
        low, high: smallest and largest value of the whole picture.
    """
    if has_whole_numbers and low >= 0 and high <= _LARGEST_VALUES[-1]:
        low, high = 0.0, float(next(most for most in _LARGEST_VALUES if high <= most))
    elif low >= 0 and high <= 1:
        low, high = 0.0, 1.0
    scale = _EIGHT_BIT_MAX / (high - low) if high > low else 0.0
    values -= low
    values *= scale
    values += 0.5
    return values.clip(0, _EIGHT_BIT_MAX, out=values).astype(np.uint8)


def _on_white(image: Image.Image) -> Image.Image:
    with_alpha = image if image.mode == "RGBA" else image.convert("RGBA")
    ground = Image.new("RGB", image.size, _WHITE)
    ground.paste(with_alpha, mask=with_alpha.getchannel("A"))
    return ground


def like_its_whole(strip: Image.Image, image: Image.Image) -> Image.Image:
    """Give a strip the palette and the transparency of the image it is of; that one was not loaded yet."""
    strip.info.update(image.info)
    if image.mode == "P" and image.palette is not None:
        strip.putpalette(image.palette.palette, image.palette.rawmode or image.palette.mode)
    return strip
