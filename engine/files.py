"""Files found on disk, as the rest of the engine passes them around."""

import errno
import hashlib
import os
import re
import stat
from array import array
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from io import BufferedReader
from pathlib import Path
from types import MappingProxyType
from typing import final

from engine.lazy_sequence import LazySequence
from engine.texts import Message, marked

# of a file that is read as a whole, unless its reader permits more or less. Chosen.
MOST_BYTES = 1024**3
_KINDS = (
    (stat.S_ISDIR, errno.EISDIR, marked("a folder, not a file")),
    (stat.S_ISFIFO, errno.EINVAL, marked("a pipe, not a file")),
    (stat.S_ISSOCK, errno.EINVAL, marked("a socket, not a file")),
    (stat.S_ISCHR, errno.EINVAL, marked("a device, not a file")),
    (stat.S_ISBLK, errno.EINVAL, marked("a device, not a file")),
)
_SHA256 = re.compile(r"[0-9a-f]{64}")
_TWO_HALVES = re.compile(r"[0-9a-f]{32}")
_OPENING = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
"""`O_NONBLOCK` changes nothing for regular files; opening a pipe in place of one does not block."""


class NotRegularError(OSError):
    """A path of something else than a regular file; `strerror` names it."""


class TooLargeError(OSError):
    """A file that is larger than its reader permits; `strerror` gives both sizes."""


def open_regular(path: Path) -> BufferedReader:
    """Open a regular file for reading.

    Raises:
        NotRegularError: it is a folder, a pipe, a socket, a device or a file of the kernel.
        OSError: it cannot be opened.
    """
    require_regular(path)
    descriptor = os.open(path, _OPENING)
    try:
        _require(os.fstat(descriptor), path)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_regular(path: Path, *, at_most: int = MOST_BYTES) -> bytes:
    """Read a regular file of at most so many bytes as a whole.

    Raises:
        NotRegularError: as `open_regular`.
        TooLargeError: it is larger, or grows while it is read.
        OSError: it cannot be read.
    """
    with open_regular(path) as file:
        _require_size(os.fstat(file.fileno()).st_size, at_most, path)
        data = file.read(at_most + 1)
    _require_size(len(data), at_most, path)
    return data


def require_regular(path: Path) -> os.stat_result:
    """Refuse a file that a library must not open.

    Raises:
        NotRegularError: as `open_regular`.
        OSError: nothing is there, or it cannot be looked at.
    """
    status = path.stat()
    _require(status, path)
    return status


def _require(status: os.stat_result, path: Path) -> None:
    for is_kind, number, reason in _KINDS:
        if is_kind(status.st_mode):
            raise NotRegularError(number, reason, str(path))
    if status.st_dev in _kernel_devices():
        raise NotRegularError(
            errno.EINVAL, "a virtual file of the system, not a file on a disk", str(path)
        )


def _require_size(size_bytes: int, at_most: int, path: Path) -> None:
    if size_bytes > at_most:
        sizes = {"size": size_text(size_bytes), "most": size_text(at_most)}
        raise TooLargeError(
            errno.EFBIG, Message("{size}, and at most {most} are read", sizes), str(path)
        )


@cache
def _kernel_devices() -> frozenset[int]:
    """The file systems of the kernel: their files have no size, and some never end."""
    folders = [folder for folder in ("/proc", "/sys", "/dev") if os.path.ismount(folder)]
    return frozenset(Path(folder).stat().st_dev for folder in folders)


_SIZE_UNITS = (
    (999_950, 1e3, marked("{size:,.1f} kB")),  # from here on kilobytes would read 1,000.0
    (999_950_000, 1e6, marked("{size:,.1f} MB")),
)
_LARGEST_UNIT = 1e9, marked("{size:,.1f} GB")


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file and its state when it was found."""

    path: Path  # absolute path
    size_bytes: int  # its size
    modified_ns: int  # time of last modification, nanoseconds since the epoch

    @classmethod
    def at(cls, path: Path) -> "FoundFile | None":
        """The current state of a file; None where it is missing or inaccessible."""
        try:
            status = path.stat()
        except (OSError, ValueError):
            return None
        return cls(path, status.st_size, status.st_mtime_ns)


@final
class FoundFiles(LazySequence[FoundFile]):
    """Files in the order found, stored as columns: they take a sixth of the memory of a list."""

    def __init__(self) -> None:
        self.names: list[str] = []  # of the files, without their folders
        self.folders: list[Path] = []
        self.folder_of, self.sizes_bytes, self.modified_ns = array("q"), array("q"), array("q")

    def __len__(self) -> int:
        return len(self.names)

    def _at(self, place: int) -> FoundFile:
        path = self.folders[self.folder_of[place]] / self.names[place]
        return FoundFile(path, self.sizes_bytes[place], self.modified_ns[place])

    def add(self, folder: Path, name: str, size_bytes: int, modified_ns: int) -> None:
        """Add a file of an absolute folder."""
        if not self.folders or self.folders[-1] is not folder:
            self.folders.append(folder)
        self.folder_of.append(len(self.folders) - 1)
        self.names.append(name)
        self.sizes_bytes.append(size_bytes)
        self.modified_ns.append(modified_ns)

    def extend(self, others: "FoundFiles") -> None:
        """Add others at the end."""
        first = len(self.folders)
        self.folders += others.folders
        self.folder_of.extend(first + number for number in others.folder_of)
        self.names += others.names
        self.sizes_bytes += others.sizes_bytes
        self.modified_ns += others.modified_ns

    def without(self, names: AbstractSet[str]) -> "FoundFiles":
        """Those that have none of these names."""
        left = FoundFiles()
        for place, name in enumerate(self.names):
            if name not in names:
                folder = self.folders[self.folder_of[place]]
                left.add(folder, name, self.sizes_bytes[place], self.modified_ns[place])
        return left


@dataclass(frozen=True)
class FileFailure:
    """A file that could not be used, and why in one line."""

    path: Path
    reason: str


@dataclass(frozen=True, slots=True)
class PhotoDetails:
    """Metadata of an image, clean and bounded, whatever its file holds."""

    width: int = 0  # pixels as shown, turned upright; 0 where unknown
    height: int = 0
    taken_at: datetime | None = None  # by the camera's clock, mostly without a time zone
    camera: str = ""  # make and model
    latitude: float | None = None  # degrees (WGS 84), -90..90
    longitude: float | None = None  # degrees, -180..180
    # further ones by the names in `found_details.FIELDS`, of those that are there
    fields: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    media_type: str = ""  # such as "image/jpeg", by what the file holds; "" where unknown

    @property
    def taken_on(self) -> str:
        """The date of a photo without a time: "1912", "1912-06" or "1912-06-03"; "" for none."""
        return "" if self.taken_at is not None else self.fields.get("taken_on", "")

    @property
    def date_text(self) -> str:
        """When it was taken in ISO 8601, as exactly as the file has it; "" for unknown."""
        return self.taken_on if self.taken_at is None else self.taken_at.isoformat()

    @property
    def serial(self) -> str:
        """Number of the camera's body; "" for unknown."""
        return self.fields.get("serial", "")


@dataclass(frozen=True, slots=True)
class EmbeddedKeywords:
    """Captions and keywords from other programs, as stored in a photo."""

    xmp: bytes = b""  # its XMP packet; b"" without one
    iptc: tuple[str, ...] = ()  # its keywords in the older form of the IPTC


def is_sha256(text: str) -> bool:
    """Whether a text is a SHA-256 as hex, as the hashes of model files are."""
    return _SHA256.fullmatch(text) is not None


def is_embedding_identity(text: str) -> bool:
    """Whether a text is an embedding identity: a SHA-256, or two 16-digit halves of hashes."""
    return is_sha256(text) or _TWO_HALVES.fullmatch(text) is not None


def hash_in_name(text: str) -> str:
    """A hash or an embedding identity as part of a file name; any other text is hashed first.

    Every such text that becomes part of a path goes through this function.
    """
    if is_embedding_identity(text):
        return text
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


_BLANKS = b"\0 \t\r\n"
_DECLARATION = re.compile(r"\ufeff?<\?xml\s[^>]*\?>")


def utf8_packet(data: bytes) -> bytes:
    """Convert an XMP packet to UTF-8.

    It may be in UTF-8, UTF-16 or UTF-32, with or without a byte order mark (ISO 16684-1).
    """
    at = data.find(b"<")
    zeros = len(data[at + 1 : at + 4]) - len(data[at + 1 : at + 4].lstrip(b"\0")) if at >= 0 else 0
    if zeros == 0:
        return data.strip(_BLANKS)
    unit = 4 if zeros == 3 else 2  # noqa: PLR2004 (the other bytes of a wide "<")
    order = "le" if at % unit == 0 else "be"
    start = at // unit * unit
    whole = data[start : start + (len(data) - start) // unit * unit]
    text = whole.decode(f"utf-{8 * unit}-{order}", "replace")
    return _DECLARATION.sub("", text, count=1).strip("\0 \t\r\n").encode()


def size_unit(size_bytes: float) -> tuple[float, str]:
    """Bytes of the unit that a size is displayed in, and the template with its `{size}`."""
    return next(
        ((unit, template) for end, unit, template in _SIZE_UNITS if size_bytes < end),
        _LARGEST_UNIT,
    )


def size_text(size_bytes: float) -> Message:
    """Displayed size of a file: `53.1 kB`, `97.8 MB`, `1.2 GB`."""
    unit, template = size_unit(size_bytes)
    return Message(template, {"size": size_bytes / unit})


def shown(text: str) -> str:
    r"""A text with a file's name, for display: bytes that are not Unicode become `\xf6`."""
    try:
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:  # half of a pair, as Windows allows in names
        return text.encode("utf-8", "backslashreplace").decode("utf-8")
