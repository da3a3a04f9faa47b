"""Which project was last seen at each path, and which backups were taken of it there.

Needed when a file is too damaged to be identified. One small file per path, so that two programs
never write to the same one; it is optional: a missing, damaged or unwritable one causes no error.
"""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from blake3 import blake3

from engine.config import backups_folder
from engine.files import read_regular
from engine.new_file import private_folder, write_file
from engine.new_folder import is_in_scratch
from engine.project.file.on_disk import identity_of

_RECORDS = "index"  # folders among the backups
_LISTS = "lists"  # as displayed
_MOST_BYTES = 1_000_000  # of a record: no more is read
_MOST_RECORDS = 1_000  # from so many on, those of which nothing is left go
_KEY_BYTES = 16  # of the digest of a path, which is the name of its record


@dataclass(frozen=True)
class PathRecord:
    """Facts about the path of a project file, as it was opened last."""

    path: Path
    project_id: str
    file_number: int = 0  # another number is another file
    # backups of what was there, by `backup_key`, in the order in which they were made
    taken: tuple[str, ...] = ()


@dataclass(frozen=True)
class BackupIndex:
    """All records, as they were when they were read."""

    records: tuple[PathRecord, ...] = ()

    @cached_property
    def project_ids(self) -> frozenset[str]:
        """Every project that was seen on this computer."""
        return frozenset(record.project_id for record in self.records)

    @cached_property
    def _path_by_backup(self) -> Mapping[str, Path]:
        return {key: record.path for record in self.records for key in record.taken}

    def record_of(self, project: Path) -> PathRecord | None:
        """Facts about a path."""
        whole = _whole(project)
        return next((record for record in self.records if record.path == whole), None)

    def taken_of(self, backup: Path) -> Path | None:
        """The path that a backup was taken of, if known."""
        return self._path_by_backup.get(backup_key(backup))

    def paths_of(self, project_id: str) -> list[Path]:
        """Where a project was seen."""
        return [record.path for record in self.records if record.project_id == project_id]


def backup_key(backup: Path) -> str:
    """Key of a backup in the index: its folder and name, without the root."""
    return f"{backup.parent.name}/{backup.name}"


def read_index() -> BackupIndex:
    """Read all records but damaged ones."""
    with suppress(OSError):
        files = sorted((backups_folder() / _RECORDS).glob("*.json"))
        return BackupIndex(
            tuple(record for file in files if (record := _record_in(file)) is not None)
        )
    return BackupIndex()


def note_opening(project: Path, project_id: str, file_number: int | None = None) -> None:
    """Record which project was opened at a path; the inode is by default that of the file now."""
    if project.is_relative_to(backups_folder()) or is_in_scratch(project):
        return  # a look into a backup, or at a copy that goes again
    number = file_number_of(project) if file_number is None else file_number
    _change(
        project,
        lambda record: replace(record, project_id=project_id, file_number=number),
        project_id,
    )


def note_backup(project: Path, project_id: str, backup: Path) -> None:
    """Remember of which path a backup was taken."""
    there = {backup_key(backup)}
    with suppress(OSError):
        there |= set(map(backup_key, backup.parent.iterdir()))

    def added(record: PathRecord) -> PathRecord:
        kept = [
            key
            for key in record.taken
            if key in there or not key.startswith(f"{backup.parent.name}/")
        ]
        return replace(
            record, taken=(*(key for key in kept if key != backup_key(backup)), backup_key(backup))
        )

    _change(project, added, project_id)


def note_list(project: Path, shown: Sequence[Path]) -> None:
    """Store the displayed list of backups, to which chosen numbers refer."""
    _write(_LISTS, project, [backup_key(path) for path in shown])


def shown_list(project: Path) -> tuple[str, ...] | None:
    """The list displayed last, by `backup_key`, if any."""
    read = _read(_file(_LISTS, project))
    return (
        tuple(read)
        if isinstance(read, list) and all(isinstance(key, str) for key in read)
        else None
    )


def file_number_of(path: Path) -> int:
    """The number by which the file system knows the file at a path; 0 where there is none."""
    return (identity_of(path) or (0, 0))[1]


def _change(project: Path, change: Callable[[PathRecord], PathRecord], project_id: str) -> None:
    file = _file(_RECORDS, project)
    found = _record_in(file)
    record = change(found or PathRecord(_whole(project), project_id, file_number_of(project)))
    if record == found:
        return
    if found is None:
        _forget_missing(file.parent)
    _write(_RECORDS, project, asdict(record) | {"path": str(record.path)})


def _write(kind: str, project: Path, value: object) -> None:
    file = _file(kind, project)
    with suppress(OSError):
        private_folder(file.parent)
        write_file(file, json.dumps(value, indent=1))


def _forget_missing(folder: Path) -> None:
    """Remove entries of vanished projects once there are thousands."""
    with suppress(OSError):
        files = sorted(folder.glob("*.json"))
        for file in files if len(files) >= _MOST_RECORDS else ():
            record = _record_in(file)
            if record is None or not (record.taken or record.path.exists()):
                file.unlink()


def _record_in(file: Path) -> PathRecord | None:
    read: Any = _read(file)
    try:
        taken = tuple(read["taken"])
        record = PathRecord(Path(read["path"]), read["project_id"], int(read["file_number"]), taken)
        bytes.fromhex(record.project_id)
    except (TypeError, KeyError, ValueError, AttributeError):
        return None
    return (
        record
        if all(isinstance(key, str) for key in taken) and file == _file(_RECORDS, record.path)
        else None
    )


def _read(file: Path) -> object:
    try:
        return json.loads(read_regular(file, at_most=_MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return None


def _file(kind: str, project: Path) -> Path:
    whole = os.path.normcase(_whole(project))
    return backups_folder() / kind / f"{blake3(os.fsencode(whole)).hexdigest(_KEY_BYTES)}.json"


def _whole(project: Path) -> Path:
    return Path(os.path.realpath(project))
