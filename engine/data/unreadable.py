"""Says what a file is when it is no image, so that the person knows what happened to it."""

from typing import Final

from engine.errors import ImageError

SNIFFED_BYTES: Final = 1024
_SIGNATURES: Final = (
    (b"%PDF", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive or office document"),
    (b"\x1f\x8b", "a compressed archive"),
    (b"SQLite format 3", "a database"),
    (b"\x1a\x45\xdf\xa3", "a video"),
    (b"version https://git-lfs", "a Git LFS pointer instead of the file"),
)
_UNKNOWN: Final = "unknown content"
_HEIF_BRANDS: Final = (b"heic", b"heix", b"hevc", b"mif1", b"msf1")


def not_an_image(data: bytes) -> ImageError:
    """Build the error for bytes that no image reader knows."""
    return ImageError("this is not an image that can be read", found=_kind_of(data[:SNIFFED_BYTES]))


def is_other_kind(data: bytes) -> bool:
    """Whether bytes begin like a file of another kind; those of no known kind may be an image, or may not."""
    return _kind_of(data[:SNIFFED_BYTES]) != _UNKNOWN


def _kind_of(head: bytes) -> str:
    for signature, kind in _SIGNATURES:
        if head.startswith(signature):
            return kind
    if head[4:8] == b"ftyp":
        return "an HEIC image" if head[8:12] in _HEIF_BRANDS else "a video"
    if not head.strip(b"\x00"):
        return "nothing but zeros"
    return _text_kind(head) or _UNKNOWN


def _text_kind(head: bytes) -> str:
    text = head.decode("utf-8", errors="ignore")
    if b"\x00" in head or sum(character.isprintable() or character.isspace() for character in text) < len(text):
        return ""
    if len(text.encode()) < len(head) - 3:  # more was undecodable than one character cut at the end
        return ""
    return "a web page" if text.lstrip().lower().startswith(("<!doctype html", "<html")) else "text"
