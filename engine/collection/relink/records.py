"""What finding moved images takes and gives: plain data, so that it can run on any thread."""

from collections import Counter, defaultdict
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
    # size_bytes, modified_ns: of the file when it was added
    size_bytes: int
    modified_ns: int
    content_hash: bytes | None  # None when it was never read


class Way(StrEnum):
    """By what an image was found again."""

    PATH = "path"
    NAME = "name and size"
    CONTENT = "content"


@dataclass(frozen=True, slots=True)
class Move:
    """An image and the file that is its own."""

    image: MissingImage  # as it was missed
    file: FoundFile  # where it is now
    way: Way  # how it was found
    is_same_content: bool  # whether that is known, from a hash or from size and time
    is_verified: bool = False  # whether the file was read and holds what the image held

    @property
    def has_changed(self) -> bool:
        """Whether the file is surely no longer what it was, though it lies where its folder was moved to."""
        return self.file.size_bytes != self.image.size_bytes


@dataclass(frozen=True, slots=True)
class Doubt:
    """An image that several files may be."""

    image: MissingImage
    files: tuple[Path, ...]  # some of them
    count: int  # how many there are


@dataclass(frozen=True, slots=True)
class FolderCheck:
    """How sure the images are that were found in a folder."""

    folder: Path  # where they are now
    images: int  # how many were found there
    # how many of them were read and hold what they held; the others have the name, and the size unless they changed
    verified: int


@dataclass(frozen=True)
class RelinkPlan:
    """What would be found again; nothing has been changed."""

    images: int = 0  # images of the project
    places: tuple[Path, ...] = ()  # the folders that were looked through
    moves: tuple[Move, ...] = ()  # images that were found
    # images of the project that hold the file of one of them and have no label: it was added as a new one
    strangers: tuple[ImageId, ...] = ()
    doubts: tuple[Doubt, ...] = ()  # images that several files may be; they stay as they are
    taken: tuple[Move, ...] = ()  # images whose file belongs to another image of the project that has a label
    missing: tuple[MissingImage, ...] = ()  # images that were not found
    failures: tuple[FileFailure, ...] = ()  # folders that could not be looked through
    # images whose place holds a file of their name and size with another content; they stay as they are
    mismatched: tuple[Move, ...] = ()

    @property
    def searched(self) -> int:
        """How many images were not where they were."""
        return len(self.moves) + len(self.doubts) + len(self.taken) + len(self.missing) + len(self.mismatched)

    @property
    def counts(self) -> Mapping[Way, int]:
        """How many images were found by which way."""
        found = Counter(move.way for move in self.moves)
        return {way: found[way] for way in Way}

    @property
    def folders(self) -> tuple[FolderCheck, ...]:
        """How sure those are that were found by folder, name and size; folders in the order of their new places."""
        moves: defaultdict[Path, list[Move]] = defaultdict(list)
        for move in self.moves:
            if move.way is Way.CONTENT:
                continue
            moves[move.file.path.parent].append(move)
        return tuple(
            FolderCheck(folder, len(each), sum(move.is_verified for move in each))
            for folder, each in sorted(moves.items())
        )

    @property
    def changed(self) -> int:
        """How many of the found files are no longer what they were."""
        return sum(move.has_changed for move in self.moves)
