"""The encoding of ONNX files: a message is a row of fields, each with a number, a kind, and a value or content."""

import mmap
from collections.abc import Iterator
from typing import Final, NamedTuple

VARINT: Final = 0
FIXED_64: Final = 1
BYTES: Final = 2
FIXED_32: Final = 5
_LONGEST_VARINT: Final = 10
_SIXTY_FOUR_BITS: Final = (1 << 64) - 1
_MORE: Final = 0x80
"""Bit of a byte that says that the number goes on."""


class MalformedError(ValueError):
    """The bytes are no message."""


class Field(NamedTuple):
    """One field of a message.

    Attributes:
        number: what it is, by the definition of the message.
        kind: `VARINT`, `BYTES`, or a number of fixed size.
        value: of a varint, else 0.
        begin: where the field starts.
        start, end: where its content lies.
    """

    number: int
    kind: int
    value: int
    begin: int
    start: int
    end: int


def fields(content: mmap.mmap, start: int, end: int) -> Iterator[Field]:
    """Step over the fields of the message between two places; contents are not looked at.

    Raises:
        MalformedError: it is no message, or is cut short.
    """
    place = start
    while place < end:
        begin = place
        tag, place = _read_varint(content, place, end)
        number, kind = tag >> 3, tag & 7
        value, size = 0, 0
        if kind == VARINT:
            value, place = _read_varint(content, place, end)
        elif kind == BYTES:
            size, place = _read_varint(content, place, end)
        elif kind in {FIXED_32, FIXED_64}:
            size = 4 if kind == FIXED_32 else 8
        else:
            raise MalformedError(f"there is no field of kind {kind} (byte {begin})")
        if not number or place + size > end:
            raise MalformedError(f"it ends before its content does (byte {end})")
        yield Field(number, kind, value, begin, place, place + size)
        place += size


def inside(content: mmap.mmap, part: Field) -> Iterator[Field]:
    """Fields of the message that a field holds.

    Raises:
        MalformedError: it holds none.
    """
    _check_bytes(part)
    return fields(content, part.start, part.end)


def text(content: mmap.mmap, part: Field) -> str:
    """Text that a field holds.

    Raises:
        MalformedError: it holds none.
    """
    _check_bytes(part)
    try:
        return content[part.start : part.end].decode("utf-8")
    except UnicodeDecodeError as error:
        raise MalformedError(f"a name is no text (byte {part.start})") from error


def encoded_head(number: int, size: int) -> bytes:
    """What stands before `size` bytes of content."""
    return encoded_varint(number << 3 | BYTES) + encoded_varint(size)


def encoded_field(number: int, content: bytes) -> bytes:
    """A field with content."""
    return encoded_head(number, len(content)) + content


def encoded_varint(value: int) -> bytes:
    """A number of at least 0, seven bits in each byte, the lowest first."""
    found = bytearray()
    while value >= _MORE:
        found.append(value & 0x7F | _MORE)
        value >>= 7
    return bytes([*found, value])


def _check_bytes(part: Field) -> None:
    if part.kind != BYTES:
        raise MalformedError(f"field {part.number} has the wrong kind (byte {part.begin})")


def _read_varint(content: mmap.mmap, place: int, end: int) -> tuple[int, int]:
    value = 0
    for position in range(_LONGEST_VARINT):
        if place >= end:
            raise MalformedError(f"it ends within a number (byte {end})")
        byte = content[place]
        place += 1
        value |= (byte & 0x7F) << (7 * position)
        if byte < _MORE:
            return value & _SIXTY_FOUR_BITS, place
    raise MalformedError(f"a number has too many bytes (byte {place})")
