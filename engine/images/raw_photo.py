"""Tells RAW photos by their first bytes. Most are TIFFs inside: only their tags tell them from pictures."""

from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

_SIGNATURES: Final = (
    (b"FUJIFILMCCD-RAW", "RAF"),
    (b"IIRO", "ORF"),
    (b"IIRS", "ORF"),
    (b"MMOR", "ORF"),
    (b"IIU\x00", "RW2"),
    (b"FOVb", "X3F"),
    (b"\x00MRM", "MRW"),
)
_TIFF_SIGNATURES: Final = (b"II*\x00", b"MM\x00*")
# Where Canon's CR2 has its mark, and tags of TIFF 6.0 and DNG 1.6.
_CANON_AT: Final = 8
_CANON_MARK: Final = b"CR\x02"
_KIND_OF_PICTURE: Final = 254
_PHOTOMETRIC: Final = 262
_MAKE: Final = 271
_SUB_DIRECTORIES: Final = 330
_DNG_VERSION: Final = 50706
_SENSOR_COLOURS: Final = frozenset({32803, 34892})  # a colour filter array, or linear RAW
_MAKERS: Final = ((b"NIKON", "NEF"), (b"SONY", "ARW"), (b"PENTAX", "PEF"), (b"SAMSUNG", "SRW"))
_MOST_ENTRIES: Final = 512
"""Of one directory that are looked at: a damaged count must not take long. Chosen."""
_ENTRY_BYTES: Final = 12
_SHORT: Final = 3


class _Entry(NamedTuple):
    """One entry of a directory: its tag, how many values, and the first value or where the values are."""

    tag: int
    length: int
    value: int


def raw_kind(data: bytes) -> str:
    """Kind of a RAW photo ("NEF"), "RAW" where its maker is not known, empty for everything else.

    Args:
        data: the file, or its first bytes: of a TIFF the first directory must be among them.
    """
    for signature, kind in _SIGNATURES:
        if data.startswith(signature):
            return kind
    if not data.startswith(_TIFF_SIGNATURES):
        return ""
    if data.startswith(_CANON_MARK, _CANON_AT):
        return "CR2"
    order: Literal["little", "big"] = "little" if data.startswith(b"II") else "big"
    first = {entry.tag: entry for entry in _directory(data, int.from_bytes(data[4:8], order), order)}
    if _DNG_VERSION in first:
        return "DNG"
    return _kind_by_maker(data, first) if _is_raw(data, first, order) else ""


def _is_raw(data: bytes, first: dict[int, _Entry], order: Literal["little", "big"]) -> bool:
    """Whether the first picture is the sensor's, or a preview with the sensor's picture behind it."""
    colours = first.get(_PHOTOMETRIC)
    if colours is not None and colours.value in _SENSOR_COLOURS:
        return True
    below = first.get(_SUB_DIRECTORIES)
    if below is None:
        return False
    kind = first.get(_KIND_OF_PICTURE)
    if kind is not None and kind.value & 1:
        return True
    places = [below.value] if below.length == 1 else [
        int.from_bytes(data[at : at + 4], order) for at in range(below.value, below.value + 4 * min(below.length, 8), 4)
    ]  # fmt: skip
    return any(
        entry.tag == _PHOTOMETRIC and entry.value in _SENSOR_COLOURS
        for place in places
        for entry in _directory(data, place, order)
    )


def _kind_by_maker(data: bytes, first: dict[int, _Entry]) -> str:
    make = first.get(_MAKE)
    name = data[make.value : make.value + make.length].upper() if make is not None else b""
    return next((kind for maker, kind in _MAKERS if name.startswith(maker)), "RAW")


def _directory(data: bytes, at: int, order: Literal["little", "big"]) -> Iterator[_Entry]:
    count = int.from_bytes(data[at : at + 2], order)
    for start in range(at + 2, at + 2 + _ENTRY_BYTES * min(count, _MOST_ENTRIES), _ENTRY_BYTES):
        entry = data[start : start + _ENTRY_BYTES]
        if len(entry) < _ENTRY_BYTES:
            return
        end = 10 if int.from_bytes(entry[2:4], order) == _SHORT else _ENTRY_BYTES
        yield _Entry(*(int.from_bytes(part, order) for part in (entry[:2], entry[4:8], entry[8:end])))
