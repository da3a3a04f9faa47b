"""Reading without touching: a project is read from a private copy of the moment it was opened.

So a reader never holds up the writer, never sees half an action, needs no permission to write, makes no file beside the
project and never applies a log to it.
"""

import shutil
import tempfile
import time
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine.errors import ProjectLockedError, ProjectReadOnlyError, StorageError
from engine.full_disk import storage_error
from engine.new_folder import ScratchFolder
from engine.project.connection import Connection
from engine.project.file.file_lock import FileLock, lock_for_copying
from engine.project.file.logs import own_log
from engine.project.file.on_disk import SIDE_SUFFIXES, address, side_file

_TRIES: Final = 100
_PAUSE_S: Final = 0.05


@dataclass(frozen=True)
class Snapshot:
    """A private copy of a project.

    Attributes:
        connection: the copy, which calls itself by the project's path.
        path: where the copy is, alone in a folder.
        has_writer: whether it was taken beside a program that has the project open, and vouches for it.
    """

    connection: Connection
    path: Path
    has_writer: bool


def open_snapshot(path: Path, resources: ExitStack, *, is_open_here: bool) -> Snapshot:
    """Copy a project as it is now and open the copy.

    Args:
        path: the project file.
        resources: what keeps the copy alive.
        is_open_here: whether this process has the project open for writing.

    Raises:
        ProjectDamagedError: the file cannot be copied because it is damaged.
        ProjectLockedError: somebody is busy with it for seconds.
        StorageError: there is no room for a copy, or the file cannot be read.
    """
    try:
        folder = ScratchFolder()
    except OSError as error:
        raise _no_room_error(path, Path(tempfile.gettempdir()), error) from error
    resources.callback(folder.remove)
    copy = folder.path / "copy.protoleaf"
    has_writer = copy_project(path, copy, is_open_here=is_open_here)
    connection = Connection(path, address(copy, "mode=rw"))
    resources.callback(connection.close)
    connection.value("SELECT COUNT(*) FROM sqlite_schema")  # brings a log together with its file
    return Snapshot(connection, copy, has_writer)


def copy_project(path: Path, copy: Path, *, is_open_here: bool) -> bool:
    """Copy a project as it is now; the log that belongs to it, if there is one, comes to lie beside the copy.

    Returns:
        Whether somebody has the project open for writing.
    """
    if is_open_here:
        _copy_beside_writer(path, copy)
        return True
    for _ in range(_TRIES):
        try:
            lock = lock_for_copying(path)
        except ProjectLockedError:
            try:
                _copy_beside_writer(path, copy)
            except (ProjectReadOnlyError, StorageError):
                if copy.exists():  # it is the copy that fails
                    raise
                time.sleep(_PAUSE_S)  # the writer is just opening, or died: a look again tells
            else:
                return True
        else:
            _copy_alone(path, copy, lock)
            return False
    raise ProjectLockedError("the project is busy in another program", found=str(path), remedy="try again")


def _copy_beside_writer(path: Path, copy: Path) -> None:
    """Let SQLite copy: the writer waits with its next commit that long."""
    with closing(Connection(path, address(path, "mode=ro"))) as source:
        source.value("SELECT COUNT(*) FROM sqlite_schema")  # refuses where a commit is unfinished
        with closing(Connection(copy, str(copy))) as target:
            target.value("PRAGMA journal_mode = OFF")
            target.write("PRAGMA synchronous = OFF")
            source.copy_to(target)


def _copy_alone(path: Path, copy: Path, lock: FileLock) -> None:
    """Copy the bare bytes: nobody writes, and SQLite, which would apply any log, is not asked."""
    try:
        log = own_log(path)
        lock.copy_to(copy, is_durable=False)
        if log is not None:
            suffix = next(suffix for suffix in SIDE_SUFFIXES if log.name.endswith(suffix))
            shutil.copyfile(log, side_file(copy, suffix))
    except OSError as error:
        raise _no_room_error(path, copy.parent, error) from error
    finally:
        lock.release()


def _no_room_error(path: Path, folder: Path, error: OSError) -> StorageError:
    return storage_error(
        folder,
        error,
        f"{path} cannot be copied to the folder for temporary files to be read",
        "free some space there, or set TMPDIR to another folder",
    )
