"""The directories of a TIFF, as they lie in the file: RAW photos are TIFFs, too, and EXIF blocks hold them."""

from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

ByteOrder = Literal["little", "big"]

# From TIFF 6.0.
_COUNT_BYTES: Final = 2
_ENTRY_BYTES: Final = 12
_SHORT: Final = 3
_TYPE_BYTES: Final = {_SHORT: 2, 4: 4, 13: 4}  # of one value: SHORT, LONG, IFD
_MOST_ENTRIES: Final = 512  # of one directory that are looked at: a damaged count must not take long. Chosen.
_MOST_VALUES: Final = 64  # of one entry that are looked at. Chosen: more than a picture's strips that we follow.


class Entry(NamedTuple):
    """One entry of a directory."""

    tag: int  # what it says
    length: int  # how many values
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
    for start in range(at + _COUNT_BYTES, at + _COUNT_BYTES + _ENTRY_BYTES * _count(data, at, order), _ENTRY_BYTES):
        entry = data[start : start + _ENTRY_BYTES]
        if len(entry) < _ENTRY_BYTES:
            return
        kind, length = int.from_bytes(entry[2:4], order), int.from_bytes(entry[4:8], order)
        end = 10 if kind == _SHORT and length == 1 else _ENTRY_BYTES
        yield Entry(int.from_bytes(entry[:2], order), length, int.from_bytes(entry[8:end], order), kind)


def next_directory(data: bytes, at: int, order: ByteOrder) -> int:
    """Where the directory behind the one at a place is; 0 at the end of the chain."""
    end = at + _COUNT_BYTES + _ENTRY_BYTES * int.from_bytes(data[at : at + _COUNT_BYTES], order)
    return int.from_bytes(data[end : end + 4], order)


def values(data: bytes, entry: Entry, order: ByteOrder) -> list[int]:
    """Whole numbers of an entry, as many as lie in the file; none of another type."""
    size = _TYPE_BYTES.get(entry.kind, 0)
    if entry.length == 1 and size:
        return [entry.value]
    count = min(entry.length, _MOST_VALUES) if size else 0
    if count * size <= 4:  # noqa: PLR2004 (bytes of a value in the entry)
        packed = entry.value.to_bytes(4, order)
        return [int.from_bytes(packed[at : at + size], order) for at in range(0, count * size, size or 1)]
    places = range(entry.value, min(entry.value + count * size, len(data) - size + 1), size)
    return [int.from_bytes(data[at : at + size], order) for at in places]


def _count(data: bytes, at: int, order: ByteOrder) -> int:
    return min(int.from_bytes(data[at : at + _COUNT_BYTES], order), _MOST_ENTRIES)
