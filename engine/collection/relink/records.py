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
    """What a project knows of its images.

    Attributes:
        project: the project file.
        table: all images.
        labelled: images with a person's label.
    """

    project: Path
    table: ImageTable
    labelled: frozenset[ImageId]


@dataclass(frozen=True, slots=True)
class MissingImage:
    """An image whose file is not where it was.

    Attributes:
        path: as the project stores it.
        size_bytes, modified_ns: of the file when it was added.
        content_hash: None when it was never read.
    """

    image_id: ImageId
    path: str
    size_bytes: int
    modified_ns: int
    content_hash: bytes | None


class Way(StrEnum):
    """By what an image was found again."""

    PATH = "path"
    NAME = "name and size"
    CONTENT = "content"


@dataclass(frozen=True, slots=True)
class Move:
    """An image and the file that is its own.

    Attributes:
        image: as it was missed.
        file: where it is now.
        way: how it was found.
        is_same_content: whether that is known, from a hash or from size and time.
        is_verified: whether the file was read and holds what the image held.
    """

    image: MissingImage
    file: FoundFile
    way: Way
    is_same_content: bool
    is_verified: bool = False

    @property
    def has_changed(self) -> bool:
        """Whether the file is surely no longer what it was, though it lies where its folder was moved to."""
        return self.file.size_bytes != self.image.size_bytes


@dataclass(frozen=True, slots=True)
class Doubt:
    """An image that several files may be.

    Attributes:
        files: some of them.
        count: how many there are.
    """

    image: MissingImage
    files: tuple[Path, ...]
    count: int


@dataclass(frozen=True, slots=True)
class FolderCheck:
    """How sure the images are that were found in a folder.

    Attributes:
        folder: where they are now.
        images: how many were found there.
        verified: how many of them were read and hold what they held; the others have the name, and the size unless
            they changed.
    """

    folder: Path
    images: int
    verified: int


@dataclass(frozen=True)
class RelinkPlan:
    """What would be found again; nothing has been changed.

    Attributes:
        images: images of the project.
        places: the folders that were looked through.
        moves: images that were found.
        strangers: images of the project that hold the file of one of them and have no label: it was added as a new one.
        doubts: images that several files may be; they stay as they are.
        taken: images whose file belongs to another image of the project that has a label.
        missing: images that were not found.
        failures: folders that could not be looked through.
        mismatched: images whose place holds a file of their name and size with another content; they stay as they are.
    """

    images: int = 0
    places: tuple[Path, ...] = ()
    moves: tuple[Move, ...] = ()
    strangers: tuple[ImageId, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    taken: tuple[Move, ...] = ()
    missing: tuple[MissingImage, ...] = ()
    failures: tuple[FileFailure, ...] = ()
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
