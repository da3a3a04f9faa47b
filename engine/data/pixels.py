"""Any picture that Pillow opens, as plain RGB pixels."""

from typing import Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image

_WHITE: Final = (255, 255, 255)
_WITH_ALPHA: Final = frozenset({"LA", "La", "PA", "RGBA", "RGBa"})
_SIXTEEN_BIT_MODES: Final = ("I;16", "I;16L", "I;16B", "I;16N")
_SIXTEEN_BIT_MAX: Final = 65535
_EIGHT_BIT_MAX: Final = 255


def rgb_pixels(image: Image.Image) -> NDArray[np.uint8]:
    """Decode an opened image to RGB; transparency shows a white ground, deep grays are scaled to eight bits.

    Args:
        image: opened by Pillow, at its first frame.

    Returns:
        (H, W, 3) uint8.
    """
    if image.mode in _SIXTEEN_BIT_MODES or image.mode in {"I", "F"}:
        gray = _eight_bit(np.asarray(image))
        return np.repeat(gray[:, :, None], 3, axis=2)
    if image.mode in _WITH_ALPHA or "transparency" in image.info:
        image = _on_white(image)
    return np.asarray(image if image.mode == "RGB" else image.convert("RGB"))


def _eight_bit(values: NDArray[np.generic]) -> NDArray[np.uint8]:
    """Scale deep gray values: 16-bit ones by their full range, others by the range they use."""
    deep = np.nan_to_num(values.astype(np.float32), posinf=0.0, neginf=0.0)
    low, high = float(deep.min()), float(deep.max())
    if np.issubdtype(values.dtype, np.integer) and low >= 0 and high <= _SIXTEEN_BIT_MAX:
        low, high = 0.0, float(_SIXTEEN_BIT_MAX if high > _EIGHT_BIT_MAX else _EIGHT_BIT_MAX)
    elif low >= 0 and high <= 1:
        low, high = 0.0, 1.0
    scale = _EIGHT_BIT_MAX / (high - low) if high > low else 0.0
    scaled: NDArray[np.uint8] = ((deep - low) * scale + 0.5).clip(0, _EIGHT_BIT_MAX).astype(np.uint8)
    return scaled


def _on_white(image: Image.Image) -> Image.Image:
    with_alpha = image.convert("RGBA")
    ground = Image.new("RGB", image.size, _WHITE)
    ground.paste(with_alpha, mask=with_alpha.getchannel("A"))
    return ground
