"""Index of the candidate files below some folders, by folder, name and size."""

import os
import unicodedata
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import final

import numpy as np

from engine.errors import StorageError, reason_of
from engine.events import CancelToken, ProgressMeter
from engine.files import FileFailure, FoundFiles
from engine.images.kinds import IMAGE_SUFFIXES
from engine.images.read_file import HASH_BYTES
from engine.images.reduced_photo import photo_hashes
from engine.relink.records import LostImages
from engine.texts import Message

Parts = tuple[str, ...]


def name_key(name: str) -> str:
    """A name normalised for comparison: macOS decomposes accents, most systems ignore case."""
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def folder_keys(folder: str) -> Parts:
    """Normalised parts of a folder, also of another system (`D:/photos`, `//server/share`)."""
    return tuple(name_key(part) for part in folder.split("/") if part not in ("", "."))


def disk_folder_keys(folder: str) -> Parts:
    """Normalised parts of an absolute path on this computer."""
    return folder_keys(folder.replace(os.sep, "/"))


def common_tail(first: Parts, second: Parts) -> int:
    """Length of the common suffix of two paths, in parts."""
    length = 0
    for one, other in zip(reversed(first), reversed(second), strict=False):
        if one != other:
            break
        length += 1
    return length


@final
class NumbersByKey:
    """Multimap from keys to numbers from 0, in 16 bytes each.

    Keys are compared by 64-bit hashes; two keys collide with a probability of 2^-64.
    """

    def __init__(self, keys: Iterable[Hashable] = ()) -> None:
        hashes = np.fromiter(map(hash, keys), dtype=np.int64)
        order = np.argsort(hashes, kind="stable").astype(np.int64)
        self._hashes, self._numbers = (
            array("q", hashes[order].tobytes()),
            array("q", order.tobytes()),
        )

    def get(self, key: Hashable) -> Sequence[int]:
        """The numbers of a key, ascending."""
        wanted = hash(key)
        start = bisect_left(self._hashes, wanted)
        return self._numbers[start : bisect_right(self._hashes, wanted, start)]

    def groups(self) -> Iterator[Sequence[int]]:
        """The numbers of each key."""
        start = 0
        while start < len(self._hashes):
            end = bisect_right(self._hashes, self._hashes[start], start)
            yield self._numbers[start:end]
            start = end


@final
class SeenFiles:
    """Files with the name or the size of a missing image, by number."""

    def __init__(self, wanted: LostImages) -> None:
        self.files = FoundFiles()
        self.keys: list[str] = []  # normalised names of `files`
        self.folder_keys: list[Parts] = []  # of the folders of `files`
        self.failures: list[FileFailure] = []  # folders that could not be read
        self.by_name = NumbersByKey()  # files of a name and size
        self.by_size = NumbersByKey()  # files of a size
        self.in_folder = NumbersByKey()  # files of a name in a folder
        self.folders_at: dict[Parts, list[int]] = {}  # several if they differ by case only
        # normalised names of the missing images
        self.wanted = [
            name_key(wanted.path(place).rpartition("/")[2]) for place in range(len(wanted))
        ]
        self._names = {name: name for name in self.wanted}
        self._sizes = {wanted.size_bytes(place) for place in range(len(wanted))}
        own_suffixes = {os.path.splitext(name)[1] for name in self._names}  # noqa: PTH122
        self._suffixes = IMAGE_SUFFIXES | own_suffixes
        # concatenated content hashes of each file; None before it was read
        self._hashes: list[bytes | None] = []

    def look_through(
        self, places: Sequence[Path], meter: ProgressMeter, cancel: CancelToken
    ) -> None:
        """Index the files below some folders; each folder is read once, despite links.

        Raises:
            StorageError: one of the places is not a folder.
            Cancelled: `cancel` was set.
        """
        for place in places:
            if not os.path.isdir(place):  # noqa: PTH112 (never raises)
                raise StorageError(
                    "the folder is not there",
                    found=str(place),
                    remedy="check it or reconnect its disk",
                )
        for folder, entries in _folders_below(places, self.failures):
            cancel.raise_if_cancelled()
            self._keep(folder, entries, meter, cancel)
        self.by_name = NumbersByKey(zip(self.keys, self.files.sizes_bytes, strict=True))
        self.by_size = NumbersByKey(self.files.sizes_bytes)
        self.in_folder = NumbersByKey(zip(self.files.folder_of, self.keys, strict=True))
        self._hashes = [None] * len(self.files)

    def has_content(self, number: int, content_hash: bytes) -> bool:
        """Whether a file has this content hash; it is read once."""
        return content_hash in self.hashes(number)

    def is_known(self, number: int, content_hash: bytes) -> bool:
        return self.was_read(number) and self.has_content(number, content_hash)

    def was_read(self, number: int) -> bool:
        return self._hashes[number] is not None

    def hashes(self, number: int) -> frozenset[bytes]:
        """The content hashes of a file, of all versions; empty if it cannot be read."""
        joined = self._hashes[number]
        if joined is None:
            joined = self._hashes[number] = self._read(number)
        return frozenset(
            joined[start : start + HASH_BYTES] for start in range(0, len(joined), HASH_BYTES)
        )

    def _read(self, number: int) -> bytes:
        with suppress(OSError):
            return b"".join(photo_hashes(self.files[number].path))
        return b""

    def _keep(
        self,
        folder: str,
        entries: Sequence[os.DirEntry[str]],
        meter: ProgressMeter,
        cancel: CancelToken,
    ) -> None:
        place: Path | None = None
        for entry in entries:
            meter.advance()
            key = name_key(entry.name)
            suffix = os.path.splitext(key)[1]  # noqa: PTH122 (text, not a path)
            if key not in self._names and suffix not in self._suffixes:
                continue
            cancel.raise_if_cancelled()
            try:
                status = entry.stat()
            except OSError:  # a dangling link
                continue
            if key not in self._names and status.st_size not in self._sizes:
                continue
            if place is None:
                place, keys = Path(folder), disk_folder_keys(folder)
                self.folders_at.setdefault(keys, []).append(len(self.folder_keys))
                self.folder_keys.append(keys)
            key = self._names.get(key, key)  # one string object for all files of a name
            self.files.add(
                place, key if entry.name == key else entry.name, status.st_size, status.st_mtime_ns
            )
            self.keys.append(key)


def _folders_below(
    places: Sequence[Path], failures: list[FileFailure]
) -> Iterator[tuple[str, Sequence[os.DirEntry[str]]]]:
    """Each folder with its files; links to folders last, unless their target was listed."""
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
                FileFailure(
                    Path(folder),
                    Message("the folder cannot be read: {why}", {"why": reason_of(error)}),
                )
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
