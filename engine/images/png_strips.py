"""Reads a PNG strip by strip.

Pillow decodes a PNG as a whole, at four bytes a pixel. Here the compressed rows are unpacked a strip at a time, and
each strip goes through Pillow's own decoder together with the last row of the strip before, to which its first row's
filter refers. So colours come out as Pillow makes them.
"""

import struct
import zlib
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
from PIL import Image, ImageFile

from engine.images.pixels import like_its_whole

# Layout of a PNG, from its specification (W3C), sections 5.2, 5.3 and 11.2.2.
_SIGNATURE_BYTES: Final = 8
_CHUNK_FRAME: Final = struct.Struct(">I4s")
_CHECKSUM_BYTES: Final = 4
_DEPTH_AT: Final = 24
_COLOUR_TYPE_AT: Final = 25
_SAMPLES: Final = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}  # by colour type: gray, RGB, palette, gray and alpha, RGBA
_CARRIERS: Final = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}  # modes that keep so many bytes a pixel as they are
_INPUT_BYTES: Final = 65_536
"""Packed bytes unpacked at a time. Chosen: less than a strip, so that memory stays bounded."""
_EXIF_HEADER: Final = b"Exif\x00\x00"


class _Layout(NamedTuple):
    """How rows lie in the file: bytes of a row without its filter, bytes from one pixel to the next.

    Of deep colours Pillow keeps the upper byte of each sample, and a byte's filter refers to bytes of its own kind
    only: so the lower ones are dropped before anything else (`is_halved`).
    """

    stored_row_bytes: int
    pixel_bytes: int
    is_halved: bool

    @property
    def row_bytes(self) -> int:
        return self.stored_row_bytes // 2 if self.is_halved else self.stored_row_bytes


def is_png_in_strips(image: Image.Image, data: bytes) -> bool:
    """Whether an opened image is a PNG whose rows lie in order: no animation, not interlaced."""
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
    """Read a PNG from top to bottom.

    Raises:
        OSError: the rows end early.
        zlib.error: they cannot be unpacked.
    """
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
    """The row above and the rows of a strip as they were before filtering, in an image that holds their very bytes."""
    rows = b"\x00" + above + filtered
    mode = _CARRIERS[layout.pixel_bytes]
    size = (layout.row_bytes // layout.pixel_bytes, len(rows) // (layout.row_bytes + 1))
    return Image.frombytes(mode, size, zlib.compress(rows, 0), "zip", mode, 0)


def _as_stored(image: ImageFile.ImageFile, carrier: Image.Image, layout: _Layout) -> Image.Image:
    """A strip in the mode in which Pillow would give the whole image, with the same palette and transparency."""
    raw_mode = image.tile[0].args
    strip = carrier
    if not layout.is_halved and raw_mode != carrier.mode:
        size = (image.width, carrier.height)
        strip = Image.frombytes(image.mode, size, carrier.tobytes(), "raw", raw_mode)
    return like_its_whole(strip, image)
