"""How many pages a TIFF has: only the first one is shown and embedded, which the person should know."""

import struct
from pathlib import Path
from typing import BinaryIO, Final

from engine.files import open_regular
from engine.images.raw_photo import raw_kind

# From TIFF 6.0; BigTIFF is not read.
_ORDERS: Final = {b"II*\x00": "<", b"MM\x00*": ">"}
_FIRST_AT: Final = 4
_ENTRY_BYTES: Final = 12
_KIND_OF_PICTURE: Final = 254
_REDUCED: Final = 1  # bit of a smaller copy, which is no page
_HEAD_BYTES: Final = 65_536  # first bytes that tell a RAW photo, whose directories are no pages. Chosen.
_MOST_PAGES: Final = 10_000  # that are counted: directories may point at one another. Chosen.


def page_count(path: Path) -> int:
    """Pages of an image file: 1 for all but TIFFs of several pages, and for what cannot be read.

    Reads some bytes of each page.
    """
    try:
        with open_regular(path) as file:
            head = file.read(_HEAD_BYTES)
            order = _ORDERS.get(head[:_FIRST_AT])
            return max(1, _count(file, order)) if order and not raw_kind(head) else 1
    except (OSError, struct.error):
        return 1


def _count(file: BinaryIO, order: str) -> int:
    seen: set[int] = set()
    pages = 0
    file.seek(_FIRST_AT)
    (at,) = struct.unpack(order + "I", file.read(4))
    while at and at not in seen and len(seen) < _MOST_PAGES:
        seen.add(at)
        file.seek(at)
        (length,) = struct.unpack(order + "H", file.read(2))
        entries = file.read(_ENTRY_BYTES * length)
        pages += not _is_reduced(entries, order)
        (at,) = struct.unpack(order + "I", file.read(4).ljust(4, b"\x00"))
    return pages


def _is_reduced(entries: bytes, order: str) -> bool:
    for start in range(0, len(entries) - _ENTRY_BYTES + 1, _ENTRY_BYTES):
        tag, _kind, _length, value = struct.unpack_from(order + "HHII", entries, start)
        if tag == _KIND_OF_PICTURE:
            return bool(value & _REDUCED)
    return False
