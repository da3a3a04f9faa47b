"""What the header of an image file says: size, kind, time, place, and keywords (XMP, IPTC). No pixel is decoded."""

import mimetypes
import struct
from contextlib import suppress
from pathlib import Path
from typing import IO, BinaryIO, Final

from PIL import Image, ImageFile, IptcImagePlugin
from PIL.ExifTags import Base

from engine.files import EmbeddedKeywords, PhotoFacts, open_regular
from engine.images.found_details import TAKEN_ON
from engine.images.image_header import is_header_bounded
from engine.images.kinds import PILLOW_FORMATS, RAW_SUFFIXES, heif_formats
from engine.images.photo_details import read_details
from engine.images.raw_photo import raw_kind
from engine.images.readers import PILLOW_DAMAGE, pillow_is_quiet

_KEYWORDS: Final = (2, 25)  # of the IPTC's Information Interchange Model: record and data set
_CHARACTER_SET: Final = (1, 90)  # the same of the encoding; "ESC % G" stands for UTF-8
_UTF_8: Final = b"\x1b%G"
_XMP_TAG: Final = 700  # of TIFF


def photo_facts(file: Path) -> PhotoFacts:
    """What a photo's file has for exports: the same facts as the window shows, with the same plausible values alone.

    The size of a RAW photo is left out: its header has that of the sensor or of a preview.
    """
    details = read_details(file)
    is_raw = file.suffix.casefold() in RAW_SUFFIXES
    guessed = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    return PhotoFacts(
        0 if is_raw else details.width,
        0 if is_raw else details.height,
        guessed if is_raw else details.media_type or guessed,
        details.taken_at,
        details.latitude,
        details.longitude,
        details.fields.get(TAKEN_ON, ""),
        details.camera,
        details.fields.get("serial", ""),
    )


def _opened(file: IO[bytes]) -> ImageFile.ImageFile:
    if not is_header_bounded(file):
        raise ValueError("more parts than a photo's header has")  # reading them takes the square of their number
    return Image.open(file, formats=(*PILLOW_FORMATS, *heif_formats()))


def photo_keywords(file: Path) -> EmbeddedKeywords:
    """Read what a file's header holds; nothing where it is no image, or a damaged one. No pixel is decoded.

    Nor is a header of very many parts read: it takes the square of their number.
    """
    with suppress(*PILLOW_DAMAGE), pillow_is_quiet(), open_regular(file) as opened, _opened(opened) as image:
        return EmbeddedKeywords(_xmp(image), _iptc(image))
    return EmbeddedKeywords()


def _xmp(image: Image.Image) -> bytes:
    found = image.info.get("xmp") or getattr(image, "tag_v2", {}).get(_XMP_TAG) or b""
    return found.encode() if isinstance(found, str) else bytes(found)


def _iptc(image: ImageFile.ImageFile) -> tuple[str, ...]:
    with suppress(*PILLOW_DAMAGE):
        found = IptcImagePlugin.getiptcinfo(image) or {}
        values = found.get(_KEYWORDS, [])
        character_set = found.get(_CHARACTER_SET, b"")
        is_utf_8 = isinstance(character_set, bytes) and character_set.startswith(_UTF_8)
        return tuple(_text(value, is_utf_8=is_utf_8) for value in ([values] if isinstance(values, bytes) else values))
    return ()


def _text(value: bytes, *, is_utf_8: bool) -> str:
    """Many programs write UTF-8 and do not say so; what is none is the West's old encoding."""
    try:
        return value.decode("utf-8").strip("\0 ")
    except UnicodeDecodeError:
        return value.decode("utf-8" if is_utf_8 else "latin-1", "replace").strip("\0 ")


# From TIFF 6.0; BigTIFF is not read.
_ORDERS: Final = {b"II*\x00": "<", b"MM\x00*": ">"}
_FIRST_AT: Final = 4
_ENTRY_BYTES: Final = 12
_REDUCED: Final = 1  # bit of a smaller copy, which is no page
_HEAD_BYTES: Final = 65_536  # first bytes that tell a RAW photo, whose directories are no pages. Chosen.
_MOST_PAGES: Final = 10_000  # that are counted: directories may point at one another. Chosen.


def page_count(path: Path) -> int:
    """Pages of an image file, of which only the first is used: 1 for all but TIFFs, and for what cannot be read."""
    try:
        with open_regular(path) as file:
            head = file.read(_HEAD_BYTES)
            order = _ORDERS.get(head[:_FIRST_AT])
            return max(1, _count(file, order)) if order and not raw_kind(head) else 1
    except (OSError, struct.error):
        return 1


def _count(file: BinaryIO, order: str) -> int:
    seen: set[int] = set()
    pages = 0
    file.seek(_FIRST_AT)
    (at,) = struct.unpack(order + "I", file.read(4))
    while at and at not in seen and len(seen) < _MOST_PAGES:
        seen.add(at)
        file.seek(at)
        (length,) = struct.unpack(order + "H", file.read(2))
        entries = file.read(_ENTRY_BYTES * length)
        pages += not _is_reduced(entries, order)
        (at,) = struct.unpack(order + "I", file.read(4).ljust(4, b"\x00"))
    return pages


def _is_reduced(entries: bytes, order: str) -> bool:
    whole = entries[: len(entries) // _ENTRY_BYTES * _ENTRY_BYTES]
    values = {tag: value for tag, _kind, _length, value in struct.iter_unpack(order + "HHII", whole)}
    return bool(values.get(Base.NewSubfileType, 0) & _REDUCED)
