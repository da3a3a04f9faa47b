"""The segments of a JPEG file before its picture: some readers take the square of their number."""

from typing import IO, Final

MOST_SEGMENTS: Final = 4_000
"""Extended XMP of 100 MB takes 2,000."""
MOST_EXIF: Final = 64
"""Segments of Exif, of which Pillow joins each to all before it; cameras write one."""
_START: Final = b"\xff\xd8"
_FILL: Final = 0xFF
"""May stand before a marker any number of times."""
_SCAN: Final = frozenset({0xDA, 0xD9})
"""With which the picture begins, and the file ends."""
_APP1: Final = 0xE1
"""The kind of a segment of Exif, and of XMP."""
_EXIF: Final = b"Exif\0"
_LENGTH_BYTES: Final = 2
"""Of a segment's length, which counts itself."""


def is_header_bounded(file: IO[bytes]) -> bool:
    """Whether a file is no JPEG, or has as many segments before its picture as photos have.

    Raises:
        OSError: it cannot be read.
    """
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
    if file.read(1) != bytes([_FILL]):
        return None
    for _ in range(MOST_SEGMENTS):
        sign = file.read(1)
        if not sign:
            return None
        if sign[0] != _FILL:
            return sign[0]
    return None
