"""Reads PNG and TIFF strip by strip, where Pillow decodes a whole picture at four bytes a pixel.

Of a PNG the compressed rows are inflated a strip at a time, and Pillow decodes each strip together
with the last row of the strip before, to which its first row's filter refers. Of a TIFF some strips
or tiles at a time get a header of their own, with the tags of the file. So colours are those of
Pillow.
"""

import io
import struct
import zlib
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageFile, TiffImagePlugin
from PIL.ExifTags import Base

from engine.images.pixels import like_its_whole

# Layout of a PNG, from its specification (W3C), sections 5.2, 5.3 and 11.2.2.
_SIGNATURE_BYTES = 8
_CHUNK_FRAME = struct.Struct(">I4s")
_CHECKSUM_BYTES = 4
_DEPTH_AT = 24
_COLOUR_TYPE_AT = 25
_SAMPLES = {
    0: 1,
    2: 3,
    3: 1,
    4: 2,
    6: 4,
}  # by colour type: gray, RGB, palette, gray and alpha, RGBA
_CARRIERS = {
    1: "L",
    2: "LA",
    3: "RGB",
    4: "RGBA",
}  # modes that keep so many bytes a pixel as they are
_INPUT_BYTES = 65_536
"""Packed bytes unpacked at a time. Chosen: less than a strip, so that memory stays bounded."""
_EXIF_HEADER = b"Exif\x00\x00"


class _Layout(NamedTuple):
    """Layout of rows in the file: bytes of a row without its filter, and of a pixel.

    Of deep colours Pillow takes the upper byte of each sample, and a byte's filter refers to bytes
    of its own kind
    only: so the lower ones are dropped before anything else (`is_halved`).
    """

    stored_row_bytes: int
    pixel_bytes: int
    is_halved: bool

    @property
    def row_bytes(self) -> int:
        return self.stored_row_bytes // 2 if self.is_halved else self.stored_row_bytes


def is_png_in_strips(image: Image.Image, data: bytes) -> bool:
    """Whether an opened image is a PNG with sequential rows: no animation, not interlaced."""
    return (
        isinstance(image, ImageFile.ImageFile)
        and image.format == "PNG"
        and not image.info.get("interlace")
        and getattr(image, "n_frames", 1) == 1
        and [tile.codec_name for tile in image.tile] == ["zip"]
        and data[_COLOUR_TYPE_AT] in _SAMPLES
    )


def add_late_exif(image: Image.Image, data: bytes) -> None:
    """Let Pillow know an EXIF block behind the pixels: it would decode all of them to find it."""
    if "exif" not in image.info:
        for kind, content in _chunks(data):
            if kind == b"eXIf":
                image.info["exif"] = _EXIF_HEADER + bytes(content)


def png_strips(image: Image.Image, data: bytes, strip_rows: int) -> Iterator[Image.Image]:
    """Read a PNG from top to bottom; raises `OSError` on missing rows, `zlib.error` on damage."""
    assert isinstance(image, ImageFile.ImageFile)
    layout = _layout(image.width, data)
    unpacked = _unpacked(data)
    buffer = bytearray()
    above = bytes(layout.row_bytes)
    for top in range(0, image.height, strip_rows):
        count = min(strip_rows, image.height - top)
        wanted = count * (layout.stored_row_bytes + 1)
        while len(buffer) < wanted:
            if not (piece := next(unpacked, b"")):
                raise OSError("image file is truncated")
            buffer += piece
        filtered = _without_lower_bytes(bytes(buffer[:wanted]), layout)
        del buffer[:wanted]
        carrier = _unfiltered(above, filtered, layout)
        above = carrier.crop((0, count, carrier.width, count + 1)).tobytes()
        yield _as_stored(image, carrier.crop((0, 1, carrier.width, count + 1)), layout)


def _layout(width: int, data: bytes) -> _Layout:
    bits = data[_DEPTH_AT] * _SAMPLES[data[_COLOUR_TYPE_AT]]
    pixel_bytes = -(-bits // 8)
    is_halved = pixel_bytes > max(_CARRIERS)
    return _Layout(-(-width * bits // 8), pixel_bytes // 2 if is_halved else pixel_bytes, is_halved)


def _chunks(data: bytes) -> Iterator[tuple[bytes, memoryview]]:
    view, at = memoryview(data), _SIGNATURE_BYTES
    while at + _CHUNK_FRAME.size <= len(data):
        length, kind = _CHUNK_FRAME.unpack_from(data, at)
        at += _CHUNK_FRAME.size
        yield kind, view[at : at + length]
        at += length + _CHECKSUM_BYTES


def _unpacked(data: bytes) -> Iterator[bytes]:
    """Unpacked bytes of all rows, in pieces of bounded size."""
    inflater = zlib.decompressobj()
    for kind, content in _chunks(data):
        for start in range(0, len(content) if kind == b"IDAT" else 0, _INPUT_BYTES):
            packed = bytes(content[start : start + _INPUT_BYTES])
            while packed and not inflater.eof:
                if piece := inflater.decompress(packed, 16 * _INPUT_BYTES):
                    yield piece
                packed = inflater.unconsumed_tail
    if rest := inflater.flush():
        yield rest


def _without_lower_bytes(filtered: bytes, layout: _Layout) -> bytes:
    if not layout.is_halved:
        return filtered
    rows = np.frombuffer(filtered, dtype=np.uint8).reshape(-1, layout.stored_row_bytes + 1)
    return np.concatenate([rows[:, :1], rows[:, 1::2]], axis=1).tobytes()


def _unfiltered(above: bytes, filtered: bytes, layout: _Layout) -> Image.Image:
    """The row above and the rows of a strip, unfiltered, as an image with these bytes."""
    rows = b"\x00" + above + filtered
    mode = _CARRIERS[layout.pixel_bytes]
    size = (layout.row_bytes // layout.pixel_bytes, len(rows) // (layout.row_bytes + 1))
    return Image.frombytes(mode, size, zlib.compress(rows, 0), "zip", mode, 0)


def _as_stored(image: ImageFile.ImageFile, carrier: Image.Image, layout: _Layout) -> Image.Image:
    """A strip in the mode that Pillow gives the whole image, with its palette and transparency."""
    raw_mode = image.tile[0].args
    strip = carrier
    if not layout.is_halved and raw_mode != carrier.mode:
        size = (image.width, carrier.height)
        strip = Image.frombytes(image.mode, size, carrier.tobytes(), "raw", raw_mode)
    return like_its_whole(strip, image)


# Tags, compressions and types of TIFF 6.0. Copied are bits, compression, photometric, fill order,
# samples, planes,
# predictor, colours, tiles and kind of sample, by which pixels are packed.
_KEPT = (258, 259, 262, 266, 277, 284, 317, 320, 322, 323, 338, 339)
_KEPT_OF_JPEG = (Base.JPEGTables, 530)
_LONG_TAGS = frozenset(
    {Base.StripOffsets, Base.StripByteCounts, Base.TileOffsets, Base.TileByteCounts}
)
_UNPACKED = 1
_KNOWN_COMPRESSIONS = frozenset({_UNPACKED, 5, 7, 8, 32773, 32946, 34925, 50000})
_SEPARATE_PLANES = 2
_BYTES, _SHORT, _LONG = 7, 3, 4
_MOST_ROWS = 1_000_000  # A TIFF that claims more is not cut into rows. Chosen.
_MOST_IN_SHORT = 0xFFFF


class _Pieces(NamedTuple):
    """Layout of strips or tiles: rows in each, how many side by side, plane after plane."""

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
    """Stored width and height of a TIFF; Pillow gives those of the upright picture."""
    assert isinstance(image, TiffImagePlugin.TiffImageFile)
    return int(image.tag_v2[Base.ImageWidth]), int(image.tag_v2[Base.ImageLength])


def is_tiff_in_strips(image: Image.Image, data: bytes, most_pixels: int) -> bool:
    """Whether an image is a TIFF of strips, or rows of tiles, of at most so many pixels."""
    if not isinstance(image, TiffImagePlugin.TiffImageFile):
        return False
    if image.tag_v2.get(Base.Compression, _UNPACKED) not in _KNOWN_COMPRESSIONS:
        return False
    width, height = stored_size(image)
    pieces = _pieces(image)
    levels = -(-height // pieces.rows)
    is_whole = len(pieces.offsets) == len(pieces.sizes) == levels * pieces.across * pieces.planes
    # overlapping pieces would take more memory than the file
    return is_whole and pieces.rows * width <= most_pixels and sum(pieces.sizes) <= len(data)


def tiff_strips(image: Image.Image, data: bytes, strip_rows: int) -> Iterator[Image.Image]:
    """Read a TIFF in strips of about so many rows, as stored; raises `OSError` on damage."""
    assert isinstance(image, TiffImagePlugin.TiffImageFile)
    width, height = stored_size(image)
    pieces = _pieces(image)
    step = max(1, strip_rows // pieces.rows)
    levels = pieces.in_plane // pieces.across
    for first in range(0, levels, step):
        last = min(levels, first + step)
        rows = min(height, last * pieces.rows) - first * pieces.rows
        small = _small_tiff(
            image, data, pieces, range(first * pieces.across, last * pieces.across), (width, rows)
        )
        with Image.open(io.BytesIO(small), formats=("TIFF",)) as strip:
            strip.load()
            yield strip


def _pieces(image: TiffImagePlugin.TiffImageFile) -> _Pieces:
    tags = image.tag_v2
    width, height = stored_size(image)
    planes = (
        int(tags.get(Base.SamplesPerPixel, 1))
        if tags.get(Base.PlanarConfiguration, 1) == _SEPARATE_PLANES
        else 1
    )
    if Base.TileOffsets in tags:
        across = -(-width // max(1, int(tags[Base.TileWidth])))
        rows = max(1, int(tags[Base.TileLength]))
        return _Pieces(
            tags[Base.TileOffsets],
            tags.get(Base.TileByteCounts, ()),
            rows,
            across,
            planes,
            are_tiles=True,
        )
    rows = max(1, min(height, int(tags.get(Base.RowsPerStrip, height))))
    pieces = _Pieces(
        tags[Base.StripOffsets],
        tags.get(Base.StripByteCounts, ()),
        rows,
        1,
        planes,
        are_tiles=False,
    )
    return (
        pieces
        if tags.get(Base.Compression, _UNPACKED) != _UNPACKED
        else _cut_in_rows(image, pieces)
    )


def _cut_in_rows(image: TiffImagePlugin.TiffImageFile, pieces: _Pieces) -> _Pieces:
    """Uncompressed rows can be read singly, also where the whole picture is one strip."""
    width, height = stored_size(image)
    if height > _MOST_ROWS:
        return pieces
    bits = image.tag_v2.get(Base.BitsPerSample, (1,))
    row_bytes = -(-width * (bits[0] if pieces.planes > 1 else sum(bits)) // 8)
    offsets: list[int] = []
    for number, (offset, size) in enumerate(zip(pieces.offsets, pieces.sizes, strict=False)):
        rows = min(pieces.rows, height - number % max(1, pieces.in_plane) * pieces.rows)
        if size < rows * row_bytes:
            return pieces
        offsets += range(offset, offset + rows * row_bytes, row_bytes)
    return pieces._replace(offsets=offsets, sizes=[row_bytes] * len(offsets), rows=1)


def _small_tiff(
    image: TiffImagePlugin.TiffImageFile,
    data: bytes,
    pieces: _Pieces,
    chosen: range,
    size: tuple[int, int],
) -> bytes:
    """The chosen pieces, of each plane, as a TIFF of their own."""
    places = [plane * pieces.in_plane + place for plane in range(pieces.planes) for place in chosen]
    parts = [
        data[pieces.offsets[place] : pieces.offsets[place] + pieces.sizes[place]]
        for place in places
    ]
    order = "<" if data[:2] == b"II" else ">"
    tags = image.tag_v2
    is_jpeg = tags.get(Base.Compression) == 7  # noqa: PLR2004
    kept = (*_KEPT, *_KEPT_OF_JPEG) if is_jpeg else _KEPT
    fields: dict[int, Sequence[int] | bytes] = {
        Base.ImageWidth: [size[0]],
        Base.ImageLength: [size[1]],
    }
    for tag in kept:
        if tag in tags:
            value = tags[tag]
            fields[tag] = value if isinstance(value, bytes | tuple) else [value]
    sizes = [len(part) for part in parts]
    offsets_tag, sizes_tag = (
        (Base.TileOffsets, Base.TileByteCounts)
        if pieces.are_tiles
        else (Base.StripOffsets, Base.StripByteCounts)
    )
    if not pieces.are_tiles:
        fields[Base.RowsPerStrip] = [pieces.rows]
    fields[sizes_tag] = sizes
    fields[offsets_tag] = [0] * len(sizes)
    start = len(_header(fields, order))
    fields[offsets_tag] = list(accumulate(sizes[:-1], initial=start))
    return b"".join([_header(fields, order), *parts])


def _header(fields: dict[int, Sequence[int] | bytes], order: str) -> bytes:
    """The header of a TIFF: one directory with sorted tags, and its values."""
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
    is_long = tag in _LONG_TAGS or max(value) > _MOST_IN_SHORT
    kind, letter = (_LONG, "I") if is_long else (_SHORT, "H")
    return kind, len(value), struct.pack(f"{order}{len(value)}{letter}", *value)
