"""Folder of the backups of a project: in the user's data folder, or chosen for the project.

The choice is stored on this computer and not in the project file: a folder on another disk means
nothing where the file is copied to.
"""

import json
import os
import re
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from pathlib import Path

from engine.config import PROJECT_SUFFIX, backups_folder
from engine.errors import StorageError
from engine.full_disk import storage_error
from engine.new_file import DRAFT_SUFFIX, create_file, private_folder, write_file

_TIME = "%Y-%m-%d %H-%M-%S"
_PATTERN = re.compile(
    r"(?P<project>.+) (?P<time>\d{4}-\d\d-\d\d \d\d-\d\d-\d\d) \((?P<reason>[^()]+)\)(?: \d+)?"
    + re.escape(PROJECT_SUFFIX),
    re.DOTALL,
)
_LONGEST_PROJECT_BYTES = 120  # file systems take 255 for the whole name


class BackupReason(Enum):
    """Why a backup was made; the value is part of its name."""

    QUARTER_HOUR = "every 15 minutes"
    DAY = "once a day"
    ASKED = "on request"
    MIGRATION = "before an update of the file"
    MERGE = "before merging a class list"
    IMPORT = "before importing labels"
    PROJECT = "before merging a project"
    MODEL = "before changing the model"
    REMOVAL = "before removing"
    RESTORE = "before restoring"

    @property
    def is_before_action(self) -> bool:
        """Whether it was made before something that changes much."""
        return self not in (BackupReason.QUARTER_HOUR, BackupReason.DAY, BackupReason.ASKED)


@dataclass(frozen=True)
class BackupName:
    """The parts of a backup's name; `when` has a time zone."""

    project: str
    when: datetime
    reason: BackupReason


def project_name(project: Path) -> str:
    """Name of a project in file names of its backups: without suffix, shortened if needed."""
    name = project.name.removesuffix(PROJECT_SUFFIX)
    while len(os.fsencode(name)) > _LONGEST_PROJECT_BYTES:
        name = name[:-1]
    return name.rstrip()


def file_name(name: BackupName, number: int = 1) -> str:
    """`birds 2026-01-02 03-04-05 (once a day).protoleaf` in local time; numbered if taken."""
    more = f" {number}" if number > 1 else ""
    time = name.when.astimezone().strftime(_TIME)
    return f"{name.project} {time} ({name.reason.value}){more}{PROJECT_SUFFIX}"


def read_name(path: Path) -> BackupName | None:
    """Parse a backup's name; None for another one."""
    found = _PATTERN.fullmatch(path.name)
    if found is None:
        return None
    try:
        when = datetime.strptime(found["time"], _TIME).astimezone()
        return BackupName(found["project"], when, BackupReason(found["reason"]))
    except (ValueError, OverflowError, OSError):  # a time or a reason that never was
        return None


_CHOICES = "folders.json"
ID_LETTERS = 8


def folder_for(project: Path, project_id: str) -> Path:
    """Folder of new backups of a project: `birds 0f1e2d3c` in the chosen or the default folder."""
    root = chosen_folder(project_id) or backups_folder()
    return root / f"{project_name(project)} {project_id[:ID_LETTERS]}"


def make_folder(project: Path, project_id: str) -> Path:
    """Make the folder for new backups of a project if it is missing.

    Raises:
        StorageError: the chosen folder is missing, or the folder cannot be made.
    """
    chosen = chosen_folder(project_id)
    if chosen is not None and not chosen.is_dir():
        raise _gone(chosen)
    folder = folder_for(project, project_id)
    try:
        return private_folder(folder)
    except OSError as error:
        raise storage_error(
            folder, error, "the folder for backups cannot be made", _REMEDY
        ) from error


def folders_of(project: Path, project_id: str | None) -> list[Path]:
    """Folders with backups of a project, also under its former names.

    Without an id, as for a damaged file, the project's name decides.
    """
    choices = _choices()
    roots = [
        backups_folder(),
        *(choices.values() if project_id is None else filter(None, [chosen_folder(project_id)])),
    ]
    return [
        folder for root in dict.fromkeys(roots) for folder in _folders_in(root, project, project_id)
    ]


def chosen_folder(project_id: str) -> Path | None:
    """The folder chosen for this project on this computer; None for the default."""
    return _choices().get(project_id)


def choose_folder(project_id: str, folder: Path | None) -> None:
    """Choose a folder for backups of a project, None for the default; existing ones stay.

    Raises:
        StorageError: the folder is missing or not writable, or the choice cannot be stored.
    """
    if folder is not None:
        folder = folder.absolute()
        check_takes_files(folder)
    choices = {key: str(path) for key, path in _choices().items() if key != project_id}
    if folder is not None:
        choices[project_id] = str(folder)
    file = backups_folder() / _CHOICES
    try:
        private_folder(file.parent)
        write_file(file, json.dumps(choices, indent=1))
    except OSError as error:
        raise storage_error(
            file, error, "the choice of the folder cannot be saved", _REMEDY
        ) from error


def check_takes_files(folder: Path) -> None:
    """Refuse a folder in which no file can be made.

    Raises:
        StorageError: it is not there or cannot be written to.
    """
    if not folder.is_dir():
        raise _gone(folder)
    try:
        probe = folder / f".{uuid.uuid4().hex}{DRAFT_SUFFIX}"
        create_file(probe).close()
        probe.unlink()
    except OSError as error:
        raise storage_error(
            folder, error, "backups cannot be written to this folder", _REMEDY
        ) from error


_REMEDY = "choose another folder for backups"


def _gone(folder: Path) -> StorageError:
    return StorageError(
        "the folder for backups is missing",
        found=str(folder),
        remedy="connect its drive, or choose another folder for backups",
    )


def _folders_in(root: Path, project: Path, project_id: str | None) -> Iterator[Path]:
    start = f"{project_name(project)} "
    try:
        entries = sorted(root.iterdir())
    except OSError:
        return
    for entry in entries:
        if not entry.is_dir():
            continue
        ending = entry.name.rpartition(" ")[2]
        if project_id is None:
            is_ours = entry.name == f"{start}{ending}" and len(ending) == ID_LETTERS
        else:
            is_ours = ending == project_id[:ID_LETTERS]
        if is_ours:
            yield entry


def _choices() -> Mapping[str, Path]:
    try:
        read = json.loads((backups_folder() / _CHOICES).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(read, dict):
        return {}
    return {str(key): Path(value) for key, value in read.items() if isinstance(value, str)}
