"""How far a project is, read from its file without opening it: for a list of projects."""

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from engine.file_parts import WHOLE
from engine.project.connection import Connection
from engine.project.file.on_disk import bare_file, check_header
from engine.project.schema import SCHEMA_VERSION

MOST_FACES = 12
"""Images among which one may have a thumbnail. Chosen: a look for each in a cache takes no time."""
_PARTS_SINCE = 12  # version of the file from which an image has a part


@dataclass(frozen=True, slots=True)
class FaceImage:
    """A preview image of a project, in the state in which it was added."""

    path: Path
    part: str
    size_bytes: int
    modified_ns: int


@dataclass(frozen=True, slots=True)
class ProjectOverview:
    """A project file from the outside."""

    images: int
    labelled: int
    changed_at: datetime  # of the file
    faces: tuple[FaceImage, ...]  # the latest labelled images, else the first


def read_overview(path: Path) -> ProjectOverview:
    """Read a project file without a lock or a log, and without changes.

    Raises:
        ProjectMissingError, ProjectDamagedError, ProjectTooNewError, StorageError: unreadable.
    """
    check_header(path)
    changed_at = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    with bare_file(path.absolute()) as connection:
        (images,) = connection.row("SELECT count(*) FROM image") or (0,)
        (labelled,) = connection.row("SELECT count(*) FROM label") or (0,)
        return ProjectOverview(
            int(images), int(labelled), changed_at, _faces(connection, path.absolute().parent)
        )


def _faces(connection: Connection, folder: Path) -> tuple[FaceImage, ...]:
    (version,) = connection.row("PRAGMA user_version") or (SCHEMA_VERSION,)
    part = "part" if version >= _PARTS_SINCE else f"'{WHOLE}'"
    columns = f"path, {part}, size_bytes, modified_ns"
    rows = connection.rows(
        f"SELECT {columns} FROM image JOIN label USING (image_id)"  # noqa: S608
        f" ORDER BY labelled_at DESC LIMIT {MOST_FACES}"
    ) or connection.rows(
        f"SELECT {columns} FROM image ORDER BY image_id LIMIT {MOST_FACES}"  # noqa: S608
    )
    return tuple(
        FaceImage(folder / os.fsdecode(path), part, size, modified)
        for path, part, size, modified in rows
    )
