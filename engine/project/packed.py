"""Sequences packed into one buffer, to save memory: no object for each of 100,000 values."""

import json
from array import array
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from typing import TypeVar, final

import numpy as np

from engine.lazy_sequence import LazySequence
from engine.texts import Message, with_messages

T = TypeVar("T")


class _Packed(LazySequence[T]):
    """Values of different lengths, one after the other, with the place where each ends."""

    def __init__(self, buffer: memoryview | None = None, ends: memoryview | None = None) -> None:
        self._buffer: bytearray | memoryview = bytearray() if buffer is None else buffer
        self._ends: array[int] | memoryview = array("Q") if ends is None else ends

    def __len__(self) -> int:
        return len(self._ends)

    @property
    def columns(self) -> tuple[memoryview, memoryview]:
        """The concatenated bytes, and the 64-bit end offset of each value."""
        return memoryview(self._buffer).toreadonly(), memoryview(self._ends).toreadonly()

    def _own(self) -> tuple[bytearray, "array[int]"]:
        """The columns to add to: a copy of those that are mapped from a file."""
        if isinstance(self._buffer, memoryview) or isinstance(self._ends, memoryview):
            self._buffer, self._ends = bytearray(self._buffer), numbers_of(self._ends)
        return self._buffer, self._ends

    def _add(self, value: bytes) -> None:
        buffer, ends = self._own()
        buffer += value
        ends.append(len(buffer))

    def extend_packed(self, values: bytes, lengths: Iterable[int]) -> None:
        """Add concatenated values."""
        buffer, own_ends = self._own()
        ends = accumulate(lengths, initial=len(buffer))
        next(ends)
        own_ends.extend(ends)
        buffer += values

    def _value(self, place: int) -> bytes:
        if place < 0:
            place += len(self._ends)
        if not 0 <= place < len(self._ends):
            raise IndexError(place)
        start = self._ends[place - 1] if place else 0
        return bytes(self._buffer[start : self._ends[place]])


def numbers_of(ends: "array[int] | memoryview") -> "array[int]":
    """64-bit numbers as an array: the same one, or a copy of those in a file."""
    if isinstance(ends, array):
        return ends
    numbers = array("Q")
    numbers.frombytes(ends.cast("B"))
    return numbers


@final
class PackedTexts(_Packed[str]):
    """Texts; names that are invalid Unicode are returned unchanged (surrogate escapes)."""

    def append(self, text: str) -> None:
        """Add a text at the end."""
        self._add(text.encode("utf-8", "surrogateescape"))

    def extended(self, texts: Iterable[str]) -> "PackedTexts":
        """A copy of these texts with more at the end."""
        longer = PackedTexts()
        longer._buffer, longer._ends = bytearray(self._buffer), numbers_of(self._ends)[:]
        for text in texts:
            longer.append(text)
        return longer

    def __iter__(self) -> Iterator[str]:
        """Each in turn: quicker than by places."""
        start = 0
        for end in self._ends:
            yield str(self._buffer[start:end], "utf-8", "surrogateescape")
            start = end

    def _at(self, place: int) -> str:
        return self._value(place).decode("utf-8", "surrogateescape")


@final
class PackedHashes(_Packed[bytes | None]):
    """Byte strings, or None; an empty one counts as None."""

    def __init__(self, buffer: memoryview | None = None, ends: memoryview | None = None) -> None:
        super().__init__(buffer, ends)
        self._replaced: dict[int, bytes | None] = {}

    def append(self, value: bytes | None) -> None:
        """Add a value at the end."""
        self._add(value or b"")

    def replace(self, place: int, value: bytes | None) -> None:
        """Put another value in the place of one."""
        if self[place] != (value or None):
            self._replaced[place] = value or None

    @property
    def columns(self) -> tuple[memoryview, memoryview]:
        """Values as for other columns, with replaced ones in place."""
        if not self._replaced:
            return super().columns
        packed = PackedHashes()
        for value in self:
            packed.append(value)
        return packed.columns

    def padded(self) -> tuple[memoryview, int]:
        """The concatenated values, zero-padded to the longest, and its length, at least 1.

        Mapped values are not copied.
        """
        length = self._ends[0] if self._ends else 0
        ends = np.asarray(self._ends)
        is_even = length > 0 and np.array_equal(
            ends, np.arange(1, len(ends) + 1, dtype=np.uint64) * length
        )
        if is_even and isinstance(self._buffer, memoryview) and not self._replaced:
            return self._buffer, length
        if is_even and all(len(value or b"") <= length for value in self._replaced.values()):
            whole = bytearray(self._buffer)
            for place, value in self._replaced.items():
                whole[place * length : (place + 1) * length] = (value or b"").ljust(length, b"\0")
            return memoryview(whole).toreadonly(), length
        values = [value or b"" for value in self]
        longest = max(1, *map(len, values)) if values else 1
        return memoryview(b"".join(value.ljust(longest, b"\0") for value in values)), longest

    def _at(self, place: int) -> bytes | None:
        value = self._value(place)
        return (
            self._replaced.get(place % len(self), value or None)
            if self._replaced
            else value or None
        )


@final
class RareTexts(LazySequence[str | None]):
    """Texts of which nearly all are None."""

    def __init__(self) -> None:
        self._texts: dict[int, str] = {}
        self._count = 0

    @staticmethod
    def of(count: int, texts: Mapping[int, str]) -> "RareTexts":
        """So many, nearly all None: the others by their places."""
        found = RareTexts()
        found._texts, found._count = dict(texts), count
        return found

    @property
    def texts(self) -> Mapping[int, str]:
        """Those that are not None, by their places."""
        return self._texts

    def __len__(self) -> int:
        return self._count

    def append(self, text: str | None) -> None:
        """Add a text or None at the end."""
        if text is not None:
            self._texts[self._count] = text
        self._count += 1

    def _at(self, place: int) -> str | None:
        if not -self._count <= place < self._count:
            raise IndexError(place)
        return self._texts.get(place % self._count)


def packed_text(text: str, longest: int) -> str:
    """A text for storage; a message as JSON with its template and values, if short enough."""
    whole = json.dumps(text.as_data()) if isinstance(text, Message) else text
    return whole if len(whole) <= longest else text[:longest]


def unpacked_text(text: str | None) -> str | None:
    """What `packed_text` was given."""
    if text is None or not text.startswith('{"text": '):
        return text
    try:
        message = json.loads(text, object_hook=with_messages)
    except ValueError:  # a text that only begins like one
        return text
    return message if isinstance(message, Message) else text
