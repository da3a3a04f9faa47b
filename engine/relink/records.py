"""What finding moved images takes and gives: plain data, so that it can run on any thread."""

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
    """What a project knows of its images."""

    project: Path  # the project file
    table: ImageTable  # all images
    labelled: frozenset[ImageId]  # images with a person's label


@dataclass(frozen=True, slots=True)
class MissingImage:
    """An image whose file is not where it was."""

    image_id: ImageId
    path: str  # as the project stores it
    size_bytes: int  # when it was added, as the next one
    modified_ns: int
    content_hash: bytes | None  # None when it was never read


@final
class LostImages(LazySequence[MissingImage]):
    """Images of a project whose files are not where they were, by their rows in its table."""

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
        """Those at some places."""
        return LostImages(self._table, (self._rows[place] for place in places))


class Way(StrEnum):
    """How an image was found again."""

    PATH = "path"
    NAME = "name and size"
    CONTENT = "content"


@dataclass(frozen=True, slots=True)
class Move:
    """An image and the file that is its own."""

    image: MissingImage
    file: FoundFile  # where it is now
    way: Way
    is_same_content: bool  # known by a hash, or by size and time
    is_verified: bool = False  # whether the file was read and has the image's content

    @property
    def has_changed(self) -> bool:
        return self.file.size_bytes != self.image.size_bytes


@dataclass(frozen=True, slots=True)
class Doubt:
    """An image that several files may be."""

    image: MissingImage
    files: tuple[Path, ...]  # some of them
    count: int  # how many there are


@dataclass(frozen=True, slots=True)
class FolderCheck:
    """How many images found in a folder are verified."""

    folder: Path  # where they are now
    images: int
    verified: int  # that were read and have their content; the others have the name, and the size unless they changed


@dataclass(frozen=True)
class RelinkPlan:
    """What was found; nothing has been changed."""

    images: int = 0  # images of the project
    places: tuple[Path, ...] = ()  # the folders that were looked through
    moves: Sequence[Move] = ()  # images that were found
    strangers: tuple[
        ImageId, ...
    ] = ()  # unlabelled images of the project whose file is that of one of them
    doubts: tuple[Doubt, ...] = ()  # images that several files may be; they stay as they are
    taken: Sequence[
        Move
    ] = ()  # images whose file belongs to another image of the project that has a label
    missing: Sequence[MissingImage] = ()  # images that were not found
    failures: tuple[FileFailure, ...] = ()  # folders that could not be looked through
    mismatched: tuple[
        Move, ...
    ] = ()  # images in whose place is a file of other content; they stay as they are
    counts: Mapping[Way, int] = field(init=False)  # moves by way
    changed: int = field(init=False)  # moves to a file of another size
    # folders of images found by folder, name and size, in the order of their new places
    folders: tuple[FolderCheck, ...] = field(init=False)

    def __post_init__(self) -> None:
        """Count once, where the plan is made: `moves` may make each of them when it is read."""
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
        """Whether every file that was found is the image as it was, and no other image has to go for it."""
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
