"""Any picture that Pillow opens, as plain RGB pixels."""

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from PIL import Image

from engine.arrays import Floats, Pixels
from engine.file_parts import BoundingBox
from engine.images.colour_profile import cmyk_in_srgb

STRIP_PIXELS = 2_000_000  # about so many pixels in one strip


class Part(NamedTuple):
    """A part of a picture, in pixels: half-open ranges of columns and rows."""

    left: int
    top: int
    right: int
    bottom: int


def strip_rows(width: int, factor: int) -> int:
    """Rows of a strip: some million pixels, and whole blocks of `factor` rows."""
    return max(1, STRIP_PIXELS // (width * factor)) * factor


def held_factor(factor: float, width: int) -> int:
    """The factor as an integer of at least 1, such that a strip of so many rows is small."""
    return max(1, min(int(factor), 2 * STRIP_PIXELS // width))


def reduced_rgb(strips: Iterable[Image.Image], part: Part, factor: int) -> Image.Image:
    """Average each block of `factor` x `factor` pixels of a part; edge blocks may be smaller.

    Args:
        strips: the whole picture from top to bottom, in pieces of its full width, in whatever mode.
    """
    rows = _Rows(factor)
    top = 0
    for strip in strips:
        first, last = max(0, part.top - top), min(strip.height, part.bottom - top)
        top += strip.height
        rows.look_at(strip)
        if first < last:
            rows.add(strip.crop((part.left, first, part.right, last)))
    return Image.fromarray(rows.finished())


class _Rows:
    """Reduced rows so far, and up to `factor` - 1 rows that wait for the rest of their block."""

    def __init__(self, factor: int) -> None:
        self._factor = factor
        self._done: list[Pixels | Floats] = []
        self._waiting: Pixels | Floats | None = None
        self._range: tuple[float, float] | None = None
        self._has_whole_numbers = False

    def look_at(self, strip: Image.Image) -> None:
        """How a deep picture is scaled depends on all of its values, wanted or not."""
        if is_deep(strip):
            values = deep_values(strip)
            low, high = self._range or (math.inf, -math.inf)
            self._range = min(low, float(values.min())), max(high, float(values.max()))
            self._has_whole_numbers = strip.mode != "F"

    def add(self, strip: Image.Image) -> None:
        rows = deep_values(strip) if is_deep(strip) else np.asarray(rgb_image(strip))
        if self._waiting is not None:
            rows = np.concatenate([self._waiting, rows])
        whole = len(rows) - len(rows) % self._factor
        if whole:
            self._done.append(_block_means(rows[:whole], self._factor))
        self._waiting = rows[whole:].copy() if whole < len(rows) else None

    def finished(self) -> Pixels:
        if self._waiting is not None:
            self._done.append(_block_means(self._waiting, self._factor))
        means = np.concatenate(self._done)
        if self._range is None:
            return means.astype(np.uint8, copy=False)
        gray = eight_bit(
            means.astype(np.float32, copy=False),
            *self._range,
            has_whole_numbers=self._has_whole_numbers,
        )
        return np.repeat(gray[:, :, None], 3, axis=2)


def _block_means(rows: Pixels | Floats, factor: int) -> Pixels | Floats:
    if rows.dtype == np.uint8:
        return np.asarray(Image.fromarray(rows).reduce(factor))
    sums = rows
    counts = []
    for axis in (0, 1):
        starts = np.arange(0, rows.shape[axis], factor)
        counts.append(np.diff(starts, append=rows.shape[axis]).astype(np.float32))
        sums = np.add.reduceat(sums, starts, axis=axis)
    return np.asarray(sums / (counts[0][:, None] * counts[1][None, :]), dtype=np.float32)


def cropped_strips(image: Image.Image, factor: int) -> Iterator[Image.Image]:
    """Strips of a picture that is in memory as it was stored: only they are turned into RGB."""
    rows = strip_rows(image.width, factor)
    for top in range(0, image.height, rows):
        yield image.crop((0, top, image.width, min(image.height, top + rows)))


# First box-averages down to three times the size: far cheaper on large images, hardly visible.
REDUCING_GAP = 3.0
_CHANNELS = 3  # Red, green and blue

Box = tuple[float, float, float, float]  # left, top, right and lower edge, in pixels


def square(image: Pixels, side: int, resize_share: float = 1.0) -> Pixels:
    """Resize the short side to `side / resize_share` with antialiasing, and crop the centre.

    Cropping and resizing are one step: only pixels of the centre are ever touched.

    Args:
        image: (H, W, 3) uint8 RGB, or (H, W, 4) with padding as the last channel, native to Pillow.
        resize_share: share of the short side that the result shows, in (0, 1].
    """
    height, width = image.shape[:2]
    return square_of(image, centre_box(width, height, resize_share), side)


def square_of(image: Pixels, box: Box, side: int) -> Pixels:
    """As `square`, of a square part in pixels of the image."""
    height, width = image.shape[:2]
    if _is_just(box, (width, height), side):
        return np.ascontiguousarray(image[..., :_CHANNELS])
    return square_in_box(_pillow_image(image), box, side)


def centre_box(width: int, height: int, resize_share: float = 1.0) -> Box:
    """The square in the middle of a picture that shows this share of its short side."""
    kept = min(height, width) * resize_share
    left, top = (width - kept) / 2, (height - kept) / 2
    return left, top, left + kept, top + kept


SURROUNDINGS = 1.2
"""Size of the crop around a bounding box, relative to the box (decision 110)."""


def box_square(box: BoundingBox, width: int, height: int, orientation: int = 1) -> Box:
    """The square around a bounding box, moved into the picture, in pixels.

    Where the box exceeds the shorter side of the picture, it is the largest square around its
    centre.

    Args:
        box: in the upright picture.
        orientation: EXIF value 1-8 of the stored picture, to which width and height refer.
    """
    left, top, box_width, box_height = stored_box(box, orientation).in_pixels((width, height))
    side = min(max(box_width, box_height, 1.0) * SURROUNDINGS, width, height)
    left = min(max(left + (box_width - side) / 2, 0.0), width - side)
    top = min(max(top + (box_height - side) / 2, 0.0), height - side)
    return left, top, left + side, top + side


def stored_box(box: BoundingBox, orientation: int) -> BoundingBox:
    """A box of the shown picture, in the stored picture: the inverse of `upright`."""
    left, top, width, height = box
    if orientation in {2, 3, 6, 7}:
        left = 1 - box.right
    if orientation in {3, 4, 7, 8}:
        top = 1 - box.bottom
    is_turned = orientation >= 5  # noqa: PLR2004  # 5-8 swap rows and columns
    return (
        BoundingBox(top, left, height, width)
        if is_turned
        else BoundingBox(left, top, width, height)
    )


def square_in_box(image: Image.Image, box: Box, side: int) -> Pixels:
    """Resize a square part of an RGB or RGBX picture with antialiasing to (side, side, 3) uint8."""
    resized = image
    if not _is_just(box, image.size, side):
        resized = image.resize(
            (side, side), Image.Resampling.BILINEAR, box=box, reducing_gap=REDUCING_GAP
        )
    # Pillow drops the padding much faster than numpy copies three bytes of every four
    return np.frombuffer(resized.tobytes("raw", "RGB"), dtype=np.uint8).reshape(
        side, side, _CHANNELS
    )


def _is_just(box: Box, size: tuple[int, int], side: int) -> bool:
    return size == (side, side) and box == (0, 0, side, side)


def _pillow_image(image: Pixels) -> Image.Image:
    """The pixels as Pillow's image; padded ones are shared with it, others copied."""
    height, width, channels = image.shape
    if channels == _CHANNELS or not image.flags.c_contiguous:
        return Image.fromarray(image[..., :_CHANNELS])
    return Image.frombuffer("RGBX", (width, height), image, "raw", "RGBX", 0, 1)


def fit_within(image: Pixels, longest_side: int) -> Pixels:
    """Scale down with the same aspect, until the longer side is at most `longest_side`; never up.

    Args:
        image: as for `square`.

    Returns:
        (H, W, 3) uint8 RGB.
    """
    height, width = image.shape[:2]
    scale = longest_side / max(height, width)
    if scale >= 1:
        return np.ascontiguousarray(image[..., :_CHANNELS])
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    resized = _pillow_image(image).resize(size, Image.Resampling.BICUBIC, reducing_gap=REDUCING_GAP)
    return np.frombuffer(resized.tobytes("raw", "RGB"), dtype=np.uint8).reshape(
        size[1], size[0], _CHANNELS
    )


# What shows through transparent pixels.
_WHITE = (255, 255, 255)
_WITH_ALPHA = frozenset({"LA", "La", "PA", "RGBA", "RGBa"})
_DEEP = frozenset({"I;16", "I;16L", "I;16B", "I;16N", "I", "F"})
# Largest values of so many bits: sensors have 10, 12 or 14 of sixteen.
_EIGHT_BIT_MAX = 255
_LARGEST_VALUES = (_EIGHT_BIT_MAX, 1023, 4095, 16_383, 65_535)


def rgb_image(image: Image.Image) -> Image.Image:
    """Convert an opened image to RGB: white behind transparency, deep grays to eight bits."""
    if is_deep(image):
        values = deep_values(image)
        low, high = float(values.min()), float(values.max())
        gray = eight_bit(values, low, high, has_whole_numbers=image.mode != "F")
        return Image.fromarray(gray).convert("RGB")
    if image.mode in _WITH_ALPHA or "transparency" in image.info:
        return _on_white(image)
    if image.mode == "CMYK":
        return cmyk_in_srgb(image)
    return image if image.mode == "RGB" else image.convert("RGB")


def is_deep(image: Image.Image) -> bool:
    """Whether an image is gray with more than eight bits."""
    return image.mode in _DEEP


def deep_values(image: Image.Image) -> Floats:
    """Values of a deep gray image, (H, W) float32; NaN counts as zero."""
    return np.nan_to_num(np.asarray(image).astype(np.float32), copy=False, posinf=0.0, neginf=0.0)


def eight_bit(values: Floats, low: float, high: float, *, has_whole_numbers: bool) -> Pixels:
    """Scale deep gray values to eight bits: integers by used bits, others by their range.

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
    """Give a strip the palette and the transparency of its image, which was not loaded yet."""
    strip.info.update(image.info)
    if image.mode == "P" and image.palette is not None:
        strip.putpalette(image.palette.palette, image.palette.rawmode or image.palette.mode)
    return strip
