"""How SQLite is told which file to open, and what tells one file from another."""

import os
from pathlib import Path
from typing import Final
from urllib.parse import quote

LOG_SUFFIX: Final = "-wal"
JOURNAL_SUFFIX: Final = "-journal"
INDEX_SUFFIX: Final = "-shm"
SIDE_SUFFIXES: Final = (LOG_SUFFIX, INDEX_SUFFIX, JOURNAL_SUFFIX)

Identity = tuple[int, int]
"""Device and number of a file: the same under every name that leads to it."""


def address(path: Path, options: str) -> str:
    """The `file:` address of a path for SQLite.

    Args:
        path: absolute.
        options: as in `mode=ro&immutable=1`.
    """
    plain = path.as_posix()
    root = "" if plain.startswith("/") else "/"
    return f"file://{root}{quote(os.fsencode(plain))}?{options}"


def side_file(path: Path, suffix: str) -> Path:
    """The file that SQLite keeps beside a database under this suffix."""
    return path.with_name(path.name + suffix)


def identity_of(path: Path) -> Identity | None:
    """Which file is at a path now; None where there is none, or none that can be looked at."""
    try:
        status = os.stat(path)  # noqa: PTH116 (runs with every action)
    except OSError:
        return None
    return status.st_dev, status.st_ino
