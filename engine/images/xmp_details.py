"""Details in an XMP packet, read without entities or document types."""

import re
from collections.abc import Iterable
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import fromstring

from engine.files import utf8_packet
from engine.images.exif_details import exposure_text
from engine.images.found_details import (
    FoundDetails,
    camera_name,
    clean,
    clean_description,
    clean_keywords,
    number_text,
    present,
    rating_text,
    real_place,
)
from engine.images.taken_time import TakenTime, first_taken, taken_time

# of a packet; with masks of a hundred brushes it has some. Chosen.
_LARGEST_BYTES = 8 * 1024**2
_MOST_TAGS = 200_000  # Chosen: each takes a few hundred bytes of memory.
_RDF = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}"
_DC = "{http://purl.org/dc/elements/1.1/}"
_XMP = "{http://ns.adobe.com/xap/1.0/}"
_PHOTOSHOP = "{http://ns.adobe.com/photoshop/1.0/}"
_EXIF = "{http://ns.adobe.com/exif/1.0/}"
_EXIF_EX = "{http://cipa.jp/exif/1.0/}"
_TIFF = "{http://ns.adobe.com/tiff/1.0/}"
_AUX = "{http://ns.adobe.com/exif/1.0/aux/}"
_TAKEN = (f"{_EXIF}DateTimeOriginal", f"{_PHOTOSHOP}DateCreated")
_DIGITIZED = (f"{_EXIF}DateTimeDigitized", f"{_XMP}CreateDate")
_PLACE = re.compile(r"(\d{1,3}),(\d{1,2}(?:\.\d{1,9})?)(?:,(\d{1,2}(?:\.\d{1,9})?))?([NSEW])")
_WHOLE = re.compile(r"(-?\d{1,12})(?:/(\d{1,12}))?")


def xmp_details(packet: bytes) -> FoundDetails:
    """The details in a packet; nothing for an invalid one, or one made to be slow."""
    if not packet or len(packet) > _LARGEST_BYTES or packet.count(b"<") > _MOST_TAGS:
        return FoundDetails()
    try:
        root = fromstring(utf8_packet(packet), forbid_dtd=True)
    except (ParseError, DefusedXmlException, ValueError, LookupError):
        return FoundDetails()
    properties = _properties(root)

    def one(*names: str) -> str:
        return next((properties[name][0] for name in names if properties.get(name)), "")

    def time(names: Iterable[str]) -> TakenTime:
        return first_taken(taken_time(one(name)) for name in names)

    latitude, longitude = real_place(
        _degrees(one(f"{_EXIF}GPSLatitude")), _degrees(one(f"{_EXIF}GPSLongitude"))
    )
    return FoundDetails(
        time(_TAKEN),
        time(_DIGITIZED),
        camera_name(one(f"{_TIFF}Make"), one(f"{_TIFF}Model")),
        latitude,
        longitude,
        present(
            {
                "title": clean(one(f"{_DC}title")),
                "description": clean_description(one(f"{_DC}description")),
                "keywords": clean_keywords(properties.get(f"{_DC}subject", ())),
                "creator": clean(one(f"{_DC}creator")),
                "copyright": clean(one(f"{_DC}rights")),
                "rating": rating_text(one(f"{_XMP}Rating")),
                "serial": clean(one(f"{_EXIF_EX}BodySerialNumber", f"{_AUX}SerialNumber")),
                "lens": clean(one(f"{_EXIF_EX}LensModel", f"{_AUX}Lens")),
                "exposure_s": exposure_text(_number(one(f"{_EXIF}ExposureTime"))),
                "aperture": number_text(_number(one(f"{_EXIF}FNumber")), largest=1000),
                "iso": number_text(
                    _number(one(f"{_EXIF_EX}PhotographicSensitivity", f"{_EXIF}ISOSpeedRatings"))
                ),
                "focal_length_mm": number_text(_number(one(f"{_EXIF}FocalLength")), largest=1e5),
            }
        ),
    )


def _properties(root: Element) -> dict[str, list[str]]:
    """Texts of each property by its name: of an attribute, an element, or the items of its list."""
    found: dict[str, list[str]] = {}
    rdf = root if root.tag == f"{_RDF}RDF" else root.find(f"{_RDF}RDF")
    for description in () if rdf is None else rdf.findall(f"{_RDF}Description"):
        for name, text in description.attrib.items():
            found.setdefault(name, []).append(text)
        for child in description:
            items = child.findall(f"*/{_RDF}li") or [child]
            found.setdefault(child.tag, []).extend(text for item in items if (text := _text(item)))
    return found


def _text(item: Element) -> str:
    return (item.findtext(f"{_RDF}value") or item.text or "").strip()


def _degrees(text: str) -> float | None:
    """Degrees of `48,12.5N` or `48,12,30N`."""
    found = _PLACE.fullmatch(text.strip())
    if found is None:
        return None
    size = int(found[1]) + float(found[2]) / 60 + float(found[3] or 0) / 3600
    return -size if found[4] in "SW" else size


def _number(text: str) -> float | None:
    """A fraction, as XMP writes numbers of Exif."""
    found = _WHOLE.fullmatch(text.strip())
    if found is None or (found[2] is not None and int(found[2]) == 0):
        return None
    return int(found[1]) / int(found[2] or 1)
