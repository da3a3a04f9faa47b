"""What a JPEG's header says of its picture, and how much memory libjpeg-turbo holds while it decodes it."""

from typing import Final, NamedTuple

# Bytes of JPEG markers, from ITU-T T.81, table B.1.
_MARKER: Final = 0xFF
_PROGRESSIVE_FRAMES: Final = frozenset({0xC2, 0xC6, 0xCA, 0xCE})
_FRAMES: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_SHOWN_FRAMES: Final = frozenset({0xC0, 0xC1, 0xC2})
_START_OF_SCAN: Final = 0xDA
_MOST_MARKERS: Final = 1000
"""In front of a picture, fill bytes counted: a file made for it must not take long. Chosen."""
_DIVISORS: Final = (8, 4, 2)
"""What a picture may be divided by while it is decoded. libjpeg-turbo knows all eighths, but five to seven of them take
up to twice as long as decoding the whole, and Pillow, which reads what exported models look at, has these alone."""
_COEFFICIENT_BYTES: Final = 6  # of three components, without subsampling


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
    return pixels // divisor**2 * channels + (pixels * _COEFFICIENT_BYTES if _is_progressive(data) else 0)


def _is_progressive(data: bytes) -> bool:
    frame = jpeg_frame(data)
    return frame is not None and frame.is_progressive


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
