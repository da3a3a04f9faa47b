"""Documents and videos: files of several pictures, by their suffixes and their first bytes."""

from engine.images.kinds import container_brands, is_avif, is_heif
from engine.images.raw_photo import raw_kind

DOCUMENT_SUFFIXES = frozenset({".pdf"})
VIDEO_SUFFIXES = frozenset({".avi", ".m4v", ".mkv", ".mov", ".mp4", ".mts", ".webm"})
"""Of files that are taken for videos in folders."""
# what other programs put before its first line
_BEFORE_A_DOCUMENT = b"\xef\xbb\xbf\0 \t\r\n"
_FIRST_BOXES = frozenset({b"free", b"mdat", b"moov", b"pnot", b"skip", b"wide"})
"""Of a QuickTime file that does not name its brand, as older cameras write them."""
_MATROSKA = b"\x1a\x45\xdf\xa3"  # and WebM: how EBML begins (RFC 8794)
_SYNC = 0x47  # first byte of a packet of a transport stream (ISO 13818-1)
_PACKETS = ((0, 188), (4, 192))
"""Where the first packet begins, and bytes of one; cameras put a time of four bytes before each."""
# Chosen: another file has the byte at these places once in four billion
_PACKETS_CHECKED = 4


def is_document(head: bytes) -> bool:
    """Whether a file that begins with these bytes is a PDF document."""
    return head.lstrip(_BEFORE_A_DOCUMENT).startswith(b"%PDF-")


def is_video(head: bytes) -> bool:
    """Whether the first bytes of a file, some hundred at least, are those of a supported video."""
    return bool(video_container(head))


def video_container(head: bytes) -> str:
    """FFmpeg's name of the container of a video; "" for unsupported ones.

    FFmpeg opens a file by this name alone, so that it never opens others through a playlist.
    """
    if head[:4] == b"RIFF" and head[8:12] == b"AVI ":
        return "avi"
    if head.startswith(_MATROSKA):
        return "matroska"
    if container_brands(head):
        return "" if is_heif(head) or is_avif(head) or raw_kind(head) else "mov"
    if head[4:8] in _FIRST_BOXES:
        return "mov"
    return "mpegts" if any(_has_packets(head, first, step) for first, step in _PACKETS) else ""


def _has_packets(head: bytes, first: int, step: int) -> bool:
    places = range(first, first + step * _PACKETS_CHECKED, step)
    return places[-1] < len(head) and all(head[place] == _SYNC for place in places)
