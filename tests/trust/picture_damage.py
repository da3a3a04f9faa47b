"""Damaged pictures: every format, changed, truncated, spliced, and with inflated sizes."""

import io
import struct
import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from random import Random

import numpy as np
from PIL import Image

from tests.support.images import PNG_SIGNATURE, encoded, exif_with_orientation, picture, png_chunk
from tests.support.raw_photos import KINDS as RAW_KINDS
from tests.support.raw_photos import raw_photo

_SIDES = ((48, 32), (200, 150), (1, 1))
_HUGE = (0, 1, 0x7FFF, 0xFFFF, 30_000, 22_360)
_CHUNK_HEADER_BYTES = 8
_GIANT_SIDE = 22_000
_ROWS_AT_ONCE = 100

Damage = Callable[[bytes, bytes, Random], bytes]
"""Takes a picture, another of any format, and a random generator; returns the damaged one."""


@lru_cache(maxsize=1)
def sound_pictures() -> Sequence[bytes]:
    """Pictures of every format and many encodings, each in three sizes."""
    found: list[bytes] = []
    for number, (width, height) in enumerate(_SIDES):
        colour = Image.fromarray(picture(width, height, seed=number))
        found += [_stored(colour.convert(mode), kind, options) for mode, kind, options in _KINDS]
        frames = [Image.fromarray(picture(width, height, seed=seed)) for seed in range(3)]
        for kind in ("GIF", "WEBP", "PNG", "TIFF"):
            found.append(_stored(frames[0], kind, {"save_all": True, "append_images": frames[1:]}))
        deep = np.random.default_rng(number).integers(0, 65_536, (height, width), dtype=np.uint16)
        found += [_stored(Image.fromarray(deep), kind, {}) for kind in ("PNG", "TIFF")]
        found += [
            encoded(colour, "HEIF", quality=60),
            encoded(colour.convert("L"), "HEIF", quality=60),
        ]
    found += [raw_photo(kind, *_PREVIEWS, orientation=6) for kind in RAW_KINDS]
    return found


_KINDS: Sequence[tuple[str, str, Mapping[str, object]]] = (
    ("RGB", "JPEG", {"quality": 80}),
    (
        "RGB",
        "JPEG",
        {"progressive": True, "exif": exif_with_orientation(6), "icc_profile": b"x" * 300},
    ),
    ("L", "JPEG", {"quality": 30, "restart_marker_blocks": 2}),
    ("CMYK", "JPEG", {}),
    *((mode, "PNG", {}) for mode in ("RGB", "RGBA", "L", "LA", "P", "1")),
    *((mode, "GIF", {}) for mode in ("P", "L")),
    *((mode, "BMP", {}) for mode in ("RGB", "L", "1", "P", "RGBA")),
    *(
        ("RGB", "TIFF", {"compression": way})
        for way in ("raw", "tiff_lzw", "jpeg", "tiff_adobe_deflate", "packbits")
    ),
    *((mode, "TIFF", {}) for mode in ("1", "CMYK", "F", "I", "LAB", "YCbCr")),
    ("1", "TIFF", {"compression": "group4"}),
    ("RGB", "WEBP", {"lossless": True}),
    ("RGBA", "WEBP", {"quality": 40}),
    *((mode, "AVIF", {}) for mode in ("RGB", "RGBA")),
    *((mode, "PPM", {}) for mode in ("RGB", "L", "1")),
    *((mode, "JPEG2000", {}) for mode in ("RGB", "L", "RGBA")),
)


_PREVIEWS = tuple(encoded(picture(*size), "JPEG") for size in ((420, 280), (160, 120)))


def _stored(image: Image.Image, kind: str, options: Mapping[str, object]) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def _flip(data: bytes, other: bytes, chance: Random) -> bytes:
    content = bytearray(data)
    for _ in range(chance.choice((1, 2, 8, 64))):
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    return bytes(content)


def _flip_header(data: bytes, other: bytes, chance: Random) -> bytes:
    content = bytearray(data)
    for _ in range(chance.choice((1, 2, 4))):
        content[chance.randrange(min(120, len(content)))] = chance.choice(
            (0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256))
        )
    return bytes(content)


def _cut(data: bytes, other: bytes, chance: Random) -> bytes:
    return data[: chance.randrange(len(data))]


def _splice(data: bytes, other: bytes, chance: Random) -> bytes:
    return data[: chance.randrange(len(data))] + other[chance.randrange(len(other)) :]


def _take_out(data: bytes, other: bytes, chance: Random) -> bytes:
    start = chance.randrange(len(data))
    return data[:start] + data[start + chance.choice((1, 4, 100, 512)) :]


def _repeat(data: bytes, other: bytes, chance: Random) -> bytes:
    start, length = chance.randrange(len(data)), chance.choice((4, 64, 1000))
    return data[:start] + data[start : start + length] * chance.choice((2, 50)) + data[start:]


def _inflate(data: bytes, other: bytes, chance: Random) -> bytes:
    """Replace what looks like the picture's size in the header, in both byte orders."""
    content = bytearray(data)
    sides = {side for size in _SIDES for side in size} | {420, 280}
    for form in ("<H", ">H", "<I", ">I"):
        for side in sides:
            place = data.find(struct.pack(form, side), 0, 400)
            if place >= 0 and chance.random() < 0.8:
                content[place : place + struct.calcsize(form)] = struct.pack(
                    form, chance.choice(_HUGE)
                )
    return _with_checksums(bytes(content))


def _edit_chunks(data: bytes, other: bytes, chance: Random) -> bytes:
    return _with_checksums(_flip(data, other, chance))


def _with_checksums(data: bytes) -> bytes:
    """A PNG with corrected checksums; other files unchanged."""
    if not data.startswith(PNG_SIGNATURE):
        return data
    made, place = bytearray(PNG_SIGNATURE), len(PNG_SIGNATURE)
    while place + _CHUNK_HEADER_BYTES <= len(data):
        (length,) = struct.unpack_from(">I", data, place)
        body = data[place + 4 : place + _CHUNK_HEADER_BYTES + length]
        made += data[place : place + 4] + body + struct.pack(">I", zlib.crc32(body))
        place += _CHUNK_HEADER_BYTES + length + 4
    return bytes(made)


def giant_picture(chance: Random) -> bytes:
    """A valid black PNG of 484 megapixels, a few megabytes long."""
    bits, colour_type, samples = chance.choice(((1, 0, 1), (8, 0, 1), (8, 2, 3)))
    rows = bytes(1 + (_GIANT_SIDE * bits * samples + 7) // 8) * _ROWS_AT_ONCE
    packer = zlib.compressobj(1)
    body = (
        b"".join(packer.compress(rows) for _ in range(_GIANT_SIDE // _ROWS_AT_ONCE))
        + packer.flush()
    )
    header = struct.pack(">IIBBBBB", _GIANT_SIDE, _GIANT_SIDE, bits, colour_type, 0, 0, 0)
    return (
        PNG_SIGNATURE
        + png_chunk(b"IHDR", header)
        + png_chunk(b"IDAT", body)
        + png_chunk(b"IEND", b"")
    )


PICTURE_DAMAGE: Mapping[str, Damage] = {
    "flipped": _flip,
    "header flipped": _flip_header,
    "cut": _cut,
    "spliced": _splice,
    "taken out": _take_out,
    "repeated": _repeat,
    "size inflated": _inflate,
    "flipped with right checksums": _edit_chunks,
}


def damaged_picture(seed: int) -> tuple[str, bytes]:
    """The picture of a seed: its damage and bytes."""
    chance = Random(seed)
    sound = sound_pictures()
    name, damage = chance.choice(list(PICTURE_DAMAGE.items()))
    return name, damage(chance.choice(sound), chance.choice(sound), chance)
