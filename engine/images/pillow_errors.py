"""Turns whatever Pillow raises about a file into one `ImageError`.

The file is damaged, or stored in a way that is not read.
"""

import re
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from PIL import UnidentifiedImageError
from PIL.ExifTags import Base

from engine.errors import ImageError
from engine.images.image_header import byte_order, entries, first_directory, jpeg_frame, values
from engine.images.kinds import container_brands
from engine.images.readers import PILLOW_DAMAGE, not_an_image, pillow_is_quiet

_READERS_WORDS = re.compile(
    r"unsupported|not supported|unknown|unrecogni[sz]ed|not implemented", re.IGNORECASE
)
"""In error messages for such files."""
_JPEG = b"\xff\xd8\xff"
_JPEG_BITS = 8  # of a sample, in all files that are read
_TIFF = (b"II*\x00", b"MM\x00*")
_USUAL_COMPRESSIONS = frozenset({1, 2, 3, 4, 5, 6, 7, 8, 32771, 32773, 32946})
"""Of TIFF: none, fax, LZW, JPEG, Deflate and PackBits; readers know them all."""
_HEAD_BYTES = 65_536  # of a HEIF file that list its items. Chosen.
_UNREAD_ITEMS = frozenset({b"unci", b"jpeg", b"avc1", b"vvc1", b"evc1", b"j2k1"})
"""Types of pictures in a HEIF file that are packed by something else than HEVC."""
_READ_ITEMS = frozenset({b"hvc1", b"av01"})
_TYPE_AT = {
    2: 12,
    3: 14,
}  # from the name of an entry on, by its version (ISO 14496-12, ItemInfoEntry)
_DAMAGE = (*PILLOW_DAMAGE, AssertionError, RuntimeError, struct.error, zlib.error)


def is_unsupported(data: bytes, reason: str) -> bool:
    """Whether a file that could not be decoded has an unsupported kind of storage.

    Args:
        data: the whole file.
        reason: the error of its reader.
    """
    if "truncated" in reason:
        return False
    if _READERS_WORDS.search(reason):
        return True
    if data.startswith(_JPEG):
        return _is_unusual_jpeg(data)
    if data.startswith(_TIFF):
        return _is_unusual_tiff(data)
    return bool(container_brands(data)) and _is_unusual_heif(data[:_HEAD_BYTES])


def unsupported(reason: str) -> ImageError:
    """The error for such a file."""
    return ImageError(
        "the image is stored in a way that cannot be read",
        found=reason,
        remedy="save it as JPEG or PNG with another program, and add that",
    )


def _is_unusual_jpeg(data: bytes) -> bool:
    """Lossless, hierarchical or with arithmetic coding, or of more bits than eight."""
    frame = jpeg_frame(data)
    return frame is not None and (not frame.is_shown or frame.bits != _JPEG_BITS)


def _is_unusual_tiff(data: bytes) -> bool:
    """A TIFF with an unusual compression in its first directory, or with all its bytes."""
    order = byte_order(data)
    found = {entry.tag: entry for entry in entries(data, first_directory(data, order), order)}
    if Base.ImageWidth not in found or Base.ImageLength not in found:
        return False
    compression = found.get(Base.Compression)
    if compression is not None and compression.value not in _USUAL_COMPRESSIONS:
        return True
    places = found.get(Base.StripOffsets) or found.get(Base.TileOffsets)
    sizes = found.get(Base.StripByteCounts) or found.get(Base.TileByteCounts)
    if places is None or sizes is None or compression is None or compression.value != 1:
        return False
    ends = map(sum, zip(values(data, places, order), values(data, sizes, order), strict=False))
    return places.length == sizes.length and all(end <= len(data) for end in ends)


def _is_unusual_heif(head: bytes) -> bool:
    """One whose pictures are all of types that are not read."""
    types: set[bytes] = set()
    at = head.find(b"infe")
    while at >= 0:
        if start := _TYPE_AT.get(head[at + 4] if at + 4 < len(head) else 0):
            types.add(head[at + start : at + start + 4])
        at = head.find(b"infe", at + 4)
    return not types.isdisjoint(_UNREAD_ITEMS) and types.isdisjoint(_READ_ITEMS)


@contextmanager
def pillow_errors(data: bytes) -> Iterator[None]:
    """Let Pillow read the bytes of a file inside the block, without a warning.

    Raises:
        ImageError: no image, damage, an unsupported kind of storage, or no memory.
    """
    with pillow_is_quiet():
        try:
            yield
        except UnidentifiedImageError as error:
            raise (unsupported("") if is_unsupported(data, "") else not_an_image(data)) from error
        except _DAMAGE as error:
            if is_unsupported(data, str(error)):
                raise unsupported(str(error)) from error
            raise ImageError(
                "the image is damaged or incomplete", found=str(error) or type(error).__name__
            ) from error
        except MemoryError as error:
            raise ImageError("there is not enough memory for this image") from error
