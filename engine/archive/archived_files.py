"""Files of a project that go into an archive, with their names there, and reduced photos."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from engine.archive.layout import portable_paths
from engine.errors import ImageError
from engine.file_parts import WHOLE_FILE, file_part
from engine.files import FileFailure, FoundFile, PhotoDetails
from engine.images.opened_file import OpenedFile
from engine.images.read_file import file_hashes
from engine.images.reduced_photo import REDUCED_SIDE, marked_as_reduced
from engine.images.thumbnail_cache import encode_thumbnail
from engine.project import ImageId, Project


@dataclass(frozen=True)
class ArchivedFile:
    """A file of a project.

    Attributes:
        source: absolute path.
        path: in the project.
        name: in the archive, and path in the copy of the project.
        size_bytes, modified_ns: as stored.
        known_hash: content hash as stored; None before it was read.
        image_ids: of all images in the file.
        has_parts: whether it has pages or frames, so that it cannot be reduced.
    """

    source: Path
    path: str
    name: str
    size_bytes: int
    modified_ns: int
    known_hash: bytes | None
    image_ids: list[ImageId] = field(default_factory=list)
    has_parts: bool = False

    @property
    def is_moved(self) -> bool:
        """Whether it has another path in the copy of the project."""
        return self.name != self.path


@dataclass(frozen=True)
class ReducedFile:
    """A reduced photo; without data if the whole file is archived, or nothing.

    Attributes:
        photo_hash: content hash of the photo.
        details: metadata of the photo.
        failure: the reason if the photo cannot be read.
    """

    file: ArchivedFile
    data: bytes = b""
    photo_hash: bytes = b""
    details: PhotoDetails | None = None
    failure: FileFailure | None = None


def archived_files(project: Project, project_name: str) -> list[ArchivedFile]:
    """The files of all images, each once.

    Args:
        project_name: of the project file in the archive.
    """
    table, folder = project.images.table(), project.path.parent
    names = portable_paths(table.paths, folder, project_name)
    files: dict[str, ArchivedFile] = {}
    parts: dict[str, list[str]] = {}
    for place, path in enumerate(table.paths):
        if path not in files:
            files[path] = ArchivedFile(
                folder / path,
                path,
                names[path],
                table.sizes_bytes[place],
                table.modified_ns[place],
                table.content_hashes[place],
            )
        files[path].image_ids.append(table.ids[place])
        parts.setdefault(path, []).append(table.parts[place])
    return [_with_parts(file, parts[file.path]) for file in files.values()]


def _with_parts(file: ArchivedFile, parts: list[str]) -> ArchivedFile:
    has_parts = any(file_part(part).picture != WHOLE_FILE for part in parts)
    return replace(file, has_parts=has_parts)


def reduced_file(file: ArchivedFile) -> ReducedFile:
    """Reduce a photo; without data if it is small already, or has pages or frames."""
    if file.has_parts or FoundFile.at(file.source) is None:
        return ReducedFile(file)
    try:
        with OpenedFile(file.source, WHOLE_FILE) as opened:
            picture = opened.decoder(WHOLE_FILE, REDUCED_SIDE).shown(REDUCED_SIDE, None)
            photo_hash = _hash_of(file, opened.content_hash)
            data = marked_as_reduced(encode_thumbnail(picture), photo_hash)
            if len(data) >= file.source.stat().st_size:
                return ReducedFile(file)
            return ReducedFile(file, data, photo_hash, opened.details(WHOLE_FILE))
    except ImageError as error:
        return ReducedFile(file, failure=FileFailure(file.source, error.message))
    except OSError as error:
        return ReducedFile(file, failure=FileFailure(file.source, str(error.strerror or error)))


def _hash_of(file: ArchivedFile, present: bytes) -> bytes:
    """The stored content hash, also of earlier hash versions; else the current one."""
    known = file.known_hash
    if known is None or known == present:
        return present
    return known if known in file_hashes(file.source) else present


def moved_files(files: list[ArchivedFile], folder: Path) -> Iterator[tuple[ImageId, FoundFile]]:
    """Files with another path in the copy: an image of each, and its new file."""
    for file in files:
        if file.is_moved:
            yield (
                file.image_ids[0],
                FoundFile(folder / file.name, file.size_bytes, file.modified_ns),
            )
