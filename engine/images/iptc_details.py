"""Metadata in IPTC IIM records, an older form of captions and keywords."""

from collections.abc import Mapping

from PIL import ImageFile, IptcImagePlugin

from engine.images.found_details import (
    FoundDetails,
    clean,
    clean_description,
    clean_keywords,
    present,
)
from engine.images.taken_time import taken_time

_TITLE, _HEADLINE, _KEYWORDS, _DATE, _TIME, _CREATOR, _COPYRIGHT, _CAPTION = (
    (2, number) for number in (5, 105, 25, 55, 60, 80, 116, 120)
)
"""Record and data set of each."""
Records = Mapping[tuple[int, int], bytes | list[bytes]]


def iptc_details(image: ImageFile.ImageFile) -> FoundDetails:
    """The details in an opened image; may raise what Pillow's readers do."""
    records: Records | None = IptcImagePlugin.getiptcinfo(image)
    if not records:
        return FoundDetails()
    keywords = records.get(_KEYWORDS, [])
    words = {
        "title": clean(_one(records, _TITLE)) or clean(_one(records, _HEADLINE)),
        "description": clean_description(_one(records, _CAPTION)),
        "keywords": clean_keywords([keywords] if isinstance(keywords, bytes) else keywords),
        "creator": clean(_one(records, _CREATOR)),
        "copyright": clean(_one(records, _COPYRIGHT)),
    }
    date, time = clean(_one(records, _DATE)), clean(_one(records, _TIME))
    text = f"{date[:4]}-{date[4:6]}-{date[6:]} {time[:2]}:{time[2:4]}:{time[4:6]}"
    return FoundDetails(taken_time(text if time else date, time[6:]), fields=present(words))


def _one(records: Records, name: tuple[int, int]) -> bytes:
    found = records.get(name, b"")
    return found if isinstance(found, bytes) else found[0] if found else b""
