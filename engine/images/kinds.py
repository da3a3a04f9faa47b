"""Kinds of image files: names, suffixes, signatures of HEIC and AVIF; and ignored kinds.

The library for HEIC is loaded with the first such file: it takes a tenth of a second and some
megabytes (decision 110).
"""

import functools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from engine.texts import Message, enumerated

RAW_KINDS = (
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
"""RAW photos, read by the preview that the camera stored with the sensor data."""
HEIF = "HEIF"  # Pillow's name of the format of HEIC files, as their reader registers it
PACKAGES = ("pillow-heif", "pi-heif")
"""Either reads HEIC; the first has a newer libheif, and a GPL encoder, which is not shipped."""
_AVIF_BRANDS = frozenset({b"avif", b"avis"})
_HEIF_BRANDS = frozenset(
    {
        b"heic",
        b"heix",
        b"heim",
        b"heis",
        b"hevc",
        b"hevx",
        b"hevm",
        b"hevs",
        b"heif",
        b"mif1",
        b"msf1",
    }
)


@dataclass(frozen=True)
class ImageKind:
    """A kind of image file."""

    name: str  # for display
    pillow_format: str  # by which Pillow reads it
    suffixes: Sequence[str]  # of its files, in lower case


KINDS = (
    ImageKind("JPEG", "JPEG", (".jpg", ".jpeg", ".jpe", ".jfif", ".mpo")),
    ImageKind("PNG", "PNG", (".png", ".apng")),
    ImageKind("TIFF", "TIFF", (".tif", ".tiff")),
    ImageKind("HEIC", HEIF, (".heic", ".heif", ".hif")),
    ImageKind("AVIF", "AVIF", (".avif",)),
    ImageKind("WebP", "WEBP", (".webp",)),
    ImageKind("GIF", "GIF", (".gif",)),
    ImageKind("BMP", "BMP", (".bmp", ".dib")),
    ImageKind("JPEG 2000", "JPEG2000", (".jp2", ".j2k")),
    ImageKind("PPM", "PPM", (".ppm", ".pgm", ".pbm", ".pnm")),
)
# Listed because some of Pillow's readers start other programs (EPS) or have no signature (TGA).
PILLOW_FORMATS = tuple(kind.pillow_format for kind in KINDS if kind.pillow_format != HEIF)
"""What Pillow reads by itself, the commonest first."""
RAW_SUFFIXES = frozenset(f".{kind.lower()}" for kind in RAW_KINDS)
IMAGE_SUFFIXES = frozenset(suffix for kind in KINDS for suffix in kind.suffixes) | RAW_SUFFIXES
"""Of files that are taken for images in folders."""


def kinds_text() -> Message:
    """`JPEG, PNG, … PPM and RAW photos (ARW, CR2, …)`."""
    return Message(
        "{kinds} and RAW photos ({raw_kinds})",
        {"kinds": enumerated(kind.name for kind in KINDS), "raw_kinds": enumerated(RAW_KINDS)},
    )


class HeifReader(NamedTuple):
    """The library that reads HEIC files here."""

    package: str
    version: str
    libheif: str


def container_brands(data: bytes) -> list[bytes]:
    """Brands of an ISO media file (MP4, MOV, HEIC, AVIF, CR3), its own first; else none."""
    if data[4:8] != b"ftyp":
        return []
    length = min(int.from_bytes(data[:4], "big"), len(data), 4096)
    return [data[8:12], *(data[at : at + 4] for at in range(16, length - 3, 4))]


def is_heif(data: bytes) -> bool:
    """Whether bytes begin like a HEIC or HEIF file; not an AVIF."""
    brands = container_brands(data)
    return bool(brands) and brands[0] in _HEIF_BRANDS and _AVIF_BRANDS.isdisjoint(brands)


def is_avif(data: bytes) -> bool:
    """Whether bytes begin like an AVIF file."""
    return not _AVIF_BRANDS.isdisjoint(container_brands(data))


@functools.cache
def heif_reader() -> HeifReader | None:
    """Register the library with Pillow; None where it is missing or cannot be loaded."""
    for package in PACKAGES:
        try:
            library = import_module(package.replace("-", "_"))
            found = HeifReader(package, library.__version__, library.libheif_version())
            library.register_heif_opener()
        except (ImportError, OSError):
            continue
        return found
    return None


def heif_formats() -> tuple[str, ...]:
    """Names by which Pillow reads HEIC here; none without the library."""
    return (HEIF,) if heif_reader() else ()


UNREAD_RAW_KINDS = frozenset(
    {
        "3FR",
        "CRW",
        "DCR",
        "ERF",
        "FFF",
        "GPR",
        "IIQ",
        "KDC",
        "MEF",
        "MOS",
        "MRW",
        "RAW",
        "SRF",
        "X3F",
    }
)
"""RAW photos whose preview is not looked for, by the suffix of the file."""

VIDEO_KINDS = frozenset(
    {
        *(
            "3G2",
            "3GP",
            "AVI",
            "FLV",
            "INSV",
            "LRV",
            "M2TS",
            "M4V",
            "MKV",
            "MOV",
            "MP4",
            "MPEG",
            "MPG",
            "MTS",
            "OGV",
        ),
        *("VOB", "WEBM", "WMV"),
    }
)

_PICTURE_KINDS = frozenset(
    {
        *("DDS", "DJVU", "EPS", "EXR", "HDR", "ICNS", "ICO", "JXL", "JXR", "KRA", "PCX"),
        *("PSB", "PSD", "QOI", "SVG", "TGA", "XCF"),
    }
)
_KINDS = UNREAD_RAW_KINDS | VIDEO_KINDS | _PICTURE_KINDS


@dataclass
class LeftOut:
    """Files that were skipped in folders."""

    # pictures and videos that are not read, by kind ("PSD")
    kinds: Counter[str] = field(default_factory=Counter)
    others: int = 0  # files that are neither, such as texts and sidecars
    raw_doubles: int = 0  # RAW photos of which a JPEG or HEIC is taken instead

    def add(self, path: Path) -> None:
        if kind := unread_kind(path):
            self.kinds[kind] += 1
        else:
            self.others += 1

    @property
    def count(self) -> int:
        """Pictures and videos."""
        return self.kinds.total()

    @property
    def has_pictures(self) -> bool:
        """Whether there are others than videos, which could be saved as something that is read."""
        return any(kind not in VIDEO_KINDS for kind in self.kinds)

    def by_kind(self) -> list[tuple[str, int]]:
        """Kinds and how many, most first."""
        return sorted(self.kinds.items(), key=lambda item: (-item[1], item[0]))


def unread_kind(path: Path) -> str:
    """Kind of an unsupported picture or video, by its suffix; "" for all other files."""
    kind = path.suffix[1:].upper()
    return kind if kind in _KINDS else ""
