"""The header of a JPEG: what it says of the picture, how much memory decoding takes, and whether it can be trusted."""

from typing import IO, Final, NamedTuple

MOST_SEGMENTS: Final = 4_000
"""Extended XMP of 100 MB takes 2,000."""
MOST_EXIF: Final = 64
"""Segments of Exif, of which Pillow joins each to all before it; cameras write one."""
_START: Final = b"\xff\xd8"
_FILL: Final = 0xFF  # may stand before a marker any number of times
_SCAN: Final = frozenset({0xDA, 0xD9})  # with which the picture begins, and the file ends
_APP1: Final = 0xE1  # the kind of a segment of Exif, and of XMP
_EXIF: Final = b"Exif\0"
_LENGTH_BYTES: Final = 2  # of a segment's length, which counts itself
# Bytes of JPEG markers, from ITU-T T.81, table B.1.
_MARKER: Final = 0xFF
_PROGRESSIVE_FRAMES: Final = frozenset({0xC2, 0xC6, 0xCA, 0xCE})
_FRAMES: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_SHOWN_FRAMES: Final = frozenset({0xC0, 0xC1, 0xC2})
_START_OF_SCAN: Final = 0xDA
_MOST_MARKERS: Final = 1000  # in front of a picture, fill bytes counted: a file made for it must not take long. Chosen.
_DIVISORS: Final = (8, 4, 2)
"""What a picture may be divided by while it is decoded. libjpeg-turbo knows all eighths, but five to seven of them take
up to twice as long as decoding the whole, and Pillow, which reads what exported models look at, has these alone."""
_COEFFICIENT_BYTES: Final = 6  # of three components, without subsampling


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


class JpegFrame(NamedTuple):
    """What a JPEG says of its picture."""

    marker: int  # of the frame: how the picture is packed
    # width, height: in pixels
    width: int
    height: int
    scan_at: int  # where the first scan begins

    @property
    def is_progressive(self) -> bool:
        """Whether scans fill the picture bit by bit."""
        return self.marker in _PROGRESSIVE_FRAMES

    @property
    def is_shown(self) -> bool:
        """Whether it is packed as pictures for people are: lossless JPEG is what cameras write of their sensors."""
        return self.marker in _SHOWN_FRAMES and self.width > 0 and self.height > 0


def divisor_for(size: tuple[int, int], least: tuple[int, int]) -> int:
    """By how much a picture may be divided while it is decoded, so that it is still large enough.

    Args:
        least: width and height that it must still have; 0 for all of it.
    """
    if not all(least):
        return 1
    spare = min(full // wanted for full, wanted in zip(size, least, strict=True))
    return next((divisor for divisor in _DIVISORS if divisor <= spare), 1)


def held_bytes(data: bytes, size: tuple[int, int], divisor: int, channels: int) -> int:
    """Bytes of the decoded pixels, and of the coefficients that a progressive file's scans fill bit by bit.

    Args:
        divisor: of width and height, see `divisor_for`.
        channels: bytes of a decoded pixel.
    """
    pixels = size[0] * size[1]
    frame = jpeg_frame(data)
    is_progressive = frame is not None and frame.is_progressive
    return pixels // divisor**2 * channels + (pixels * _COEFFICIENT_BYTES if is_progressive else 0)


def jpeg_frame(data: bytes, start: int = 0) -> JpegFrame | None:
    """What the JPEG at a place of the data says of its picture; None where it breaks off before the first scan."""
    frame: JpegFrame | None = None
    at = start + 2
    for _ in range(_MOST_MARKERS):
        if at + 4 > len(data) or data[at] != _MARKER:
            return None
        marker = data[at + 1]
        if marker == _MARKER:  # fill byte
            at += 1
            continue
        if marker == _START_OF_SCAN:
            return frame._replace(scan_at=at) if frame else None
        if marker in _FRAMES:
            height, width = (int.from_bytes(data[place : place + 2], "big") for place in (at + 5, at + 7))
            frame = JpegFrame(marker, width, height, at)
        at += 2 + max(2, int.from_bytes(data[at + 2 : at + 4], "big"))
    return None
