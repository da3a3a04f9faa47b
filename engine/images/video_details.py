"""Metadata of videos: when, where and by which camera it was taken, and texts of users."""

import re
from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType

from engine.files import PhotoDetails
from engine.images.found_details import camera_name, clean, clean_description, present, real_place
from engine.images.taken_time import real_time, taken_time

_TIMES = ("com.apple.quicktime.creationdate", "creation_time", "date", "DATE_RECORDED")
"""Names of times, the one with a time zone first. FFmpeg maps an AVI's IDIT chunk to MP4's name."""
_PLACES = ("com.apple.quicktime.location.ISO6709", "location", "location-eng")
# ISO 6709, in degrees
_PLACE = re.compile(r"([+-]\d{1,2}(?:\.\d+)?)([+-]\d{1,3}(?:\.\d+)?)")
_FIELDS = {
    "title": ("title", "com.apple.quicktime.title"),
    "description": ("description", "com.apple.quicktime.description", "comment"),
    "creator": ("artist", "com.apple.quicktime.author", "author"),
    "copyright": ("copyright", "com.apple.quicktime.copyright"),
}
_MEDIA_TYPES = {
    "avi": "video/x-msvideo",
    "mov": "video/mp4",
    "matroska": "video/x-matroska",
    "mpegts": "video/mp2t",
}
_QUICKTIME = "qt"  # brand of a MOV


def video_details(
    metadata: Mapping[str, str], size: tuple[int, int], seconds: float, container: str
) -> PhotoDetails:
    """The details of the frame at a time.

    Args:
        metadata: as FFmpeg found it.
        size: width and height as shown.
        seconds: of the frame, from the start.
        container: FFmpeg's names of it, the first one counts.
    """
    started = next(
        (time.at for name in _TIMES if (time := taken_time(metadata.get(name, ""))).at), None
    )
    place = next(
        (found for name in _PLACES if (found := _PLACE.match(metadata.get(name, "")))), None
    )
    latitude, longitude = real_place(float(place[1]), float(place[2])) if place else (None, None)
    fields = {
        name: _first(metadata, names, is_long=name == "description")
        for name, names in _FIELDS.items()
    }
    kind = container.partition(",")[0]
    is_quicktime = kind == "mov" and metadata.get("major_brand", _QUICKTIME).strip() == _QUICKTIME
    return PhotoDetails(
        *size,
        taken_at=real_time(started + timedelta(seconds=seconds)) if started else None,
        camera=camera_name(_any(metadata, "make"), _any(metadata, "model")),
        latitude=latitude,
        longitude=longitude,
        fields=MappingProxyType(present(fields)),
        media_type="video/quicktime" if is_quicktime else _MEDIA_TYPES.get(kind, ""),
    )


def _any(metadata: Mapping[str, str], name: str) -> str:
    return metadata.get(f"com.apple.quicktime.{name}") or metadata.get(name) or ""


def _first(metadata: Mapping[str, str], names: tuple[str, ...], *, is_long: bool) -> str:
    texts = (
        clean_description(metadata.get(name)) if is_long else clean(metadata.get(name))
        for name in names
    )
    return next((text for text in texts if text), "")
