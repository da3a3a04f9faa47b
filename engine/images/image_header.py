"""Headers of image files: segments of a JPEG, directories of a TIFF, orientation.

RAW photos and EXIF blocks are TIFFs, too.

Orientation is how a camera was held; pixels are turned once, right after decoding.
"""

from collections.abc import Iterator
from typing import IO, Literal, NamedTuple

from PIL import Image
from PIL.ExifTags import Base

from engine.arrays import Pixels

MOST_SEGMENTS = 4_000  # extended XMP of 100 MB takes 2,000
# segments of Exif, of which Pillow joins each to all before it; cameras write one
MOST_EXIF = 64
_START = b"\xff\xd8"
_SCAN = frozenset({0xDA, 0xD9})  # with which the picture begins, and the file ends
_APP1 = 0xE1  # the kind of a segment of Exif, and of XMP
_EXIF = b"Exif\0"
_LENGTH_BYTES = 2  # of a segment's length, which counts itself
# Bytes of JPEG markers, from ITU-T T.81, table B.1.
_MARKER = 0xFF  # also a fill byte, any number of which may precede a marker
_PROGRESSIVE_FRAMES = frozenset({0xC2, 0xC6, 0xCA, 0xCE})
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_SHOWN_FRAMES = frozenset({0xC0, 0xC1, 0xC2})
_START_OF_SCAN = 0xDA
# in front of a picture, with fill bytes; crafted files must not be slow
_MOST_MARKERS = 1000
_DIVISORS = (8, 4, 2)
"""Factors by which a picture may be reduced while decoding. libjpeg-turbo has all eighths, but five
to seven of them take up to twice as long as decoding the whole, and Pillow, which reads for
exported models, has only these."""
_COEFFICIENT_BYTES = 6  # of three components, without subsampling


def is_header_bounded(file: IO[bytes]) -> bool:
    """Whether a file is not a JPEG, or has a plausible number of segments; may raise `OSError`."""
    file.seek(0)
    is_bounded = file.read(len(_START)) != _START or _are_few(file)
    file.seek(0)
    return is_bounded


def _are_few(file: IO[bytes]) -> bool:
    segments = exif = 0
    while segments <= MOST_SEGMENTS and exif <= MOST_EXIF:
        kind = _next_kind(file)
        if kind is None or kind in _SCAN:
            return True
        length = int.from_bytes(file.read(_LENGTH_BYTES), "big")
        beginning = file.read(min(len(_EXIF), max(0, length - _LENGTH_BYTES)))
        file.seek(max(0, length - _LENGTH_BYTES - len(beginning)), 1)
        segments += 1
        exif += kind == _APP1 and beginning == _EXIF
    return False


def _next_kind(file: IO[bytes]) -> int | None:
    """The kind of the next segment; None where there is none."""
    if file.read(1) != bytes([_MARKER]):
        return None
    signs = (file.read(1) for _ in range(MOST_SEGMENTS))
    return next((sign[0] if sign else None for sign in signs if sign != bytes([_MARKER])), None)


class JpegFrame(NamedTuple):
    """Frame header of a JPEG."""

    marker: int  # of the frame: how the picture is packed
    width: int
    height: int
    scan_at: int  # where the first scan begins
    bits: int = 8  # of a sample

    @property
    def is_shown(self) -> bool:
        """Whether it is a lossy JPEG: cameras store their sensor data as lossless JPEG."""
        return self.marker in _SHOWN_FRAMES and self.width > 0 and self.height > 0


def divisor_for(size: tuple[int, int], least: tuple[int, int]) -> int:
    """The factor of reduction while decoding that leaves at least a width and height.

    0 in `least` means the full size.
    """
    if not all(least):
        return 1
    spare = min(full // wanted for full, wanted in zip(size, least, strict=True))
    return next((divisor for divisor in _DIVISORS if divisor <= spare), 1)


def held_bytes(data: bytes, size: tuple[int, int], divisor: int, channels: int) -> int:
    """Bytes of the decoded pixels, and of the coefficients of a progressive file."""
    pixels = size[0] * size[1]
    frame = jpeg_frame(data)
    is_progressive = frame is not None and frame.marker in _PROGRESSIVE_FRAMES
    return pixels // divisor**2 * channels + (pixels * _COEFFICIENT_BYTES if is_progressive else 0)


def jpeg_frame(data: bytes, start: int = 0) -> JpegFrame | None:
    """Frame header of the JPEG at an offset; None where it ends before the first scan."""
    frame: JpegFrame | None = None
    for marker, at, _ in _segments(data, start):
        if marker == _START_OF_SCAN:
            return frame._replace(scan_at=at) if frame else None
        if marker in _FRAMES:
            height, width = (
                int.from_bytes(data[place : place + 2], "big") for place in (at + 5, at + 7)
            )
            frame = JpegFrame(marker, width, height, at, data[at + 4])
    return None


def _segments(data: bytes, start: int = 0) -> Iterator[tuple[int, int, int]]:
    """Marker, place and length of each segment of a JPEG, as far as they follow one another."""
    at = start + 2
    for _ in range(_MOST_MARKERS):
        if at + 4 > len(data) or data[at] != _MARKER:
            return
        if data[at + 1] == _MARKER:  # fill byte
            at += 1
            continue
        length = int.from_bytes(data[at + 2 : at + 4], "big")
        yield data[at + 1], at, length
        at += 2 + max(2, length)


ByteOrder = Literal["little", "big"]

# From TIFF 6.0.
_COUNT_BYTES = 2
_ENTRY_BYTES = 12
_SHORT = 3
_TYPE_BYTES = {_SHORT: 2, 4: 4, 13: 4}  # of one value: SHORT, LONG, IFD
# of one directory that are looked at: a damaged count must not take long. Chosen.
_MOST_ENTRIES = 512
# of one entry that are looked at. Chosen: more than a picture's strips that we follow.
_MOST_VALUES = 64


class Entry(NamedTuple):
    """One entry of a directory."""

    tag: int
    length: int  # number of values
    value: int  # the first one, or where the values are
    kind: int  # TIFF's number of their type


def byte_order(data: bytes) -> ByteOrder:
    """Order in which a TIFF, or a RAW photo that is like one, writes its numbers."""
    return "big" if data.startswith(b"MM") else "little"


def first_directory(data: bytes, order: ByteOrder) -> int:
    """Where the first directory is."""
    return int.from_bytes(data[4:8], order)


def entries(data: bytes, at: int, order: ByteOrder) -> Iterator[Entry]:
    """Entries of the directory at a place; none beyond the end of the file."""
    for start in range(
        at + _COUNT_BYTES, at + _COUNT_BYTES + _ENTRY_BYTES * _count(data, at, order), _ENTRY_BYTES
    ):
        entry = data[start : start + _ENTRY_BYTES]
        if len(entry) < _ENTRY_BYTES:
            return
        kind, length = int.from_bytes(entry[2:4], order), int.from_bytes(entry[4:8], order)
        end = 10 if kind == _SHORT and length == 1 else _ENTRY_BYTES
        yield Entry(
            int.from_bytes(entry[:2], order), length, int.from_bytes(entry[8:end], order), kind
        )


def next_directory(data: bytes, at: int, order: ByteOrder) -> int:
    """Where the directory behind the one at a place is; 0 at the end of the chain."""
    end = at + _COUNT_BYTES + _ENTRY_BYTES * int.from_bytes(data[at : at + _COUNT_BYTES], order)
    return int.from_bytes(data[end : end + 4], order)


def values(data: bytes, entry: Entry, order: ByteOrder) -> list[int]:
    """Integers of an entry, as many as are in the file; none of another type."""
    size = _TYPE_BYTES.get(entry.kind, 0)
    if entry.length == 1 and size:
        return [entry.value]
    count = min(entry.length, _MOST_VALUES) if size else 0
    if count * size <= 4:  # noqa: PLR2004 (bytes of a value in the entry)
        packed = entry.value.to_bytes(4, order)
        return [
            int.from_bytes(packed[at : at + size], order)
            for at in range(0, count * size, size or 1)
        ]
    places = range(entry.value, min(entry.value + count * size, len(data) - size + 1), size)
    return [int.from_bytes(data[at : at + size], order) for at in places]


def _count(data: bytes, at: int, order: ByteOrder) -> int:
    return min(int.from_bytes(data[at : at + _COUNT_BYTES], order), _MOST_ENTRIES)


_DIRECTORY_TAGS = frozenset({Base.ExifOffset, Base.GPSInfo})
_MOST_TAGS = 4_096  # of one directory; cameras write some hundred at most. Chosen.
_VALUE_BYTES = {
    1: 1,
    2: 1,
    3: 2,
    4: 4,
    5: 8,
    6: 1,
    7: 1,
    8: 2,
    9: 4,
    10: 8,
    11: 4,
    12: 8,
    13: 4,
    16: 8,
}
"""Of one value of each type, from TIFF 6.0 and its later types."""


def are_directories_bounded(file: IO[bytes]) -> bool:
    """Whether the first directory of a TIFF, and those of Exif and GPS, have plausible sizes.

    Crafted files are slow: thousands of tags may refer to the same megabytes. May raise `OSError`.
    """
    length = file.seek(0, 2)
    file.seek(0)
    head = file.read(8)
    order = byte_order(head)
    waiting, left = [first_directory(head, order)], length
    while waiting and left >= 0:
        file.seek(waiting.pop())
        count = int.from_bytes(file.read(_COUNT_BYTES), order)
        if count > _MOST_TAGS:
            return False
        directory = file.read(_ENTRY_BYTES * count)
        for start in range(0, len(directory) - _ENTRY_BYTES + 1, _ENTRY_BYTES):
            entry = directory[start : start + _ENTRY_BYTES]
            tag, kind = int.from_bytes(entry[:2], order), int.from_bytes(entry[2:4], order)
            size = int.from_bytes(entry[4:8], order) * _VALUE_BYTES.get(kind, 0)
            left -= min(size, length) if size > 4 else 0  # noqa: PLR2004 (inline in the entry)
            if tag in _DIRECTORY_TAGS:
                waiting.append(int.from_bytes(entry[8:], order))
        left -= len(directory)
    return left >= 0


# From Exif 2.3, section 4.6.4 A, and of JPEG markers from ITU-T T.81, table B.1.
UPRIGHT = 1
_EXIF_HEADER = b"Exif\x00\x00"


_EXIF_ERRORS = (
    ValueError,
    SyntaxError,
    OSError,
    KeyError,
    IndexError,
    TypeError,
    EOFError,
    OverflowError,
)


def jpeg_orientation(data: bytes) -> int:
    """Orientation 1-8 that a JPEG's EXIF block declares; 1 when there is none or it makes no sense.

    Opening the file with Pillow costs more than decoding a small JPEG, and warns about odd EXIF
    blocks. It elsewhere.
    """
    exif = next(_payloads(data, _APP1, _EXIF_HEADER), None)
    return UPRIGHT if exif is None else orientation_in(exif[1])


_ICC_APP = 0xE2  # the kind of a segment with a part of an ICC profile
_ICC_HEADER = b"ICC_PROFILE\x00"
_ICC_NUMBERS_BYTES = 2  # the number of the part, and how many there are


def jpeg_profile(data: bytes) -> bytes:
    """The ICC profile of a JPEG, put together of its parts; b"" without one."""
    parts = {
        part[:1]: part[_ICC_NUMBERS_BYTES:] for _, part in _payloads(data, _ICC_APP, _ICC_HEADER)
    }
    return b"".join(parts[number] for number in sorted(parts))


# of the index of an MPO (CIPA DC-007), in a segment of the same kind
_MPF_HEADER = b"MPF\x00"


def multi_picture_index(data: bytes) -> tuple[int, bytes] | None:
    """The index of a JPEG's further pictures: its offset, its origin, and its bytes."""
    return next(_payloads(data, _ICC_APP, _MPF_HEADER), None)


def _payloads(data: bytes, kind: int, header: bytes) -> Iterator[tuple[int, bytes]]:
    """Place and content, both behind the header, of each such segment before the first scan."""
    for marker, at, length in _segments(data):
        if marker == _START_OF_SCAN:
            return
        if marker == kind and data.startswith(header, at + 4):
            start = at + 4 + len(header)
            yield start, data[start : at + 2 + length]


def orientation_in(tiff: bytes) -> int:
    """Orientation 1-8 in the first directory of a TIFF; 1 when there is none."""
    order = byte_order(tiff)
    for entry in entries(tiff, first_directory(tiff, order), order):
        if entry.tag == Base.Orientation:
            return _checked(entry.value)
    return UPRIGHT


def _checked(value: object) -> int:
    if isinstance(value, int) and 1 <= value <= 8:  # noqa: PLR2004 (EXIF)
        return value
    return UPRIGHT


def image_orientation(image: Image.Image) -> int:
    """Orientation 1-8 of an opened image (EXIF or XMP); 1 when missing or invalid."""
    try:
        # not the PNG reader's own way, which decodes the whole picture to find a later block
        return _checked(Image.Image.getexif(image).get(Base.Orientation, UPRIGHT))
    except _EXIF_ERRORS:
        return UPRIGHT


def upright(pixels: Pixels, orientation: int) -> Pixels:
    """Turn (H, W, 3) uint8 pixels upright by an EXIF orientation 1-8; returns a view."""
    if orientation >= 5:  # noqa: PLR2004  # 5-8 swap rows and columns
        pixels = pixels.transpose(1, 0, 2)
    if orientation in {3, 4, 7, 8}:
        pixels = pixels[::-1]
    if orientation in {2, 3, 6, 7}:
        pixels = pixels[:, ::-1]
    return pixels
