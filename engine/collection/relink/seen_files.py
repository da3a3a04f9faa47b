"""Looks through folders once and keeps what may be a missing image, found again by folder, name and size."""

import os
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

from engine.collection.relink.records import MissingImage
from engine.errors import StorageError, reason_of
from engine.events import CancelToken, ProgressMeter
from engine.files import FileFailure, FoundFile
from engine.images.kinds import IMAGE_SUFFIXES
from engine.images.read_file import file_hashes
from engine.texts import Message

Parts = tuple[str, ...]


def name_key(name: str) -> str:
    """A name as it is compared: macOS decomposes accents, and most systems ignore case."""
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def folder_keys(folder: str) -> Parts:
    """Parts of a folder, as they are compared; it may be of another system (`D:/photos`, `//server/share`)."""
    return tuple(name_key(part) for part in folder.split("/") if part not in ("", "."))


def disk_folder_keys(folder: str) -> Parts:
    """The parts of an absolute path on this computer, as they are compared."""
    return folder_keys(folder.replace(os.sep, "/"))


def common_tail(first: Parts, second: Parts) -> int:
    """How many parts two paths have in common at their ends."""
    length = 0
    for one, other in zip(reversed(first), reversed(second), strict=False):
        if one != other:
            break
        length += 1
    return length


_NO_HASHES: Final = frozenset[bytes]()


@dataclass(frozen=True, slots=True)
class SeenFile:
    """A file that may be a missing image."""

    folder: int  # number of its folder
    name: str  # as the disk spells it
    key: str  # the name as it is compared
    size_bytes: int
    modified_ns: int


@final
class SeenFiles:
    """The files below some folders that have the name or the size of a missing image, by number."""

    def __init__(self, wanted: Iterable[MissingImage]) -> None:
        self.files: list[SeenFile] = []
        self.folders: list[str] = []  # absolute
        self.folder_keys: list[Parts] = []  # of `folders`
        self.failures: list[FileFailure] = []  # folders that could not be read
        self.by_name: dict[tuple[str, int], list[int]] = {}  # files of a name and size
        self.by_size: dict[int, list[int]] = {}  # files of a size
        self.in_folder: dict[tuple[int, str], list[int]] = {}  # files of a name in a folder
        self.folders_at: dict[Parts, list[int]] = {}  # several where only case tells them apart
        self._hashes: dict[int, frozenset[bytes]] = {}
        wanted = list(wanted)
        self.names = {name_key(image.path.rpartition("/")[2]) for image in wanted}
        self.sizes = {image.size_bytes for image in wanted}
        self._suffixes = IMAGE_SUFFIXES | {os.path.splitext(name)[1] for name in self.names}  # noqa: PTH122

    def look_through(self, places: Sequence[Path], meter: ProgressMeter, cancel: CancelToken) -> None:
        """Keep the files below some folders; each folder is read once, by whatever links it is reached.

        Raises:
            StorageError: one of the places is no folder.
            Cancelled: `cancel` was set.
        """
        for place in places:
            if not os.path.isdir(place):  # noqa: PTH112 (a share that is gone is no folder either)
                raise StorageError("the folder is not there", found=str(place), remedy="check it or reconnect its disk")
        for folder, entries in _folders_below(places, self.failures):
            cancel.raise_if_cancelled()
            self._keep(folder, entries, meter, cancel)

    def path(self, number: int) -> Path:
        file = self.files[number]
        return Path(self.folders[file.folder], file.name)

    def found(self, number: int) -> FoundFile:
        file = self.files[number]
        return FoundFile(self.path(number), file.size_bytes, file.modified_ns)

    def has_content(self, number: int, content_hash: bytes) -> bool:
        """Whether a file has this content; it is read once."""
        return content_hash in self.hashes(number)

    def is_known(self, number: int, content_hash: bytes) -> bool:
        return content_hash in self._hashes.get(number, _NO_HASHES)

    def was_read(self, number: int) -> bool:
        return number in self._hashes

    def hashes(self, number: int) -> frozenset[bytes]:
        """The content hashes of a file; none when it cannot be read."""
        if number not in self._hashes:
            try:
                self._hashes[number] = file_hashes(self.path(number))
            except OSError:
                self._hashes[number] = _NO_HASHES
        return self._hashes[number]

    def _keep(
        self, folder: str, entries: Sequence[os.DirEntry[str]], meter: ProgressMeter, cancel: CancelToken
    ) -> None:
        number = -1
        for entry in entries:
            meter.advance()
            key = name_key(entry.name)
            if key not in self.names and os.path.splitext(key)[1] not in self._suffixes:  # noqa: PTH122
                continue
            cancel.raise_if_cancelled()
            try:
                status = entry.stat()
            except OSError:  # a link that leads nowhere
                continue
            if key not in self.names and status.st_size not in self.sizes:
                continue
            if number < 0:
                number, keys = len(self.folders), disk_folder_keys(folder)
                self.folders.append(folder)
                self.folder_keys.append(keys)
                self.folders_at.setdefault(keys, []).append(number)
            self._add(SeenFile(number, entry.name, key, status.st_size, status.st_mtime_ns))

    def _add(self, file: SeenFile) -> None:
        number = len(self.files)
        self.files.append(file)
        self.by_name.setdefault((file.key, file.size_bytes), []).append(number)
        self.by_size.setdefault(file.size_bytes, []).append(number)
        self.in_folder.setdefault((file.folder, file.key), []).append(number)


def _folders_below(
    places: Sequence[Path], failures: list[FileFailure]
) -> Iterator[tuple[str, Sequence[os.DirEntry[str]]]]:
    """Each folder with its files; links to folders come last, and only where they lead to something new."""
    seen: set[str] = set()
    waiting = [os.path.abspath(place) for place in reversed(places)]  # noqa: PTH100 (links stay)
    links: list[str] = []
    while waiting or links:
        folder = waiting.pop() if waiting else links.pop()
        real = os.path.realpath(folder)
        if real in seen:
            continue
        seen.add(real)
        files = []
        try:
            with os.scandir(folder) as scan:
                for entry in scan:
                    kind = _kind_of(entry)
                    if kind == "file":
                        files.append(entry)
                    elif kind and not entry.name.startswith("."):
                        (links if kind == "link" else waiting).append(entry.path)
        except OSError as error:
            failures.append(
                FileFailure(Path(folder), Message("the folder cannot be read: {why}", {"why": reason_of(error)}))
            )
            continue
        yield folder, files


def _kind_of(entry: os.DirEntry[str]) -> str:
    try:
        if entry.is_dir():
            return "link" if entry.is_symlink() else "folder"
        return "file" if entry.is_file() else ""
    except OSError:
        return ""
