"""RAW photos in the layouts of cameras, with given previews and dummy sensor data."""

import struct
from collections.abc import Mapping, Sequence

SHORT, LONG, TEXT, UNDEFINED = 3, 4, 2, 7
KINDS = (
    "ARW",
    "CR2",
    "CR3",
    "DNG",
    "NEF",
    "NRW",
    "ORF",
    "PEF",
    "RAF",
    "RW2",
    "RWL",
    "SR2",
    "SRW",
)
_SENSOR = bytes(range(255)) * 16
_LOSSLESS = bytes.fromhex(
    "ffd8 ffc3 000e 0c 1000 1800 02 001100 011100 ffda 0000".replace(" ", "")
) + bytes(64)
_MAKERS = {
    "ARW": b"SONY",
    "SR2": b"SONY",
    "NEF": b"NIKON CORPORATION",
    "NRW": b"NIKON",
    "PEF": b"PENTAX",
    "SRW": b"SAMSUNG",
    "CR2": b"Canon",
    "DNG": b"Leica",
    "ORF": b"OLYMPUS",
    "RW2": b"Panasonic",
    "RWL": b"LEICA",
}
_MAGIC = {"ORF": b"IIRO", "RW2": b"IIU\x00", "RWL": b"IIU\x00", "PEF": b"MM\x00*"}


def raw_photo(kind: str, *previews: bytes, orientation: int = 1) -> bytes:
    """A RAW photo of a format ("NEF") with these JPEGs as previews."""
    if kind == "RAF":
        return _raf(previews)
    return (
        _cr3(previews, orientation)
        if kind == "CR3"
        else _with_directories(kind, previews, orientation)
    )


def _with_directories(kind: str, previews: Sequence[bytes], orientation: int) -> bytes:
    file = _File(_MAGIC.get(kind, b"II*\x00"), mark=b"CR\x02\x00" if kind == "CR2" else b"")
    places = [(file.put(preview), len(preview)) for preview in previews]
    lossless = file.put(_LOSSLESS)
    sensor = {
        254: (LONG, 0),
        262: (SHORT, 32803),
        259: (SHORT, 7),
        273: (LONG, lossless),
        279: (LONG, len(_LOSSLESS)),
    }
    first: _Fields = {271: (TEXT, _MAKERS[kind]), 274: (SHORT, orientation)}
    others: list[_Fields] = [
        {254: (LONG, 1), 513: (LONG, at), 514: (LONG, size)} for at, size in places
    ]
    if kind == "CR2":
        strip = (
            {259: (SHORT, 6), 273: (LONG, places[0][0]), 279: (LONG, places[0][1])}
            if places
            else {}
        )
        return file.done([{**first, **strip}, *others[1:], sensor])
    if kind == "DNG":
        shown = [
            {254: (LONG, 1), 259: (SHORT, 7), 262: (SHORT, 6), 273: (LONG, at), 279: (LONG, size)}
            for at, size in places
        ]
        return file.done([{**first, 50706: (LONG, 0x0401)}], below=[sensor, *shown])
    if kind in {"RW2", "RWL"}:
        own = {46: (UNDEFINED, previews[0])} if previews else {}
        return file.done([{**first, 262: (SHORT, 32803), **own}])
    if kind == "ORF":  # its previews are in the maker's note only
        return file.done([{**first, 262: (SHORT, 32803)}])
    if kind in {"PEF", "ARW", "SR2"}:
        return file.done([{**first, 262: (SHORT, 32803)}, *others])
    return file.done([{**first, 254: (LONG, 1), 262: (SHORT, 2)}], below=[*others, sensor])


def _raf(previews: Sequence[bytes]) -> bytes:
    head = b"FUJIFILMCCD-RAW 0201FF119502X-T1".ljust(84, b"\x00")
    preview = previews[0] if previews else b""
    return head + struct.pack(">II", 148, len(preview)) + bytes(56) + preview + _SENSOR


def _cr3(previews: Sequence[bytes], orientation: int) -> bytes:
    canon = _File(b"II*\x00").done([{271: (TEXT, b"Canon"), 274: (SHORT, orientation)}])
    boxes = _box(b"ftyp", b"crx \x00\x00\x00\x01crx isom") + _box(
        b"moov", _box(b"uuid", bytes(16), _box(b"CMT1", canon))
    )
    return (
        boxes
        + b"".join(
            _box(b"uuid", bytes(16), _box(b"PRVW", bytes(16), preview)) for preview in previews
        )
        + _SENSOR
    )


def _box(name: bytes, *parts: bytes) -> bytes:
    content = b"".join(parts)
    return struct.pack(">I4s", len(content) + 8, name) + content


_Fields = Mapping[int, tuple[int, int | bytes]]


class _File:
    """A file of directories, written backwards, so that later parts refer to earlier ones."""

    def __init__(self, magic: bytes, *, mark: bytes = b"") -> None:
        self._order = ">" if magic.startswith(b"MM") else "<"
        self._content = bytearray(magic + bytes(4) + mark)

    def put(self, block: bytes) -> int:
        self._content += bytes(-len(self._content) % 4)
        at = len(self._content)
        self._content += block
        return at

    def done(self, chain: Sequence[_Fields], below: Sequence[_Fields] = ()) -> bytes:
        places = [self._put_directory(fields, 0) for fields in below]
        first = dict(chain[0])
        if places:
            packed = struct.pack(f"{self._order}{len(places)}I", *places)
            first[330] = (LONG, places[0] if len(places) == 1 else packed)
        following = 0
        for fields in reversed([first, *chain[1:]]):
            following = self._put_directory(fields, following)
        self._content[4:8] = struct.pack(self._order + "I", following)
        return bytes(self._content) + _SENSOR

    def _put_directory(self, fields: _Fields, following: int) -> int:
        entries = b""
        for tag, (kind, value) in sorted(fields.items()):
            if isinstance(value, bytes):
                count = len(value) // 4 if kind == LONG else len(value)
                entries += struct.pack(self._order + "HHII", tag, kind, count, self.put(value))
            else:
                packed = struct.pack(
                    self._order + ("HH" if kind == SHORT else "I"),
                    *((value, 0)[: 1 + (kind == SHORT)]),
                )
                entries += struct.pack(self._order + "HHI", tag, kind, 1) + packed
        return self.put(
            struct.pack(self._order + "H", len(fields))
            + entries
            + struct.pack(self._order + "I", following)
        )
