"""Contents of a project archive and its target folder, read on a thread. No Qt."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from engine.archive.layout import ArchiveFacts
from engine.archive.unpack import archive_facts, free_folder
from engine.errors import ProtoleafError
from engine.files import shown
from engine.full_disk import as_full_disk
from engine.new_folder import check_is_free


@dataclass(frozen=True)
class CopyLook:
    """Preview of unpacking an archive.

    Attributes:
        folder: the new folder.
        size_bytes: total size after unpacking.
        free_bytes: on the folder's disk; None if unknown.
        problem: why the folder cannot be used; "" if it can.
    """

    archive: Path
    facts: ArchiveFacts
    folder: Path
    size_bytes: int
    free_bytes: int | None
    problem: str

    @property
    def has_room(self) -> bool:
        return self.free_bytes is None or self.size_bytes < self.free_bytes


def look_at_copy(archive: Path, folder: Path | None) -> CopyLook:
    """Preview unpacking; without a folder, a free name next to the archive is chosen.

    Raises:
        FormatError, StorageError: not a project archive, or it cannot be read.
    """
    facts, size_bytes = archive_facts(archive)
    target = folder or free_folder(archive)
    problem = ""
    try:
        check_is_free(target)
    except (ProtoleafError, OSError, ValueError) as error:
        problem = shown(str(as_full_disk(error)))
    return CopyLook(archive, facts, target, size_bytes, _free_bytes(target), problem)


def _free_bytes(folder: Path) -> int | None:
    try:
        return shutil.disk_usage(folder.parent).free
    except OSError:
        return None
