"""HEIC and HEIF files: telling them by their first bytes, and the library that reads them (decision 51).

It is loaded with the first such file, as it takes a tenth of a second and some megabytes.
"""

import functools
from importlib import import_module
from typing import Final, NamedTuple

from engine.images.kinds import HEIF

PACKAGES: Final = ("pillow-heif", "pi-heif")
"""Either reads HEIC; the first one carries the newer libheif, and an encoder under the GPL, which we do not ship."""

_AVIF_BRANDS: Final = frozenset({b"avif", b"avis"})
_HEIF_BRANDS: Final = frozenset(
    {b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"hevm", b"hevs", b"heif", b"mif1", b"msf1"}
)


class HeifReader(NamedTuple):
    """The library that reads HEIC files here."""

    package: str
    version: str
    libheif: str


def container_brands(data: bytes) -> list[bytes]:
    """Brands of a file in the container that MP4, MOV, HEIC, AVIF and CR3 share, its own first; else none."""
    if data[4:8] != b"ftyp":
        return []
    length = min(int.from_bytes(data[:4], "big"), len(data), 4096)
    return [data[8:12], *(data[at : at + 4] for at in range(16, length - 3, 4))]


def is_heif(data: bytes) -> bool:
    """Whether bytes begin like a HEIC or HEIF file; an AVIF is none."""
    brands = container_brands(data)
    return bool(brands) and brands[0] in _HEIF_BRANDS and _AVIF_BRANDS.isdisjoint(brands)


def is_avif(data: bytes) -> bool:
    """Whether bytes begin like an AVIF file."""
    return not _AVIF_BRANDS.isdisjoint(container_brands(data))


@functools.cache
def heif_reader() -> HeifReader | None:
    """Load the library and have Pillow use it; None where there is none, or where it cannot be loaded."""
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
