"""A project's bytes under a free name: what is kept when SQLite cannot be asked, or must not be."""

import os
from contextlib import suppress
from itertools import count
from pathlib import Path

from engine.project.file.file_lock import FileLock


def copy_bytes(lock: FileLock, folder: Path, stem: str, suffix: str) -> Path:
    """Copy a locked file into a folder; a file that is there already is never touched.

    Args:
        lock: the file; no transaction is open.
        folder: where to.
        stem, suffix: of the name; a number comes between them where it is taken.

    Returns:
        The copy's path.

    Raises:
        OSError: it cannot be written; nothing of it is left.
    """
    for number in count(1):
        copy = folder / (f"{stem}{suffix}" if number == 1 else f"{stem} {number}{suffix}")
        if os.path.lexists(copy):
            continue
        try:
            lock.copy_to(copy)
        except FileExistsError:
            continue
        except OSError:
            with suppress(OSError):
                copy.unlink(missing_ok=True)
            raise
        return copy
    raise AssertionError  # numbers do not end
