"""Logs of SQLite that lie beside a project: which ones would be applied, and how one is put out of the way."""

import contextlib
import os
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Final

from engine.errors import StorageError
from engine.regular_file import open_regular

JOURNAL_MAGIC: Final = bytes.fromhex("d9d505f920a163d7")


def is_hot(journal: Path) -> bool:
    """Whether SQLite would take this journal for an unfinished commit and apply it."""
    try:
        with open_regular(journal) as file:
            return file.read(len(JOURNAL_MAGIC)) == JOURNAL_MAGIC
    except OSError:
        return False


def set_aside(log: Path) -> Path:
    """Rename a log that does not belong to the file it lies beside, so that nobody applies it. It is never deleted.

    Returns:
        Its new path: `birds.protoleaf-journal` becomes `birds.protoleaf-journal.set-aside-20260102-030405`.

    Raises:
        StorageError: it cannot be renamed.
    """
    stamp = datetime.now().astimezone().strftime("%Y%m%d-%H%M%S")
    for number in count(1):
        name = f"{log.name}.set-aside-{stamp}" + (f"-{number}" if number > 1 else "")
        target = log.with_name(name)
        if not os.path.lexists(target):
            break
    try:
        log.rename(target)
    except OSError as error:
        raise StorageError(
            "a log that belongs to another state of the project lies beside it and cannot be renamed",
            found=f"{log} ({error.strerror})",
            remedy="move it to another folder, then open the project again",
        ) from error
    with contextlib.suppress(OSError):
        side = log.with_name(log.name.removesuffix("-wal") + "-shm")
        if log.name.endswith("-wal"):
            side.unlink(missing_ok=True)  # an index of the log, made again from it whenever it is wanted
    return target
