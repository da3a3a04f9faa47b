"""The kinds of image files that are read: their names, their suffixes, and what reads them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

RAW_KINDS: Final = ("ARW", "CR2", "CR3", "DNG", "NEF", "NRW", "ORF", "PEF", "RAF", "RW2", "RWL", "SR2", "SRW")
"""RAW photos that are read by the preview that the camera put beside the sensor's picture."""

HEIF: Final = "HEIF"
"""Pillow's name of the format of HEIC files, as their reader registers it."""


@dataclass(frozen=True)
class ImageKind:
    """A kind of image file."""

    name: str  # as people call it
    pillow_format: str  # by which Pillow reads it
    suffixes: Sequence[str]  # of its files, in lower case


KINDS: Final = (
    ImageKind("JPEG", "JPEG", (".jpg", ".jpeg", ".jpe", ".jfif")),
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

# Named one by one because some of Pillow's readers start other programs (EPS) or guess without a signature (TGA).
PILLOW_FORMATS: Final = tuple(kind.pillow_format for kind in KINDS if kind.pillow_format != HEIF)
"""What Pillow reads by itself, the commonest first."""

RAW_SUFFIXES: Final = frozenset(f".{kind.lower()}" for kind in RAW_KINDS)
IMAGE_SUFFIXES: Final = frozenset(suffix for kind in KINDS for suffix in kind.suffixes) | RAW_SUFFIXES
"""Of files that are taken for images where nobody named them."""


def kinds_text() -> str:
    """`JPEG, PNG, … PPM and RAW photos (ARW, CR2, …)`."""
    return f"{', '.join(kind.name for kind in KINDS)} and RAW photos ({', '.join(RAW_KINDS)})"
