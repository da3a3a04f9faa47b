"""Image metadata for exports: size, kind, time, place, keywords (XMP, IPTC); without decoding."""

import mimetypes
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import IO

from PIL import Image, ImageFile, IptcImagePlugin

from engine.files import EmbeddedKeywords, PhotoDetails, open_regular
from engine.images.image_header import is_header_bounded
from engine.images.kinds import PILLOW_FORMATS, RAW_SUFFIXES, heif_formats
from engine.images.multi_page import tiff_pages
from engine.images.part_reader import MOST_PAGES
from engine.images.photo_details import read_details, xmp_packet
from engine.images.readers import PILLOW_DAMAGE, pillow_is_quiet

_KEYWORDS = (2, 25)  # of the IPTC's Information Interchange Model: record and data set
_CHARACTER_SET = (1, 90)  # the same of the encoding; "ESC % G" means UTF-8
_UTF_8 = b"\x1b%G"


def photo_facts(file: Path) -> PhotoDetails:
    """Facts of a photo for exports: the same, plausible values as in the window.

    The size of a RAW photo is left out: its header has that of the sensor or of a preview.
    """
    details = read_details(file)
    guessed = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    if file.suffix.casefold() in RAW_SUFFIXES:
        return replace(details, width=0, height=0, media_type=guessed)
    return replace(details, media_type=details.media_type or guessed)


def _opened(file: IO[bytes]) -> ImageFile.ImageFile:
    if not is_header_bounded(file):
        # reading them takes the square of their number
        raise ValueError("more parts than a photo's header has")
    return Image.open(file, formats=(*PILLOW_FORMATS, *heif_formats()))


def photo_keywords(file: Path) -> EmbeddedKeywords:
    """Read the facts in a file's header; empty for no image, or a damaged one. Nothing is decoded.

    Nor is a header of very many parts read: it takes the square of their number.
    """
    with (
        suppress(*PILLOW_DAMAGE),
        pillow_is_quiet(),
        open_regular(file) as opened,
        _opened(opened) as image,
    ):
        return EmbeddedKeywords(xmp_packet(image), _iptc(image))
    return EmbeddedKeywords()


def _iptc(image: ImageFile.ImageFile) -> tuple[str, ...]:
    with suppress(*PILLOW_DAMAGE):
        found = IptcImagePlugin.getiptcinfo(image) or {}
        values = found.get(_KEYWORDS, [])
        character_set = found.get(_CHARACTER_SET, b"")
        is_utf_8 = isinstance(character_set, bytes) and character_set.startswith(_UTF_8)
        return tuple(
            _text(value, is_utf_8=is_utf_8)
            for value in ([values] if isinstance(values, bytes) else values)
        )
    return ()


def _text(value: bytes, *, is_utf_8: bool) -> str:
    """Many programs write undeclared UTF-8; anything else is Latin-1."""
    try:
        return value.decode("utf-8").strip("\0 ")
    except UnicodeDecodeError:
        return value.decode("utf-8" if is_utf_8 else "latin-1", "replace").strip("\0 ")


def page_count(path: Path) -> int:
    """Pages of a TIFF; 1 for all other files, and for what cannot be read."""
    try:
        with open_regular(path) as file:
            return max(1, min(MOST_PAGES, len(tiff_pages(file))))
    except OSError:
        return 1
