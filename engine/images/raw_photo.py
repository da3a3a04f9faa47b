"""RAW photos: recognised by their first bytes, and read by the preview from the camera.

Most are TIFFs: only their tags tell them from pictures. A file has several previews, from the
thumbnail in the camera's list to the whole picture. Most are listed in TIFF directories; CR3, RAF
and ORF have them in structures of their makers, where they are found by how a JPEG begins.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from PIL.ExifTags import Base

from engine.errors import ImageError
from engine.images.image_header import (
    UPRIGHT,
    ByteOrder,
    Entry,
    JpegFrame,
    byte_order,
    entries,
    first_directory,
    jpeg_frame,
    jpeg_orientation,
    next_directory,
    orientation_in,
    values,
)
from engine.images.kinds import container_brands

LEAST_SIDE = 400
"""Pixels of the longer side; smaller previews are thumbnails. Chosen: these have up to 320."""
# how far sides may differ from the largest preview's: others have black bars
_SAME_SHAPE = 0.02
_JPEG_START = b"\xff\xd8\xff"
_JPEG_END = b"\xff\xd9"
# JPEGs that are looked for in one file; a file made for it must not take long. Chosen.
_MOST_STARTS = 1000
_MOST_DIRECTORIES = 64  # of one file that are read: they may point at one another. Chosen.
_PANASONIC_JPEG = 46  # tag of RW2
_JPEG_COMPRESSIONS = frozenset({6, 7})  # of TIFF 6.0, old and new
_CANON_TIFF = b"CMT1"  # box of a CR3 with the first directory
_CANON_TIFF_WITHIN = 65_536  # first bytes of a CR3 that are searched for it. Chosen.

Least = Callable[[int, int], tuple[int, int]]
"""Least width and height after decoding a picture of a width and height; 0 for full size."""

DIRECTORY_SIGNATURES = (b"II*\x00", b"MM\x00*", b"IIRO", b"IIRS", b"MMOR", b"IIU\x00")
"""First bytes of files that hold directories as a TIFF does: TIFF itself, ORF and RW2."""
_SIGNATURES = (
    (b"FUJIFILMCCD-RAW", "RAF"),
    (b"IIRO", "ORF"),
    (b"IIRS", "ORF"),
    (b"MMOR", "ORF"),
    (b"IIU\x00", "RW2"),
    (b"FOVb", "X3F"),
    (b"\x00MRM", "MRW"),
)
_TIFF_SIGNATURES = (b"II*\x00", b"MM\x00*")
_CANON_BRAND = b"crx "  # CR3 has the same container as videos
_CANON_AT = 8  # where a CR2 has its mark
_CANON_MARK = b"CR\x02"
_SENSOR_COLOURS = frozenset({32803, 34892})  # a colour filter array, or linear RAW
_MAKERS = (
    (b"NIKON", "NEF"),
    (b"SONY", "ARW"),
    (b"PENTAX", "PEF"),
    (b"RICOH", "PEF"),
    (b"SAMSUNG", "SRW"),
)
_MOST_BELOW = 8  # directories below the first one that are looked at. Chosen.


class Preview(NamedTuple):
    """A JPEG, and how to turn it."""

    data: bytes  # the JPEG
    orientation: int  # EXIF value 1-8, the JPEG's own where it has one, else the photo's


class _Place(NamedTuple):
    start: int
    end: int
    frame: JpegFrame


def raw_preview(data: bytes, kind: str, least: Least) -> Preview:
    """Find the preview to show for a RAW photo; raises `ImageError` where it has none."""
    named = _named(data) if data.startswith(DIRECTORY_SIGNATURES) else []
    # tiles of a DNG may be JPEGs, like previews but for their colours: only referenced ones count
    places = named if named or kind == "DNG" else _found(data)
    if not places:
        raise ImageError(
            "the RAW photo has no preview that can be shown",
            found=kind,
            remedy="develop it, or export it as JPEG or TIFF, and add that",
        )
    place = _fitting(places, least)
    preview = data[place.start : place.end]
    own = jpeg_orientation(preview)
    return Preview(preview, own if own != UPRIGHT else _orientation(data))


def _fitting(places: Sequence[_Place], least: Least) -> _Place:
    """The smallest preview of the photo's shape that is large enough; else the largest."""
    largest = max(places, key=lambda place: place.frame.width * place.frame.height)
    shape = largest.frame.width / largest.frame.height
    width, height = least(largest.frame.width, largest.frame.height)
    fitting = [
        place
        for place in places
        if 0 < width <= place.frame.width
        and 0 < height <= place.frame.height
        and abs(place.frame.width / place.frame.height / shape - 1) <= _SAME_SHAPE
    ]
    return min(fitting, key=lambda place: place.frame.width, default=largest)


def _named(data: bytes) -> list[_Place]:
    found = []
    for fields in _directories(data):
        for start, length in _jpegs_of(data, fields):
            place = _place(data, start)
            if length and place is not None:
                found.append(place._replace(end=min(start + length, len(data))))
    return found


def _directories(data: bytes) -> Iterator[dict[int, Entry]]:
    """The first directory, those behind it, and those below them."""
    order = byte_order(data)
    waiting, seen = [first_directory(data, order)], set[int]()
    while waiting and len(seen) < _MOST_DIRECTORIES:
        at = waiting.pop()
        if not at or at in seen or at >= len(data):
            continue
        seen.add(at)
        fields = {entry.tag: entry for entry in entries(data, at, order)}
        yield fields
        waiting.append(next_directory(data, at, order))
        for tag in (Base.SubIFDs, Base.ExifOffset):
            if tag in fields:
                waiting += values(data, fields[tag], order)


def _jpegs_of(data: bytes, fields: dict[int, Entry]) -> Iterator[tuple[int, int]]:
    """Offsets and bytes of JPEGs of a directory, except sensor data stored as JPEG."""
    order = byte_order(data)
    if Base.JpegIFOffset in fields and Base.JpegIFByteCount in fields:
        yield fields[Base.JpegIFOffset].value, fields[Base.JpegIFByteCount].value
    if _PANASONIC_JPEG in fields:
        yield fields[_PANASONIC_JPEG].value, fields[_PANASONIC_JPEG].length
    colours, packing = fields.get(Base.PhotometricInterpretation), fields.get(Base.Compression)
    is_sensor = colours is not None and colours.value in _SENSOR_COLOURS
    if packing is not None and packing.value in _JPEG_COMPRESSIONS and not is_sensor:
        starts, lengths = (
            values(data, fields[tag], order) if tag in fields else []
            for tag in (Base.StripOffsets, Base.StripByteCounts)
        )
        if len(starts) == len(lengths) == 1:
            yield starts[0], lengths[0]


def _found(data: bytes) -> list[_Place]:
    found: list[_Place] = []
    at = data.find(_JPEG_START)
    for _ in range(_MOST_STARTS):
        if at < 0:
            break
        place = _place(data, at)
        if place is not None:
            found.append(place)
        at = data.find(_JPEG_START, place.end if place else at + 2)
    return found


def _place(data: bytes, start: int) -> _Place | None:
    """A JPEG at a place, if it is one of a photo's size that can be shown."""
    if not data.startswith(_JPEG_START, start):
        return None
    frame = jpeg_frame(data, start)
    if frame is None or not frame.is_shown or max(frame.width, frame.height) < LEAST_SIDE:
        return None
    end = data.find(_JPEG_END, frame.scan_at)
    return _Place(start, end + len(_JPEG_END) if end >= 0 else len(data), frame)


def _orientation(data: bytes) -> int:
    """Orientation 1-8 of the photo, outside of its preview."""
    if data.startswith(DIRECTORY_SIGNATURES):
        return orientation_in(data)
    at = data.find(_CANON_TIFF, 0, _CANON_TIFF_WITHIN)
    return (
        orientation_in(data[at + len(_CANON_TIFF) : _CANON_TIFF_WITHIN * 2]) if at >= 0 else UPRIGHT
    )


def raw_kind(data: bytes) -> str:
    """Kind of a RAW photo ("NEF"), "RAW" where its maker is not known, empty for everything else.

    The first bytes of a file will do, of a TIFF as far as the first directory.
    """
    if known := next((kind for signature, kind in _SIGNATURES if data.startswith(signature)), ""):
        return known
    if not data.startswith(_TIFF_SIGNATURES):
        return "CR3" if container_brands(data[:32])[:1] == [_CANON_BRAND] else ""
    if data.startswith(_CANON_MARK, _CANON_AT):
        return "CR2"
    order = byte_order(data)
    first = {entry.tag: entry for entry in entries(data, first_directory(data, order), order)}
    if Base.DNGVersion in first:
        return "DNG"
    return _kind_by_maker(data, first) if _is_raw(data, first, order) else ""


def _is_raw(data: bytes, first: dict[int, Entry], order: ByteOrder) -> bool:
    """Whether the first picture is sensor data, or a preview followed by sensor data."""
    colours = first.get(Base.PhotometricInterpretation)
    if colours is not None and colours.value in _SENSOR_COLOURS:
        return True
    below = first.get(Base.SubIFDs)
    if below is None:
        return False
    kind = first.get(Base.NewSubfileType)
    if kind is not None and kind.value & 1:
        return True
    return any(
        entry.tag == Base.PhotometricInterpretation and entry.value in _SENSOR_COLOURS
        for place in values(data, below, order)[:_MOST_BELOW]
        for entry in entries(data, place, order)
    )


def _kind_by_maker(data: bytes, first: dict[int, Entry]) -> str:
    make = first.get(Base.Make)
    name = data[make.value : make.value + make.length].upper() if make is not None else b""
    return next((kind for maker, kind in _MAKERS if name.startswith(maker)), "RAW")
