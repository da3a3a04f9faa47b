"""Tells RAW photos by their first bytes. Most are TIFFs inside: only their tags tell them from pictures."""

from typing import Final

from engine.images.kinds import container_brands
from engine.images.tiff_directory import ByteOrder, Entry, byte_order, entries, first_directory, values

DIRECTORY_SIGNATURES: Final = (b"II*\x00", b"MM\x00*", b"IIRO", b"IIRS", b"MMOR", b"IIU\x00")
"""First bytes of files that hold directories as a TIFF does: TIFF itself, ORF and RW2."""

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
_CANON_BRAND: Final = b"crx "  # CR3 lies in the same container as videos do
# Where Canon's CR2 has its mark, and tags of TIFF 6.0 and DNG 1.6.
_CANON_AT: Final = 8
_CANON_MARK: Final = b"CR\x02"
_KIND_OF_PICTURE: Final = 254
_PHOTOMETRIC: Final = 262
_MAKE: Final = 271
_SUB_DIRECTORIES: Final = 330
_DNG_VERSION: Final = 50706
_SENSOR_COLOURS: Final = frozenset({32803, 34892})  # a colour filter array, or linear RAW
_MAKERS: Final = ((b"NIKON", "NEF"), (b"SONY", "ARW"), (b"PENTAX", "PEF"), (b"RICOH", "PEF"), (b"SAMSUNG", "SRW"))
_MOST_BELOW: Final = 8
"""Directories below the first one that are looked at. Chosen."""


def raw_kind(data: bytes) -> str:
    """Kind of a RAW photo ("NEF"), "RAW" where its maker is not known, empty for everything else.

    Args:
        data: the file, or its first bytes: of a TIFF the first directory must be among them.
    """
    for signature, kind in _SIGNATURES:
        if data.startswith(signature):
            return kind
    if not data.startswith(_TIFF_SIGNATURES):
        return "CR3" if container_brands(data[:32])[:1] == [_CANON_BRAND] else ""
    if data.startswith(_CANON_MARK, _CANON_AT):
        return "CR2"
    order = byte_order(data)
    first = {entry.tag: entry for entry in entries(data, first_directory(data, order), order)}
    if _DNG_VERSION in first:
        return "DNG"
    return _kind_by_maker(data, first) if _is_raw(data, first, order) else ""


def _is_raw(data: bytes, first: dict[int, Entry], order: ByteOrder) -> bool:
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
    return any(
        entry.tag == _PHOTOMETRIC and entry.value in _SENSOR_COLOURS
        for place in values(data, below, order)[:_MOST_BELOW]
        for entry in entries(data, place, order)
    )


def _kind_by_maker(data: bytes, first: dict[int, Entry]) -> str:
    make = first.get(_MAKE)
    name = data[make.value : make.value + make.length].upper() if make is not None else b""
    return next((kind for maker, kind in _MAKERS if name.startswith(maker)), "RAW")
