"""Projects whose images are small files of bytes, moved behind the project's back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.files import FoundFile
from engine.images.read_file import content_hash
from engine.project import ImageId, Project
from engine.relink.find import find_moved, known_images
from engine.relink.records import RelinkPlan
from tests.support.projects import new_project


@dataclass(frozen=True)
class Shelf:
    """A project and its folder.

    Attributes:
        ids: of the images, by path below the folder.
    """

    folder: Path
    project: Project
    ids: Mapping[str, ImageId]

    def find(self, place: Path | None = None) -> RelinkPlan:
        """Search missing images."""
        return find_moved(known_images(self.project), place)


def shelf(folder: Path, contents: Mapping[str, bytes], *, is_read: bool = True) -> Shelf:
    """A project of files, open for writing, with known content hashes or without."""
    folder.mkdir(parents=True, exist_ok=True)
    write_files(folder, contents)
    project = new_project(folder)
    change = project.images.add([_found(folder / name) for name in contents])
    ids = dict(zip(contents, change.images_added, strict=True))
    if is_read:
        project.images.record_scan(
            [(ids[name], content_hash(data), None) for name, data in contents.items()]
        )
    return Shelf(folder, project, ids)


def write_files(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Write files, with their folders."""
    for name, data in contents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def numbered(folder: str, count: int, *, size_bytes: int = 0) -> dict[str, bytes]:
    """Different contents of different or equal sizes."""
    return {
        f"{folder}/IMG_{number:04}.jpg": f"{folder} {number} ".encode().ljust(
            size_bytes or 100 + number, b"."
        )
        for number in range(count)
    }


def places_of(plan: RelinkPlan, folder: Path) -> dict[str, tuple[str, str]]:
    """New path and method, by stored path."""
    return {
        move.image.path: (move.file.path.relative_to(folder).as_posix(), move.way.name.lower())
        for move in plan.moves
    }


def doubts_of(plan: RelinkPlan) -> dict[str, Sequence[str]]:
    """Candidate file names of each ambiguous image."""
    return {
        doubt.image.path: sorted(path.as_posix() for path in doubt.files) for doubt in plan.doubts
    }


def _found(path: Path) -> FoundFile:
    status = path.stat()
    return FoundFile(path, status.st_size, status.st_mtime_ns)
