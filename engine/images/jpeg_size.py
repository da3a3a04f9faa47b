"""How much memory libjpeg-turbo holds while it decodes a JPEG."""

from typing import Final

# Bytes of JPEG markers, from ITU-T T.81, table B.1.
_MARKER: Final = 0xFF
_PROGRESSIVE_FRAMES: Final = frozenset({0xC2, 0xC6, 0xCA, 0xCE})
_START_OF_SCAN: Final = 0xDA
_SCALES: Final = 8  # libjpeg decodes at an eighth to eight eighths of the size
_COEFFICIENT_BYTES: Final = 6  # of three components, without subsampling


def held_bytes(data: bytes, size: tuple[int, int], least: tuple[int, int], channels: int) -> int:
    """Bytes of the decoded pixels, and of the coefficients that a progressive file's scans fill bit by bit.

    Args:
        data: the file.
        size: width and height that it declares.
        least: width and height that it must still have; 0 for all of it.
        channels: bytes of a decoded pixel.
    """
    eighths = _SCALES
    if any(least):
        while eighths > 1 and all(
            -(-full * (eighths - 1) // _SCALES) >= wanted for full, wanted in zip(size, least, strict=True)
        ):
            eighths -= 1
    pixels = size[0] * size[1]
    decoded = pixels * eighths**2 // _SCALES**2 * channels
    return decoded + (pixels * _COEFFICIENT_BYTES if _is_progressive(data) else 0)


def _is_progressive(data: bytes) -> bool:
    at = 2
    while at + 4 <= len(data) and data[at] == _MARKER:
        marker = data[at + 1]
        if marker == _MARKER:  # fill byte
            at += 1
            continue
        if marker in _PROGRESSIVE_FRAMES:
            return True
        if marker == _START_OF_SCAN:
            return False
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return False
