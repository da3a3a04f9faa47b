"""What reads each kind of image here: which library, in which version, or how to get it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import PIL
import simplejpeg
from PIL import features

from engine.images.kinds import HEIF, KINDS, PACKAGES, RAW_KINDS, RAW_SUFFIXES, ImageKind, heif_reader

RAW_NAME: Final = "RAW photos"
_CODECS: Final = {"TIFF": "libtiff", "WEBP": "webp", "JPEG2000": "jpg_2000", "AVIF": "avif", "PNG": "zlib"}
"""What Pillow calls the library that unpacks a format; it has the others itself."""


@dataclass(frozen=True)
class ImageReader:
    """What reads a kind of image."""

    kind: str  # "HEIC"
    suffixes: Sequence[str]  # of its files
    reader: str  # library and version; empty where there is none
    works: bool  # whether files of the kind are read here
    remedy: str = ""  # how to get what is missing


def image_readers() -> tuple[ImageReader, ...]:
    """What reads each kind, in the order in which kinds are told everywhere."""
    raw = f"the preview in it: {', '.join(RAW_KINDS)}"
    return (*(_reader(kind) for kind in KINDS), ImageReader(RAW_NAME, sorted(RAW_SUFFIXES), raw, works=True))


def _reader(kind: ImageKind) -> ImageReader:
    if kind.pillow_format == HEIF:
        found = heif_reader()
        reader = f"{found.package} {found.version}, libheif {found.libheif}" if found else ""
        remedy = "" if found else f"install the Python package {PACKAGES[-1]}"
        return ImageReader(kind.name, kind.suffixes, reader, works=found is not None, remedy=remedy)
    pillow = f"Pillow {PIL.__version__}"
    if kind.pillow_format == "JPEG":
        return ImageReader(kind.name, kind.suffixes, f"simplejpeg {simplejpeg.__version__}, {pillow}", works=True)
    codec = _CODECS.get(kind.pillow_format)
    if codec and not features.check(codec):
        return ImageReader(
            kind.name,
            kind.suffixes,
            "",
            works=False,
            remedy="install Pillow as its authors build it: pip install pillow",
        )
    library = f", {codec} {features.version(codec)}" if codec else ""
    return ImageReader(kind.name, kind.suffixes, f"{pillow}{library}", works=True)
