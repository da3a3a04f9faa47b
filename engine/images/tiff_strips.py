"""Reads a TIFF strip by strip.

A TIFF stores strips or tiles that are packed each on its own, yet Pillow decodes all of them at once. Here some of
them at a time are put behind a header of their own, with the tags of the file: a small TIFF that Pillow decodes.
"""

import io
import struct
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from PIL import Image, TiffImagePlugin

# Tags, compressions and types of TIFF 6.0, section 8 and its list of tags.
_WIDTH: Final = 256
_HEIGHT: Final = 257
_BITS: Final = 258
_COMPRESSION: Final = 259
_STRIP_OFFSETS: Final = 273
_SAMPLES: Final = 277
_ROWS_PER_STRIP: Final = 278
_STRIP_BYTES: Final = 279
_PLANES: Final = 284
_TILE_WIDTH: Final = 322
_TILE_HEIGHT: Final = 323
_TILE_OFFSETS: Final = 324
_TILE_BYTES: Final = 325
_JPEG_TABLES: Final = 347
# What says how pixels are packed: photometric, fill order, samples, planes, predictor, colours, tiles, kind of sample.
_KEPT: Final = (_BITS, _COMPRESSION, 262, 266, _SAMPLES, _PLANES, 317, 320, _TILE_WIDTH, _TILE_HEIGHT, 338, 339)
_KEPT_OF_JPEG: Final = (_JPEG_TABLES, 530)
_UNPACKED: Final = 1
_KNOWN_COMPRESSIONS: Final = frozenset({_UNPACKED, 5, 7, 8, 32773, 32946, 34925, 50000})
_SEPARATE_PLANES: Final = 2
_BYTES, _SHORT, _LONG = 7, 3, 4
_MOST_ROWS: Final = 1_000_000  # A TIFF that claims more is not cut into rows. Chosen.
_MOST_IN_SHORT: Final = 0xFFFF


class _Pieces(NamedTuple):
    """Where strips or tiles lie: so many rows high, so many beside one another, plane after plane."""

    offsets: Sequence[int]
    sizes: Sequence[int]
    rows: int
    across: int
    planes: int
    are_tiles: bool

    @property
    def in_plane(self) -> int:
        return len(self.offsets) // self.planes


def stored_size(image: Image.Image) -> tuple[int, int]:
    """Width and height of a TIFF's pixels as they are stored; Pillow tells those of the upright picture."""
    assert isinstance(image, TiffImagePlugin.TiffImageFile)
    return int(image.tag_v2[_WIDTH]), int(image.tag_v2[_HEIGHT])


def is_tiff_in_strips(image: Image.Image, data: bytes, most_pixels: int) -> bool:
    """Whether an opened image is a TIFF of strips or tiles that can be read some at a time.

    Args:
        most_pixels: that one strip, or one row of tiles, may have.
    """
    if not isinstance(image, TiffImagePlugin.TiffImageFile):
        return False
    if image.tag_v2.get(_COMPRESSION, _UNPACKED) not in _KNOWN_COMPRESSIONS:
        return False
    width, height = stored_size(image)
    pieces = _pieces(image)
    levels = -(-height // pieces.rows)
    is_whole = len(pieces.offsets) == len(pieces.sizes) == levels * pieces.across * pieces.planes
    # pieces that lie over one another would take more memory than the file
    return is_whole and pieces.rows * width <= most_pixels and sum(pieces.sizes) <= len(data)


def tiff_strips(image: Image.Image, data: bytes, strip_rows: int) -> Iterator[Image.Image]:
    """Read a TIFF from top to bottom, as it is stored: not turned upright.

    Args:
        strip_rows: about so many rows at a time.

    Raises:
        OSError: as Pillow says it of a damaged file.
    """
    assert isinstance(image, TiffImagePlugin.TiffImageFile)
    width, height = stored_size(image)
    pieces = _pieces(image)
    step = max(1, strip_rows // pieces.rows)
    levels = pieces.in_plane // pieces.across
    for first in range(0, levels, step):
        last = min(levels, first + step)
        rows = min(height, last * pieces.rows) - first * pieces.rows
        small = _small_tiff(image, data, pieces, range(first * pieces.across, last * pieces.across), (width, rows))
        with Image.open(io.BytesIO(small), formats=("TIFF",)) as strip:
            strip.load()
            yield strip


def _pieces(image: TiffImagePlugin.TiffImageFile) -> _Pieces:
    tags = image.tag_v2
    width, height = stored_size(image)
    planes = int(tags.get(_SAMPLES, 1)) if tags.get(_PLANES, 1) == _SEPARATE_PLANES else 1
    if _TILE_OFFSETS in tags:
        across = -(-width // max(1, int(tags[_TILE_WIDTH])))
        rows = max(1, int(tags[_TILE_HEIGHT]))
        return _Pieces(tags[_TILE_OFFSETS], tags.get(_TILE_BYTES, ()), rows, across, planes, are_tiles=True)
    rows = max(1, min(height, int(tags.get(_ROWS_PER_STRIP, height))))
    pieces = _Pieces(tags[_STRIP_OFFSETS], tags.get(_STRIP_BYTES, ()), rows, 1, planes, are_tiles=False)
    return pieces if tags.get(_COMPRESSION, _UNPACKED) != _UNPACKED else _cut_in_rows(image, pieces)


def _cut_in_rows(image: TiffImagePlugin.TiffImageFile, pieces: _Pieces) -> _Pieces:
    """Rows that are not packed can be taken one by one, also where the whole picture is one strip."""
    width, height = stored_size(image)
    if height > _MOST_ROWS:
        return pieces
    bits = image.tag_v2.get(_BITS, (1,))
    row_bytes = -(-width * (bits[0] if pieces.planes > 1 else sum(bits)) // 8)
    offsets: list[int] = []
    for number, (offset, size) in enumerate(zip(pieces.offsets, pieces.sizes, strict=False)):
        rows = min(pieces.rows, height - number % max(1, pieces.in_plane) * pieces.rows)
        if size < rows * row_bytes:
            return pieces
        offsets += range(offset, offset + rows * row_bytes, row_bytes)
    return pieces._replace(offsets=offsets, sizes=[row_bytes] * len(offsets), rows=1)


def _small_tiff(
    image: TiffImagePlugin.TiffImageFile, data: bytes, pieces: _Pieces, chosen: range, size: tuple[int, int]
) -> bytes:
    """The chosen pieces, of each plane, as a TIFF of their own."""
    places = [plane * pieces.in_plane + place for plane in range(pieces.planes) for place in chosen]
    parts = [data[pieces.offsets[place] : pieces.offsets[place] + pieces.sizes[place]] for place in places]
    order = "<" if data[:2] == b"II" else ">"
    tags = image.tag_v2
    kept = (*_KEPT, *_KEPT_OF_JPEG) if tags.get(_COMPRESSION) == 7 else _KEPT  # noqa: PLR2004 (JPEG)
    fields: dict[int, Sequence[int] | bytes] = {_WIDTH: [size[0]], _HEIGHT: [size[1]]}
    for tag in kept:
        if tag in tags:
            value = tags[tag]
            fields[tag] = value if isinstance(value, bytes | tuple) else [value]
    sizes = [len(part) for part in parts]
    offsets_tag, sizes_tag = (_TILE_OFFSETS, _TILE_BYTES) if pieces.are_tiles else (_STRIP_OFFSETS, _STRIP_BYTES)
    if not pieces.are_tiles:
        fields[_ROWS_PER_STRIP] = [pieces.rows]
    fields[sizes_tag] = sizes
    fields[offsets_tag] = [0] * len(sizes)
    start = len(_header(fields, order))
    fields[offsets_tag] = [start + sum_before for sum_before in _sums_before(sizes)]
    return b"".join([_header(fields, order), *parts])


def _sums_before(sizes: Sequence[int]) -> Iterator[int]:
    total = 0
    for size in sizes:
        yield total
        total += size


def _header(fields: dict[int, Sequence[int] | bytes], order: str) -> bytes:
    """A TIFF's start: its only directory, in order of tags, and the values that do not fit into it."""
    start = {"<": b"II", ">": b"MM"}[order] + struct.pack(order + "HI", 42, 8)
    behind_at = len(start) + 2 + 12 * len(fields) + 4
    entries, behind = [struct.pack(order + "H", len(fields))], b""
    for tag in sorted(fields):
        kind, count, packed = _packed(tag, fields[tag], order)
        if len(packed) > 4:  # noqa: PLR2004 (bytes of a value in the directory)
            place = struct.pack(order + "I", behind_at + len(behind))
            behind += packed + b"\x00" * (len(packed) % 2)
        else:
            place = packed.ljust(4, b"\x00")
        entries.append(struct.pack(order + "HHI", tag, kind, count) + place)
    return b"".join([start, *entries, bytes(4), behind])


def _packed(tag: int, value: Sequence[int] | bytes, order: str) -> tuple[int, int, bytes]:
    if isinstance(value, bytes):
        return _BYTES, len(value), value
    is_long = tag in {_STRIP_OFFSETS, _STRIP_BYTES, _TILE_OFFSETS, _TILE_BYTES} or max(value) > _MOST_IN_SHORT
    kind, letter = (_LONG, "I") if is_long else (_SHORT, "H")
    return kind, len(value), struct.pack(f"{order}{len(value)}{letter}", *value)
