"""Keywords that people gave to photos in other programs, as they stand in the files themselves: XMP and IPTC."""

from contextlib import suppress
from pathlib import Path
from typing import Final

from PIL import Image, ImageFile, IptcImagePlugin

from engine.files import EmbeddedKeywords
from engine.images.heif import heif_formats
from engine.images.jpeg_header import is_header_bounded
from engine.images.kinds import PILLOW_FORMATS
from engine.images.library_warnings import pillow_is_quiet
from engine.regular_file import open_regular

_KEYWORDS: Final = (2, 25)
"""Of the IPTC's Information Interchange Model: record and data set."""
_CHARACTER_SET: Final = (1, 90)
"""The same of the encoding; "ESC % G" stands for UTF-8."""
_UTF_8: Final = b"\x1b%G"
_XMP_TAG: Final = 700
"""Of TIFF."""
_DAMAGE: Final = (OSError, SyntaxError, ValueError, ArithmeticError, EOFError, LookupError, TypeError, AttributeError)


def photo_keywords(file: Path) -> EmbeddedKeywords:
    """Read what a file's header holds; nothing where it is no image, or a damaged one. No pixel is decoded.

    Nor is a header of very many parts read: it takes the square of their number.
    """
    formats = (*PILLOW_FORMATS, *heif_formats())
    with suppress(*_DAMAGE), pillow_is_quiet(), open_regular(file) as opened:
        if is_header_bounded(opened):
            with Image.open(opened, formats=formats) as image:
                return EmbeddedKeywords(_xmp(image), _iptc(image))
    return EmbeddedKeywords()


def _xmp(image: Image.Image) -> bytes:
    found = image.info.get("xmp") or getattr(image, "tag_v2", {}).get(_XMP_TAG) or b""
    return found.encode() if isinstance(found, str) else bytes(found)


def _iptc(image: ImageFile.ImageFile) -> tuple[str, ...]:
    with suppress(*_DAMAGE):
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
