"""Long columns in little memory: one buffer instead of 100,000 small objects. They read like sequences."""

from array import array
from collections.abc import Iterable, Sequence
from typing import final, overload


class _Packed:
    """Values of different lengths, one after the other, with the place where each ends."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._ends = array("Q")

    def __len__(self) -> int:
        return len(self._ends)

    def _add(self, value: bytes) -> None:
        self._buffer += value
        self._ends.append(len(self._buffer))

    def _value(self, place: int) -> bytes:
        if place < 0:
            place += len(self._ends)
        if not 0 <= place < len(self._ends):
            raise IndexError(place)
        start = self._ends[place - 1] if place else 0
        return bytes(self._buffer[start : self._ends[place]])


@final
class PackedTexts(_Packed, Sequence[str]):
    """Texts; names that are no valid Unicode come back as they were (surrogate escapes)."""

    def append(self, text: str) -> None:
        """Add a text at the end."""
        self._add(text.encode("utf-8", "surrogateescape"))

    def extended(self, texts: Iterable[str]) -> "PackedTexts":
        """These texts and more at the end, as a copy: whoever holds these keeps what is here."""
        longer = PackedTexts()
        longer._buffer, longer._ends = self._buffer[:], self._ends[:]
        for text in texts:
            longer.append(text)
        return longer

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[str]: ...
    def __getitem__(self, place: int | slice) -> str | Sequence[str]:
        if isinstance(place, slice):
            return [self[number] for number in range(*place.indices(len(self)))]
        return self._value(place).decode("utf-8", "surrogateescape")


@final
class PackedHashes(_Packed, Sequence[bytes | None]):
    """Byte strings, or None; an empty one counts as None."""

    def __init__(self) -> None:
        super().__init__()
        self._replaced: dict[int, bytes | None] = {}

    def append(self, value: bytes | None) -> None:
        """Add a value at the end."""
        self._add(value or b"")

    def replace(self, place: int, value: bytes | None) -> None:
        """Put another value in the place of one."""
        self._replaced[place] = value or None

    @overload
    def __getitem__(self, place: int) -> bytes | None: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[bytes | None]: ...
    def __getitem__(self, place: int | slice) -> bytes | Sequence[bytes | None] | None:
        if isinstance(place, slice):
            return [self[number] for number in range(*place.indices(len(self)))]
        if self._replaced and place % max(len(self), 1) in self._replaced and -len(self) <= place < len(self):
            return self._replaced[place % len(self)]
        return self._value(place) or None


@final
class RareTexts(Sequence[str | None]):
    """Texts of which nearly all are None."""

    def __init__(self) -> None:
        self._texts: dict[int, str] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def append(self, text: str | None) -> None:
        """Add a text or None at the end."""
        if text is not None:
            self._texts[self._count] = text
        self._count += 1

    @overload
    def __getitem__(self, place: int) -> str | None: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[str | None]: ...
    def __getitem__(self, place: int | slice) -> str | Sequence[str | None] | None:
        if isinstance(place, slice):
            return [self[number] for number in range(*place.indices(len(self)))]
        if not -self._count <= place < self._count:
            raise IndexError(place)
        return self._texts.get(place % self._count)
