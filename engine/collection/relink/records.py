"""What finding moved images takes and gives: plain data, so that it can run on any thread."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from engine.files import FileFailure, FoundFile
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
    moves: tuple[Move, ...] = ()  # images that were found
    strangers: tuple[ImageId, ...] = ()  # unlabelled images of the project whose file is that of one of them
    doubts: tuple[Doubt, ...] = ()  # images that several files may be; they stay as they are
    taken: tuple[Move, ...] = ()  # images whose file belongs to another image of the project that has a label
    missing: tuple[MissingImage, ...] = ()  # images that were not found
    failures: tuple[FileFailure, ...] = ()  # folders that could not be looked through
    mismatched: tuple[Move, ...] = ()  # images in whose place is a file of other content; they stay as they are

    @property
    def searched(self) -> int:
        return len(self.moves) + len(self.doubts) + len(self.taken) + len(self.missing) + len(self.mismatched)

    @property
    def counts(self) -> Mapping[Way, int]:
        found = Counter(move.way for move in self.moves)
        return {way: found[way] for way in Way}

    @property
    def folders(self) -> tuple[FolderCheck, ...]:
        """Of images found by folder, name and size, in the order of their new places."""
        moves = [move for move in self.moves if move.way is not Way.CONTENT]
        found = Counter(move.file.path.parent for move in moves)
        verified = Counter(move.file.path.parent for move in moves if move.is_verified)
        return tuple(FolderCheck(folder, images, verified[folder]) for folder, images in sorted(found.items()))

    @property
    def changed(self) -> int:
        return sum(move.has_changed for move in self.moves)
