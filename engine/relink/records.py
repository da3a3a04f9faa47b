"""Input and result of the search for moved files: plain data, for any thread."""

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import final

from engine.files import FileFailure, FoundFile
from engine.lazy_sequence import LazySequence
from engine.project import ImageId, ImageTable


@dataclass(frozen=True)
class KnownImages:
    """Snapshot of the images of a project."""

    project: Path  # the project file
    table: ImageTable  # all images
    labelled: frozenset[ImageId]


@dataclass(frozen=True, slots=True)
class MissingImage:
    """An image whose file does not exist."""

    image_id: ImageId
    path: str  # as stored
    size_bytes: int  # stored, as the next ones
    modified_ns: int
    content_hash: bytes | None  # None if it was never read


@final
class LostImages(LazySequence[MissingImage]):
    """Images without a file, by their rows in the table."""

    def __init__(self, table: ImageTable, rows: Iterable[int]) -> None:
        self._table, self._rows = table, array("q", rows)

    def __len__(self) -> int:
        return len(self._rows)

    def _at(self, place: int) -> MissingImage:
        row, table = self._rows[place], self._table
        return MissingImage(
            table.ids[row],
            table.paths[row],
            table.sizes_bytes[row],
            table.modified_ns[row],
            table.content_hashes[row],
        )

    def path(self, place: int) -> str:
        return self._table.paths[self._rows[place]]

    def size_bytes(self, place: int) -> int:
        return self._table.sizes_bytes[self._rows[place]]

    def content_hash(self, place: int) -> bytes | None:
        return self._table.content_hashes[self._rows[place]]

    def some(self, places: Iterable[int]) -> "LostImages":
        """A part of them."""
        return LostImages(self._table, (self._rows[place] for place in places))


class Way(StrEnum):
    """How an image was found."""

    PATH = "path"
    NAME = "name and size"
    CONTENT = "content"


@dataclass(frozen=True, slots=True)
class Move:
    """An image and its file."""

    image: MissingImage
    file: FoundFile
    way: Way
    is_same_content: bool  # by hash, or by size and time
    is_verified: bool = False  # by hash

    @property
    def has_changed(self) -> bool:
        return self.file.size_bytes != self.image.size_bytes


@dataclass(frozen=True, slots=True)
class Doubt:
    """An image with several candidate files."""

    image: MissingImage
    files: tuple[Path, ...]  # the first of them
    count: int


@dataclass(frozen=True, slots=True)
class FolderCheck:
    """Number of images that were found in a folder, and verified."""

    folder: Path
    images: int
    verified: int  # by content; the others by name, and by size unless they changed


@dataclass(frozen=True)
class RelinkPlan:
    """Result of a search; the project is not changed."""

    images: int = 0  # images of the project
    places: tuple[Path, ...] = ()  # searched folders
    moves: Sequence[Move] = ()  # found images
    strangers: tuple[ImageId, ...] = ()  # unlabelled images that have the file of one of them
    doubts: tuple[Doubt, ...] = ()  # ambiguous images; they are not changed
    taken: Sequence[Move] = ()  # images whose file is that of another, labelled image
    missing: Sequence[MissingImage] = ()  # images that were not found
    failures: tuple[FileFailure, ...] = ()  # folders that cannot be read
    # images with other content at their path; they are not changed
    mismatched: tuple[Move, ...] = ()
    counts: Mapping[Way, int] = field(init=False)  # moves by way
    changed: int = field(init=False)  # moves to a file of another size
    # folders of images that were found by folder, name and size, sorted
    folders: tuple[FolderCheck, ...] = field(init=False)

    def __post_init__(self) -> None:
        """Count once, since `moves` may be lazy."""
        ways, in_folder, verified, changed = Counter[Way](), Counter[Path](), Counter[Path](), 0
        for move in self.moves:
            ways[move.way] += 1
            changed += move.has_changed
            if move.way is not Way.CONTENT:
                folder = move.file.path.parent
                in_folder[folder] += 1
                verified[folder] += move.is_verified
        checks = (
            FolderCheck(folder, images, verified[folder])
            for folder, images in sorted(in_folder.items())
        )
        object.__setattr__(self, "counts", {way: ways[way] for way in Way})
        object.__setattr__(self, "changed", changed)
        object.__setattr__(self, "folders", tuple(checks))

    @property
    def is_sure(self) -> bool:
        """Whether all found files are unchanged, and no other image is removed for them."""
        return (
            bool(self.moves)
            and not self.strangers
            and all(move.is_same_content for move in self.moves)
        )

    @property
    def searched(self) -> int:
        return (
            len(self.moves)
            + len(self.doubts)
            + len(self.taken)
            + len(self.missing)
            + len(self.mismatched)
        )
