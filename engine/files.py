"""Files found on disk, as the rest of the engine passes them around."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

_FIRST_MEGABYTE: Final = 999_950  # from here on kilobytes would read 1,000.0


@dataclass(frozen=True)
class FoundFile:
    """A file that was there when somebody looked."""

    path: Path  # absolute path
    size_bytes: int  # its size
    modified_ns: int  # time of last modification, nanoseconds since the epoch

    @classmethod
    def at(cls, path: Path) -> "FoundFile | None":
        """The file as it is now; None where there is none or it cannot be looked at."""
        try:
            status = path.stat()
        except (OSError, ValueError):
            return None
        return cls(path, status.st_size, status.st_mtime_ns)


@dataclass(frozen=True)
class FileFailure:
    """A file that could not be used, and why in one line."""

    path: Path
    reason: str


@dataclass(frozen=True, slots=True)
class PhotoFacts:
    """What a file's header says, as the image is seen: turned upright."""

    # width, height: in pixels; 0 where the file cannot be read
    width: int
    height: int
    media_type: str  # such as "image/jpeg"
    # When the photo was taken, without a time zone where the camera tells none; None where nothing does
    taken_at: datetime | None = None
    # latitude, longitude: degrees (WGS 84), None where the file has none
    latitude: float | None = None
    longitude: float | None = None


@dataclass(frozen=True, slots=True)
class EmbeddedKeywords:
    """What people said of a photo in other programs, as its file holds it."""

    xmp: bytes = b""  # its XMP packet; b"" without one
    iptc: tuple[str, ...] = ()  # its keywords in the older form of the IPTC


def size_text(size_bytes: int) -> str:
    """Size of a file for people: `97.8 MB`, or `53.1 kB` where it is less than one."""
    if size_bytes < _FIRST_MEGABYTE:
        return f"{size_bytes / 1e3:,.1f} kB"
    return f"{size_bytes / 1e6:,.1f} MB"


def shown(text: str) -> str:
    r"""A text with a file's name in it as it can be shown: bytes of a name that are no Unicode become `\xf6`."""
    try:
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:  # half of a pair, as Windows allows in names
        return text.encode("utf-8", "backslashreplace").decode("utf-8")
