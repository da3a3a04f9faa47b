"""Says what a file is when it is no image that can be read, so that the person knows what happened to it."""

from typing import Final

from engine.errors import ImageError
from engine.images.left_out import RAW_KINDS, VIDEO_KINDS
from engine.images.raw_photo import raw_kind

SNIFFED_BYTES: Final = 4096
"""First bytes of a file that tell what it is. Chosen: more than any signature needs."""
_SIGNATURES: Final = (
    (b"%PDF", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive or office document"),
    (b"\x1f\x8b", "a compressed archive"),
    (b"SQLite format 3", "a database"),
    (b"\x1a\x45\xdf\xa3", "a video"),
    (b"version https://git-lfs", "a Git LFS pointer instead of the file"),
    (b"8BPS", "a Photoshop document"),
    (b"\x00\x00\x00\x0cJXL \x0d\x0a\x87\x0a", "a JPEG XL image"),
    (b"\xff\x0a", "a JPEG XL image"),
)
_UNKNOWN: Final = "unknown content"
_RAW: Final = "a RAW photo"
_HEIF_BRANDS: Final = (b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"heif", b"mif1", b"msf1")
_AVIF_BRANDS: Final = (b"avif", b"avis")
_RAW_BRAND: Final = b"crx "  # Canon's CR3 lies in the same container as videos do
_REMEDIES: Final = {
    _RAW: "develop it, or export it as JPEG or TIFF, and add that",
    "an HEIC image": "save it as JPEG and add that",
    "a JPEG XL image": "save it as JPEG or PNG and add that",
    "a Photoshop document": "export it as JPEG, PNG or TIFF and add that",
}


def not_an_image(data: bytes) -> ImageError:
    """Build the error for bytes that no image reader knows."""
    return _refusal(_kind_of(data[:SNIFFED_BYTES]))


def unread_suffix(kind: str) -> ImageError:
    """Build the error for a file of a kind that is not read, whatever its bytes say: "CR2", "PSD", "MOV"."""
    if kind in RAW_KINDS:
        return _refusal(f"{_RAW} ({kind})")
    return _refusal(f"a video ({kind})" if kind in VIDEO_KINDS else f"a file of the kind {kind}")


def is_other_kind(data: bytes) -> bool:
    """Whether bytes begin like a file of another kind; those of no known kind may be an image, or may not."""
    return _kind_of(data[:SNIFFED_BYTES]) != _UNKNOWN


def refuse_raw(data: bytes) -> None:
    """Refuse a RAW photo: most are TIFFs whose first picture is a small preview, which would be taken for the photo.

    Raises:
        ImageError: it is one.
    """
    if kind := raw_kind(data):
        raise _refusal(f"{_RAW} ({kind})" if kind in RAW_KINDS else _RAW)


def _refusal(kind: str) -> ImageError:
    remedy = next((remedy for start, remedy in _REMEDIES.items() if kind.startswith(start)), "")
    return ImageError("this is not an image that can be read", found=kind, remedy=remedy)


def _kind_of(head: bytes) -> str:
    for signature, kind in _SIGNATURES:
        if head.startswith(signature):
            return kind
    if raw := raw_kind(head):
        return f"{_RAW} ({raw})" if raw in RAW_KINDS else _RAW
    if head[4:8] == b"ftyp":
        return _kind_of_container(head)
    if not head.strip(b"\x00"):
        return "nothing but zeros"
    return _text_kind(head) or _UNKNOWN


def _kind_of_container(head: bytes) -> str:
    """MP4, MOV, HEIC, AVIF and CR3 share one container: its brands tell them apart, the first before the others."""
    length = min(int.from_bytes(head[:4], "big"), len(head))
    brands = [head[8:12], *(head[at : at + 4] for at in range(16, length - 3, 4))]
    if brands[0] == _RAW_BRAND:
        return f"{_RAW} (CR3)"
    if any(brand in _AVIF_BRANDS for brand in brands):
        return _UNKNOWN  # these are read
    return "an HEIC image" if brands[0] in _HEIF_BRANDS else "a video"


def _text_kind(head: bytes) -> str:
    text = head.decode("utf-8", errors="ignore")
    if b"\x00" in head or sum(character.isprintable() or character.isspace() for character in text) < len(text):
        return ""
    if len(text.encode()) < len(head) - 3:  # more was undecodable than one character cut at the end
        return ""
    return "a web page" if text.lstrip().lower().startswith(("<!doctype html", "<html")) else "text"
