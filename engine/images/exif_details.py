"""Details in the directories of Exif, and in IPTC IIM records, as Pillow reads them."""

from collections.abc import Mapping
from contextlib import suppress

from PIL import Image, ImageFile, IptcImagePlugin
from PIL.ExifTags import GPS, Base

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
from engine.images.readers import PILLOW_DAMAGE
from engine.images.taken_time import taken_time

_SIDEWAYS = 5  # from this orientation on, rows are columns
_LARGEST_SIDE = 1_000_000  # pixels
_RATING = 0x4746  # of Windows and cameras
_CHARACTER_CODE_BYTES = 8  # in front of the comment of a user
_MOST_EXPOSURE_S = 1e6  # Chosen: no shutter is open for eleven days.
_TITLE, _HEADLINE, _KEYWORDS, _DATE, _TIME, _CREATOR, _COPYRIGHT, _CAPTION = (
    (2, number) for number in (5, 105, 25, 55, 60, 80, 116, 120)
)
"""Record and data set of each."""
Records = Mapping[tuple[int, int], bytes | list[bytes]]


def exif_details(exif: Image.Exif) -> FoundDetails:
    """The details in a block; a directory that is damaged counts as empty."""
    photo, gps = _directory(exif, Base.ExifOffset), _directory(exif, Base.GPSInfo)
    if not photo and (Base.ExposureTime in exif or Base.DateTimeOriginal in exif):
        photo = dict(exif)  # a CR3 has each directory in a box of its own
    if (
        not gps
        and GPS.GPSLatitude in exif
        and GPS.GPSLongitude in exif
        and Base.ImageWidth not in exif
    ):
        gps = dict(exif)
    orientation = exif.get(Base.Orientation)
    latitude, longitude = real_place(
        degrees(gps.get(GPS.GPSLatitudeRef), gps.get(GPS.GPSLatitude)),
        degrees(gps.get(GPS.GPSLongitudeRef), gps.get(GPS.GPSLongitude)),
    )
    return FoundDetails(
        taken_time(
            _date_text(photo, Base.DateTimeOriginal), clean(photo.get(Base.OffsetTimeOriginal))
        ),
        taken_time(
            _date_text(photo, Base.DateTimeDigitized), clean(photo.get(Base.OffsetTimeDigitized))
        ),
        camera_name(exif.get(Base.Make), exif.get(Base.Model)),
        latitude,
        longitude,
        present({**_words(exif, photo), **_settings(photo), "serial": _serial(exif, photo)}),
        isinstance(orientation, int) and _SIDEWAYS <= orientation <= 8,  # noqa: PLR2004 (Exif)
        *_size(photo),
    )


def _directory(exif: Image.Exif, tag: int) -> Mapping[int, object]:
    with suppress(*PILLOW_DAMAGE):
        return dict(exif.get_ifd(tag))
    return {}


def _size(photo: Mapping[int, object]) -> tuple[int, int]:
    width, height = photo.get(Base.ExifImageWidth), photo.get(Base.ExifImageHeight)
    if (
        isinstance(width, int)
        and isinstance(height, int)
        and 0 < width < _LARGEST_SIDE
        and 0 < height < _LARGEST_SIDE
    ):
        return width, height
    return 0, 0


def _date_text(photo: Mapping[int, object], tag: int) -> str:
    """As stored: blanks replace unknown numbers."""
    value = photo.get(tag)
    return value.strip("\0") if isinstance(value, str) else clean(value)


def _serial(exif: Mapping[int, object], photo: Mapping[int, object]) -> str:
    """The number of the camera's body, by Exif or by a DNG."""
    return clean(photo.get(Base.BodySerialNumber)) or clean(exif.get(Base.CameraSerialNumber))


def degrees(letter: object, value: object) -> float | None:
    """Degrees of degrees, minutes and seconds; negative for south and west."""
    if not isinstance(value, tuple) or len(value) != 3:  # noqa: PLR2004 (degrees, minutes, seconds)
        return None
    try:
        whole, minutes, seconds = (float(each) for each in value)
        size = whole + minutes / 60 + seconds / 3600
    except (*PILLOW_DAMAGE,):
        return None
    return -size if clean(letter).upper() in {"S", "W"} else size if clean(letter) else None


def _words(exif: Mapping[int, object], photo: Mapping[int, object]) -> dict[str, str]:
    """Texts of users and programs; tags of Windows are UTF-16."""
    comment = photo.get(Base.UserComment)
    return {
        "title": clean(_wide(exif.get(Base.XPTitle))),
        "description": clean_description(exif.get(Base.ImageDescription))
        or clean_description(_wide(exif.get(Base.XPComment)))
        or clean_description(_commented(comment)),
        "keywords": clean_keywords(_wide(exif.get(Base.XPKeywords)).split(";")),
        "creator": clean(exif.get(Base.Artist)) or clean(_wide(exif.get(Base.XPAuthor))),
        "copyright": clean(exif.get(Base.Copyright)),
        "rating": rating_text(exif.get(_RATING)),
    }


def _wide(value: object) -> str:
    if isinstance(value, tuple):
        with suppress(ValueError, TypeError):
            value = bytes(value)
    return value.decode("utf-16-le", "replace").rstrip("\0") if isinstance(value, bytes) else ""


def _commented(value: object) -> str:
    if not isinstance(value, bytes):
        return clean(value)
    code, text = value[:_CHARACTER_CODE_BYTES], value[_CHARACTER_CODE_BYTES:]
    if code == b"UNICODE\0":
        wide = "utf-16-be" if text[:1] == b"\0" else "utf-16-le"
        return text.decode(wide, "replace")
    return clean(text, len(text)) if code in {b"ASCII\0\0\0", bytes(_CHARACTER_CODE_BYTES)} else ""


def _settings(photo: Mapping[int, object]) -> dict[str, str]:
    """How the camera was set."""
    iso = photo.get(Base.ISOSpeedRatings)
    return {
        "lens": clean(photo.get(Base.LensModel)),
        "exposure_s": exposure_text(_number(photo.get(Base.ExposureTime))),
        "aperture": number_text(_number(photo.get(Base.FNumber)), largest=1000),
        "iso": number_text(_number(iso[0] if isinstance(iso, tuple) and iso else iso), largest=1e8),
        "focal_length_mm": number_text(_number(photo.get(Base.FocalLength)), largest=1e5),
    }


def _number(value: object) -> float | None:
    try:
        return float(value)  # type: ignore[arg-type]
    except (*PILLOW_DAMAGE,):
        return None


def exposure_text(seconds: float | None) -> str:
    """`1/250`, or `2.5` from a third of a second on; "" where there is none."""
    if seconds is None or not 1 / _MOST_EXPOSURE_S < seconds < _MOST_EXPOSURE_S:
        return ""
    is_long = seconds > 0.3  # noqa: PLR2004 (as cameras show it)
    return number_text(seconds) if is_long else f"1/{round(1 / seconds)}"


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
