"""A look at the first 100 bytes, before SQLite touches anything: is this a project of ours, and not too new?"""

import os
import stat
import struct
from pathlib import Path
from typing import Final

from engine.errors import ProjectDamagedError, ProjectMissingError, ProjectTooNewError, StorageError
from engine.project.schema import APPLICATION_ID, SCHEMA_VERSION
from engine.regular_file import open_regular

_HEADER_BYTES: Final = 100
_MAGIC: Final = b"SQLite format 3\x00"
_VERSION_AT: Final = 60  # PRAGMA user_version, 4 bytes, big-endian
_APPLICATION_AT: Final = 68
_MODES_AT: Final = 18  # for writing and reading, one byte each
_WAL_MODE: Final = 2


def check_header(path: Path) -> None:
    """Refuse a file that cannot be one of our projects, without changing it.

    Raises:
        ProjectMissingError: no file is there.
        ProjectDamagedError: it is not a project.
        ProjectTooNewError: a newer version of the program wrote it.
        StorageError: it cannot be read.
    """
    header = _read_header(path)
    if not header.startswith(_MAGIC) or len(header) < _HEADER_BYTES:
        raise _no_project(path, _what_it_is(header))
    (application_id,) = struct.unpack_from(">i", header, _APPLICATION_AT)
    if application_id != APPLICATION_ID:
        raise _no_project(path, "a database of another program")
    (version,) = struct.unpack_from(">i", header, _VERSION_AT)
    check_version(path, version)


def is_of_this_program(path: Path) -> bool:
    """Whether a file is a project or a backup, of whatever version; False where it cannot be read."""
    try:
        header = _read_header(path)
    except (ProjectMissingError, ProjectDamagedError, StorageError):
        return False
    application = header[_APPLICATION_AT : _APPLICATION_AT + 4]
    return header.startswith(_MAGIC) and application == struct.pack(">i", APPLICATION_ID)


def check_version(path: Path, version: int) -> None:
    """Refuse a project of a newer version of the program.

    Raises:
        ProjectTooNewError: the version is above ours.
        ProjectDamagedError: it is below the first.
    """
    if version < 1:
        raise ProjectDamagedError(
            "the project has a version that never existed",
            expected="1 to {known_version}",
            found="{version} in {path}",
            remedy="open an earlier copy of the file, or restore a backup; this file is left as it is",
            known_version=SCHEMA_VERSION,
            version=version,
            path=path,
        )
    if version > SCHEMA_VERSION:
        raise ProjectTooNewError(
            "the project was made by a newer version of Protoleaf",
            expected="file version {known_version} or older",
            found="{version} in {path}",
            remedy="update Protoleaf to open it",
            known_version=SCHEMA_VERSION,
            version=version,
            path=path,
        )


def has_write_ahead_log(path: Path) -> bool:
    """Whether a project was last written with a write-ahead log, as versions of the program before this one did."""
    return _WAL_MODE in _read_header(path)[_MODES_AT : _MODES_AT + 2]


def _read_header(path: Path) -> bytes:
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise _no_project(path, "a folder or device")
        with open_regular(path) as file:
            return file.read(_HEADER_BYTES)
    except FileNotFoundError as error:
        raise ProjectMissingError(
            "there is no project file", found=str(path), remedy="check the name, or create a new project"
        ) from error
    except OSError as error:
        reason = error.strerror or os.strerror(error.errno or 0)
        raise StorageError(
            "the project file cannot be read", found=f"{path} ({reason})", remedy="check the permissions of the file"
        ) from error


def _what_it_is(header: bytes) -> str:
    if not header:
        return "an empty file"
    return "a file that was cut off" if header.startswith(_MAGIC) else "another kind of file"


def _no_project(path: Path, found: str) -> ProjectDamagedError:
    return ProjectDamagedError(
        "{path} is not a Protoleaf project or is damaged",
        found=found,
        remedy="choose another file, or open an earlier copy of the file; this file is left as it is",
        path=path,
    )
