"""Image libraries: their logging and warnings, their versions, and errors of unsupported files.

A file is read or it fails; warnings of libraries never reach the screen.
"""

import ctypes
import functools
import logging
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import PIL
import simplejpeg
from PIL import _imaging, features

from engine.errors import ImageError
from engine.images.kinds import (
    HEIF,
    KINDS,
    PACKAGES,
    RAW_KINDS,
    RAW_SUFFIXES,
    UNREAD_RAW_KINDS,
    VIDEO_KINDS,
    ImageKind,
    container_brands,
    heif_reader,
    is_avif,
    is_heif,
    kinds_text,
)
from engine.images.raw_photo import raw_kind
from engine.texts import Message, marked

PILLOW_DAMAGE = (
    *(
        OSError,
        SyntaxError,
        ValueError,
        ArithmeticError,
        EOFError,
        LookupError,
        TypeError,
        AttributeError,
    ),
)
"""What Pillow's readers are known to raise on damaged files, besides what they promise."""

# Without a handler Python prints what Pillow logs; the log file, if any, gets it anyway.
logging.getLogger("PIL").addHandler(logging.NullHandler())

_lock = threading.Lock()
_inside = 0
_outer_filters = ExitStack()


@contextmanager
def pillow_is_quiet() -> Iterator[None]:
    """Ignore warnings raised from Pillow inside the block, and for good what its libtiff prints.

    `warnings.catch_warnings` alone is not thread-safe: two overlapping blocks can restore each
    other's filters. So the first thread in saves them, the last one out puts them back.
    """
    global _inside  # noqa: PLW0603  # warning filters are process-wide, so is their count
    _silence_libtiff()
    with _lock:
        _inside += 1
        if _inside == 1:
            _outer_filters.enter_context(warnings.catch_warnings())
            warnings.filterwarnings("ignore", module=r"(PIL|engine\.data)(\.|$)")
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                _outer_filters.close()


@functools.cache
def _silence_libtiff() -> None:
    """Remove the handlers of libtiff, which print to standard error for odd files.

    WORKAROUND: Pillow has no option for it. The functions are those of the libtiff that Pillow is
        linked with; where it shows none (Windows) libtiff goes on printing. Can go when Pillow
        keeps it quiet.
    """
    try:
        library = ctypes.CDLL(_imaging.__file__)
        handlers = (library.TIFFSetWarningHandler, library.TIFFSetErrorHandler)
    except (OSError, AttributeError):
        return
    for set_handler in handlers:
        set_handler.argtypes, set_handler.restype = (ctypes.c_void_p,), ctypes.c_void_p
        set_handler(None)


# first bytes of a file that tell what it is. Chosen: more than any signature needs.
SNIFFED_BYTES = 4096
_PHOTOSHOP = marked("a Photoshop document")
_JPEG_XL = marked("a JPEG XL image")
_SIGNATURES = (
    (b"%PDF", marked("a PDF document")),
    (b"PK\x03\x04", marked("a ZIP archive or office document")),
    (b"\x1f\x8b", marked("a compressed archive")),
    (b"SQLite format 3", marked("a database")),
    (b"\x1a\x45\xdf\xa3", marked("a video")),
    (b"version https://git-lfs", marked("a Git LFS pointer instead of the file")),
    (b"8BPS", _PHOTOSHOP),
    (b"\x00\x00\x00\x0cJXL \x0d\x0a\x87\x0a", _JPEG_XL),
    (b"\xff\x0a", _JPEG_XL),
)
_UNKNOWN = marked("unknown content")
_RAW = marked("a RAW photo ({kind})")
_VIDEO = marked("a video ({kind})")
_OTHER = marked("a file of the kind {kind}")
_HEIC = marked("an HEIC image")
_AVIF = marked("an AVIF image")
_TIFF = marked("a TIFF image that is damaged, or stored in a way that is not read")
_TIFF_SIGNATURES = (b"II*\x00", b"MM\x00*", b"II+\x00", b"MM\x00+")
# Remedies by kind.
_REMEDIES = {
    _RAW: marked("develop it, or export it as JPEG or TIFF, and add that"),
    _HEIC: marked(
        "install the Python package {package}, which reads such files, or save it as JPEG"
    ),
    _AVIF: marked("install Pillow as its authors build it, or save the image as JPEG"),
    _TIFF: marked("save it as a TIFF or PNG of 8 or 16 bits"),
    _JPEG_XL: marked("save it as JPEG or PNG and add that"),
    _PHOTOSHOP: marked("export it as JPEG, PNG or TIFF and add that"),
}


def not_an_image(data: bytes) -> ImageError:
    """Build the error for bytes that no image reader takes."""
    kind = _kind_of(data[:SNIFFED_BYTES])
    if kind != _UNKNOWN:
        return _refusal(kind)
    if is_heif(data) or is_avif(data):
        name, can_read = (
            (_HEIC, heif_reader()) if is_heif(data) else (_AVIF, features.check("avif"))
        )
        return ImageError("the image is damaged or incomplete") if can_read else _refusal(name)
    return _refusal(_TIFF if data.startswith(_TIFF_SIGNATURES) else _UNKNOWN)


def unread_suffix(kind: str) -> ImageError:
    """The error for a file of an unsupported kind, whatever its bytes: "X3F", "PSD", "MOV"."""
    if kind in UNREAD_RAW_KINDS:
        return _refusal(_RAW, kind)
    return _refusal(_VIDEO if kind in VIDEO_KINDS else _OTHER, kind)


def is_other_kind(data: bytes) -> bool:
    """Whether bytes begin like a file of another kind; those of no known kind may be an image."""
    return _kind_of(data[:SNIFFED_BYTES]) != _UNKNOWN


def _refusal(found: str, kind: str = "") -> ImageError:
    return ImageError(
        "this is not an image that can be read",
        found=found,
        remedy=_REMEDIES.get(found, marked("the kinds that are read: {kinds}")),
        kind=kind,
        package=PACKAGES[-1],
        kinds=kinds_text(),
    )


def _kind_of(head: bytes) -> str:
    for signature, kind in _SIGNATURES:
        if head.startswith(signature):
            return kind
    if container_brands(head):
        return _UNKNOWN if is_avif(head) or is_heif(head) or raw_kind(head) else marked("a video")
    if not head.strip(b"\x00"):
        return marked("only zeros")
    return _text_kind(head) or _UNKNOWN


def _text_kind(head: bytes) -> str:
    text = head.decode("utf-8", errors="ignore")
    if b"\x00" in head or sum(
        character.isprintable() or character.isspace() for character in text
    ) < len(text):
        return ""
    if len(text.encode()) < len(head) - 3:  # more was undecodable than one character cut at the end
        return ""
    return (
        marked("a web page")
        if text.lstrip().lower().startswith(("<!doctype html", "<html"))
        else marked("text")
    )


_CODECS = {
    "TIFF": "libtiff",
    "WEBP": "webp",
    "JPEG2000": "jpg_2000",
    "AVIF": "avif",
    "PNG": "zlib",
}
"""What Pillow calls the library that unpacks a format; it has the others itself."""


@dataclass(frozen=True)
class ImageReader:
    """What reads a kind of image."""

    kind: str  # "HEIC"
    suffixes: Sequence[str]
    reader: str  # library and version; empty where there is none
    works: bool
    remedy: str = ""  # how to get what is missing


def image_readers() -> tuple[ImageReader, ...]:
    """What reads each kind, in the order of `KINDS`."""
    raw = f"the preview in it: {', '.join(RAW_KINDS)}"
    return (
        *(_reader(kind) for kind in KINDS),
        ImageReader("RAW photos", sorted(RAW_SUFFIXES), raw, works=True),
    )


def _reader(kind: ImageKind) -> ImageReader:
    if kind.pillow_format == HEIF:
        found = heif_reader()
        reader = f"{found.package} {found.version}, libheif {found.libheif}" if found else ""
        remedy = (
            ""
            if found
            else Message("install the Python package {package}", {"package": PACKAGES[-1]})
        )
        return ImageReader(kind.name, kind.suffixes, reader, works=found is not None, remedy=remedy)
    pillow = f"Pillow {PIL.__version__}"
    if kind.pillow_format == "JPEG":
        return ImageReader(
            kind.name, kind.suffixes, f"simplejpeg {simplejpeg.__version__}, {pillow}", works=True
        )
    codec = _CODECS.get(kind.pillow_format)
    if codec and not features.check(codec):
        remedy = "install Pillow as its authors build it: pip install pillow"
        return ImageReader(kind.name, kind.suffixes, "", works=False, remedy=remedy)
    library = f", {codec} {features.version(codec)}" if codec else ""
    return ImageReader(kind.name, kind.suffixes, f"{pillow}{library}", works=True)
