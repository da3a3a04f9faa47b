"""Pictures with their number as a pattern of blocks, read back from screenshots at any size."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy import ndimage

from tests.robot.eyes import Area, Picture

BLOCKS = 10
"""Per side: a magenta ring, which is unique on the screen, around 8 by 8 blocks."""
INNER = BLOCKS - 2
BITS = 20
"""Bits of a number, which is encoded twice, inverted the second time, to detect errors."""
SIDE = 160
SMALLEST_SEEN = 60
FACTOR = 0x9E375
"""Numbers are multiplied by it, so that pictures differ in many blocks."""
STRIDE = 2
"""Every second pixel suffices to find a picture."""
_RING = (255, 0, 255)


@dataclass(frozen=True)
class Seen:
    """A marked picture on the screen.

    Attributes:
        number: the encoded number.
        area: on the screen.
    """

    number: int
    area: Area


def draw_marked(
    number: int, tint: tuple[int, int, int] = (90, 140, 90), side: int = SIDE
) -> Picture:
    """A picture that encodes a number; `tint` fills the other blocks."""
    blocks = np.zeros((BLOCKS, BLOCKS, 3), np.uint8)
    blocks[:] = _RING
    blocks[1:-1, 1:-1] = tint
    for place, bit in enumerate(_pattern(number)):
        row, column = divmod(place, INNER)
        blocks[1 + row, 1 + column] = 255 if bit else 0
    scale = side // BLOCKS
    return blocks.repeat(scale, axis=0).repeat(scale, axis=1)


def widened(picture: Picture) -> Picture:
    """The picture centred in one of 16 : 9."""
    beside = picture.shape[0] * 16 // 9 - picture.shape[1]
    return np.pad(
        picture, ((0, 0), (beside // 2, beside - beside // 2), (0, 0)), constant_values=120
    )


def write_marked(
    folder: Path,
    numbers: Sequence[int],
    tints: Sequence[tuple[int, int, int]] = (),
    *,
    is_wide: bool = False,
) -> list[Path]:
    """Write pictures photo-00000.png ..., a thousand per folder; returns their paths."""
    paths = []
    for place, number in enumerate(numbers):
        path = folder / f"{number // 1000:03d}" / f"photo-{number:05d}.png"
        if place == 0 or number % 1000 == 0:
            path.parent.mkdir(parents=True, exist_ok=True)
        picture = draw_marked(number, tints[place]) if tints else draw_marked(number)
        Image.fromarray(widened(picture) if is_wide else picture).save(path, compress_level=1)
        paths.append(path)
    return paths


def number_of(path: str | Path) -> int:
    """The number in the name of a marked picture."""
    return int(Path(path).stem.removeprefix("photo-"))


def read_marked(picture: Picture, origin: Area | None = None) -> list[Seen]:
    """Find all completely visible marked pictures, from the top left.

    Args:
        picture: screenshot, or a part of it.
        origin: the area of that part.
    """
    coarse = picture[::STRIDE, ::STRIDE]
    ring = (coarse[..., 0] > 190) & (coarse[..., 1] < 90) & (coarse[..., 2] > 190)
    labels, _count = ndimage.label(ring)
    left, top = (0, 0) if origin is None else (origin.left, origin.top)
    found = []
    for rows, columns in ndimage.find_objects(labels):
        area = Area(
            STRIDE * columns.start,
            STRIDE * rows.start,
            STRIDE * (columns.stop - columns.start),
            STRIDE * (rows.stop - rows.start),
        )
        if min(area.width, area.height) < SMALLEST_SEEN or abs(area.width - area.height) > 4:
            continue
        number = _read(area.cut(picture))
        if number is not None:
            found.append(Seen(number, area.moved(left, top)))
    return sorted(found, key=lambda seen: (seen.area.top, seen.area.left))


def _pattern(number: int) -> list[bool]:
    code = number * FACTOR % (1 << BITS)
    bits = [bool(code >> place & 1) for place in range(BITS)]
    return [*bits, *(not bit for bit in bits)]


def _read(cut: Picture) -> int | None:
    """The number in a picture, or None if its two copies differ."""
    height, width = cut.shape[:2]
    middles = np.arange(1, BLOCKS - 1) + 0.5
    rows, columns = (middles * height / BLOCKS).astype(int), (middles * width / BLOCKS).astype(int)
    bright: NDArray[np.bool_] = cut[np.ix_(rows, columns)].mean(axis=2).ravel() > 127
    bits, opposite = bright[:BITS], bright[BITS : 2 * BITS]
    if (bits == opposite).any():
        return None
    code = sum(1 << place for place in range(BITS) if bits[place])
    return code * pow(FACTOR, -1, 1 << BITS) % (1 << BITS)
