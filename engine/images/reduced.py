"""Puts a large picture together from strips, at a reduced scale: the whole of it is never in memory."""

import math
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from engine.images.pixels import deep_values, eight_bit, is_deep, rgb_image

STRIP_PIXELS: Final = 2_000_000
"""About so many pixels in one strip."""


class Part(NamedTuple):
    """A part of a picture, in its pixels: columns from `left`, rows from `top`, up to but not with the other two."""

    left: int
    top: int
    right: int
    bottom: int


def strip_rows(width: int, factor: int) -> int:
    """Rows of a strip: some million pixels, and whole blocks of `factor` rows."""
    return max(1, STRIP_PIXELS // (width * factor)) * factor


def held_factor(factor: float, width: int) -> int:
    """The factor as a whole number, 1 or more, and such that a strip of so many rows is no large picture itself."""
    return max(1, min(int(factor), 2 * STRIP_PIXELS // width))


def reduced_rgb(strips: Iterable[Image.Image], part: Part, factor: int) -> Image.Image:
    """Average each block of `factor` x `factor` pixels of a part: RGB, its sides by `factor`, rounded up.

    Args:
        strips: the whole picture from top to bottom, in pieces of its full width, in whatever mode.
        factor: 1 or more; blocks at the right and lower edge may be cut off.
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
        self._done: list[NDArray[np.uint8] | NDArray[np.float32]] = []
        self._waiting: NDArray[np.uint8] | NDArray[np.float32] | None = None
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

    def finished(self) -> NDArray[np.uint8]:
        if self._waiting is not None:
            self._done.append(_block_means(self._waiting, self._factor))
        means = np.concatenate(self._done)
        if self._range is None:
            return means.astype(np.uint8, copy=False)
        gray = eight_bit(means.astype(np.float32, copy=False), *self._range, has_whole_numbers=self._has_whole_numbers)
        return np.repeat(gray[:, :, None], 3, axis=2)


def _block_means(rows: NDArray[np.uint8] | NDArray[np.float32], factor: int) -> NDArray[np.uint8] | NDArray[np.float32]:
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
