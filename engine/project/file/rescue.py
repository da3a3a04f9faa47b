"""What an open project holds, saved elsewhere because its own name no longer leads to it."""

from contextlib import closing, suppress
from datetime import datetime
from pathlib import Path

from engine.config import backups_folder
from engine.errors import StorageError
from engine.project.connection import Connection
from engine.project.file.address import address
from engine.project.file.byte_copy import copy_bytes
from engine.project.file.file_lock import FileLock
from engine.project.file.seal import put_seal, reader_of


def rescue(path: Path, lock: FileLock) -> Path:
    """Copy the opened file, wherever it is now, beside its old name, or among the backups where that folder is gone.

    Args:
        path: the name under which it was opened.
        lock: the opened file; no transaction is open.

    Returns:
        The copy's path: `birds (rescued 2026-01-02 03-04-05).protoleaf`.

    Raises:
        StorageError: the copy cannot be written, or is not whole.
    """
    stamp = datetime.now().astimezone().strftime("%Y-%m-%d %H-%M-%S")
    failure: StorageError | None = None
    for folder in (path.parent, backups_folder()):
        try:
            if folder is not path.parent:
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            return _rescued(path, folder, stamp, lock)
        except (OSError, StorageError) as error:
            failure = StorageError("the project could not be rescued", found=f"{folder} ({error})")
    assert failure is not None, "one of two folders was tried"
    raise failure


def _rescued(path: Path, folder: Path, stamp: str, lock: FileLock) -> Path:
    copy = copy_bytes(lock, folder, f"{path.stem} (rescued {stamp})", path.suffix)
    try:
        _verify(copy, path)
    except BaseException:
        with suppress(OSError):
            copy.unlink(missing_ok=True)
        raise
    return copy


def _verify(copy: Path, path: Path) -> None:
    with closing(Connection(copy, address(copy, "mode=rw"))) as connection:
        if connection.value("PRAGMA integrity_check") != "ok":
            raise StorageError(
                "the rescue copy is not whole", found=str(copy), remedy="keep it beside {path}", path=path
            )
        put_seal(connection, reader_of(copy))
