"""Display times of the frames of an animated GIF, WebP or PNG, from its structure alone."""

import struct
from collections.abc import Iterator
from itertools import islice
from typing import BinaryIO, NamedTuple

_HEAD_BYTES = 30  # first bytes that tell the kind, and width and height of the whole picture
# frames that claim to be shown for no longer are shown for `_USUAL_S`, as in browsers
_INSTANT_S = 0.01
_USUAL_S = 0.1  # what browsers take for no duration at all
# From the specification of GIF89a.
_GIF = (b"GIF87a", b"GIF89a")
_GIF_HEAD_BYTES = 13
_HAS_PALETTE = 0x80  # flag in front of a palette; the lowest three bits are its size
_EXTENSION = 0x21
_CONTROL = 0xF9  # kind of the extension that holds a frame's duration
_IMAGE = 0x2C
_TRAILER = 0x3B
# From the specification of PNG (W3C, third edition).
_PNG = b"\x89PNG\r\n\x1a\n"
_CHECKSUM_BYTES = 4
_CONTROL_BYTES = 26  # of a chunk fcTL
_USUAL_DENOMINATOR = 100  # of a duration whose denominator is 0
# From the specification of WebP (RFC 9649).
_RIFF = b"RIFF"
_WEBP = b"WEBPVP8X"  # the extended form; the others have one picture
_RIFF_HEAD_BYTES = 12
_IS_ANIMATED = 0x02  # flag of the extended form
_WEBP_DURATION = slice(12, 15)  # of a chunk ANMF


class AnimationFrame(NamedTuple):
    """A frame whose data are all there.

    Attributes:
        seconds: for which it is shown.
        width, height: of the canvas: that of the picture, or more where a frame of a GIF exceeds
            it.
    """

    seconds: float
    width: int
    height: int


def is_animation(file: BinaryIO) -> bool:
    """Whether a file is a GIF, WebP or PNG with several frames; of others few bytes are read."""
    return len(list(islice(animation_frames(file), 2))) > 1


def animation_frames(file: BinaryIO) -> Iterator[AnimationFrame]:
    """The complete frames, in order, up to the end or damage; none of another kind of file."""
    file.seek(0)
    head = file.read(_HEAD_BYTES)
    if len(head) < _HEAD_BYTES:
        return
    if head.startswith(_GIF):
        yield from _gif_frames(file, head)
    elif head.startswith(_PNG):
        yield from _png_frames(file, head)
    elif head.startswith(_RIFF) and head[8:16] == _WEBP and head[20] & _IS_ANIMATED:
        yield from _webp_frames(file, head)


def _shown_s(seconds: float) -> float:
    return seconds if seconds > _INSTANT_S else _USUAL_S


def _gif_frames(file: BinaryIO, head: bytes) -> Iterator[AnimationFrame]:
    width, height = struct.unpack_from("<HH", head, 6)
    file.seek(_GIF_HEAD_BYTES + _palette_bytes(head[10]))
    seconds = 0.0
    while (kind := _byte(file)) not in {None, _TRAILER}:
        if kind == _EXTENSION:
            seconds = _duration(file, seconds) if _byte(file) == _CONTROL else seconds
        elif kind == _IMAGE:
            place = file.read(9)
            if len(place) < 9:  # noqa: PLR2004 (bytes of place, size and flags)
                return
            left, top, across, down, flags = struct.unpack("<HHHHB", place)
            file.seek(_palette_bytes(flags) + 1, 1)
            width, height = max(width, left + across), max(height, top + down)
        else:
            continue  # as readers do with a byte that means nothing
        if not _skip_blocks(file):
            return
        if kind == _IMAGE:
            yield AnimationFrame(_shown_s(seconds), width, height)
            seconds = 0.0


def _duration(file: BinaryIO, before: float) -> float:
    """Seconds in the next extension, which is not consumed; `before` if it is damaged."""
    block = file.read(4)
    file.seek(-len(block), 1)
    is_whole = len(block) == 4  # noqa: PLR2004
    return int.from_bytes(block[2:4], "little") / 100 if is_whole else before


def _skip_blocks(file: BinaryIO) -> bool:
    """Pass over data up to their end; whether they have one."""
    while size := _byte(file):
        file.seek(size, 1)
    return size is not None


def _byte(file: BinaryIO) -> int | None:
    byte = file.read(1)
    return byte[0] if byte else None


def _palette_bytes(flags: int) -> int:
    return 3 * 2 ** ((flags & 7) + 1) if flags & _HAS_PALETTE else 0


def _png_frames(file: BinaryIO, head: bytes) -> Iterator[AnimationFrame]:
    width, height = struct.unpack_from(">II", head, 16)
    is_animated = False
    seconds: float | None = None  # of the frame whose data come
    for kind, at, length in _chunks(file, len(_PNG), ">I4s", _CHECKSUM_BYTES):
        if kind == b"acTL":
            is_animated = True
        if kind == b"IDAT" and not is_animated:
            return
        if kind in {b"fcTL", b"IEND"} and seconds is not None:
            yield AnimationFrame(_shown_s(seconds), width, height)
        if kind == b"fcTL" and length >= _CONTROL_BYTES:
            file.seek(at + 20)
            share, of = struct.unpack(">HH", file.read(4))
            seconds = share / (of or _USUAL_DENOMINATOR)


def _webp_frames(file: BinaryIO, head: bytes) -> Iterator[AnimationFrame]:
    """None of a file that breaks off: no reader takes it."""
    width, height = (int.from_bytes(head[at : at + 3], "little") + 1 for at in (24, 27))
    whole_bytes = int.from_bytes(head[4:8], "little") + 8
    if file.seek(0, 2) < whole_bytes:
        return
    for kind, at, length in _chunks(file, _RIFF_HEAD_BYTES, "<4sI", 0):
        if kind == b"ANMF" and length >= _WEBP_DURATION.stop:
            file.seek(at)
            milliseconds = int.from_bytes(file.read(_WEBP_DURATION.stop)[_WEBP_DURATION], "little")
            yield AnimationFrame(_shown_s(milliseconds / 1000), width, height)


def _chunks(file: BinaryIO, at: int, layout: str, behind: int) -> Iterator[tuple[bytes, int, int]]:
    """Kind, place and length of the content of each chunk that is whole.

    Args:
        at: where the first one begins.
        layout: of its kind and length, either first.
        behind: bytes behind the content.
    """
    end = file.seek(0, 2)
    while True:
        file.seek(at)
        frame = file.read(8)
        if len(frame) < 8:  # noqa: PLR2004 (bytes of kind and length)
            return
        first, second = struct.unpack(layout, frame)
        kind, length = (first, second) if isinstance(first, bytes) else (second, first)
        if at + 8 + length + behind > end:
            return
        yield kind, at + 8, length
        at += 8 + length + behind
        if not behind:
            at += length % 2  # WebP begins chunks at even places
