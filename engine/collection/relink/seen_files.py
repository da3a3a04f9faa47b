"""Looks through folders once and keeps what may be a missing image, found again by folder, name and size."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

from engine.collection.relink.path_keys import Parts, disk_folder_keys, name_key
from engine.collection.relink.records import MissingImage
from engine.errors import StorageError
from engine.events import CancelToken, ProgressMeter
from engine.files import FileFailure, FoundFile
from engine.images.kinds import IMAGE_SUFFIXES
from engine.images.read_file import file_hashes

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
    """The files below some folders that have the name or the size of a missing image. Files are named by number.

    Attributes:
        files: all that were kept.
        folders: absolute paths of their folders.
        folder_keys: the parts of those, as they are compared.
        failures: folders that could not be looked through.
        by_name: numbers of the files with a name and size.
        by_size: numbers of the files with a size.
        in_folder: numbers of the files with a name in a folder.
        folders_at: numbers of the folders at a path, which are several where only case tells them apart.
    """

    def __init__(self, wanted: Iterable[MissingImage]) -> None:
        self.files: list[SeenFile] = []
        self.folders: list[str] = []
        self.folder_keys: list[Parts] = []
        self.failures: list[FileFailure] = []
        self.by_name: dict[tuple[str, int], list[int]] = {}
        self.by_size: dict[int, list[int]] = {}
        self.in_folder: dict[tuple[int, str], list[int]] = {}
        self.folders_at: dict[Parts, list[int]] = {}
        self._hashes: dict[int, frozenset[bytes]] = {}
        wanted = list(wanted)
        self.names = {name_key(image.path.rpartition("/")[2]) for image in wanted}
        self.sizes = {image.size_bytes for image in wanted}
        self._suffixes = IMAGE_SUFFIXES | {os.path.splitext(name)[1] for name in self.names}  # noqa: PTH122

    def look_through(self, places: Sequence[Path], meter: ProgressMeter, cancel: CancelToken) -> None:
        """Keep the files below some folders; each folder is looked at once, by whatever links it is reached.

        Raises:
            StorageError: one of the places is no folder.
            Cancelled: asked to stop.
        """
        for place in places:
            if not os.path.isdir(place):  # noqa: PTH112 (a share that is gone is no folder either)
                raise StorageError("the folder is not there", found=str(place), remedy="check it or reconnect its disk")
        for folder, entries in _folders_below(places, self.failures):
            cancel.raise_if_cancelled()
            self._keep(folder, entries, meter, cancel)

    def path(self, number: int) -> Path:
        """Where a file is."""
        file = self.files[number]
        return Path(self.folders[file.folder], file.name)

    def found(self, number: int) -> FoundFile:
        """A file as projects take it."""
        file = self.files[number]
        return FoundFile(self.path(number), file.size_bytes, file.modified_ns)

    def has_content(self, number: int, content_hash: bytes) -> bool:
        """Whether a file has this content; it is read the first time it is asked for."""
        return content_hash in self.hashes(number)

    def is_known(self, number: int, content_hash: bytes) -> bool:
        """Whether a file was read and has this content."""
        return content_hash in self._hashes.get(number, _NO_HASHES)

    def was_read(self, number: int) -> bool:
        """Whether a file was read before."""
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
                number = self._add_folder(folder)
            self._add(SeenFile(number, entry.name, key, status.st_size, status.st_mtime_ns))

    def _add_folder(self, folder: str) -> int:
        number = len(self.folders)
        keys = disk_folder_keys(folder)
        self.folders.append(folder)
        self.folder_keys.append(keys)
        self.folders_at.setdefault(keys, []).append(number)
        return number

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
            failures.append(FileFailure(Path(folder), f"the folder cannot be read: {error.strerror}"))
            continue
        yield folder, files


def _kind_of(entry: os.DirEntry[str]) -> str:
    try:
        if entry.is_dir():
            return "link" if entry.is_symlink() else "folder"
        return "file" if entry.is_file() else ""
    except OSError:
        return ""


def names_by_count(files: Iterable[SeenFile]) -> Counter[int]:
    """How many different names the files of each size have: a size that many share tells little."""
    return Counter(size for _, size in {(file.key, file.size_bytes) for file in files})
