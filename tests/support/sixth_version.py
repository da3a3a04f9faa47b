"""A project file of version 6: ranks of classes, history as texts."""

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.support.fifth_version import write_fifth_version

TO_THE_SIXTH = """
ALTER TABLE class ADD COLUMN rank TEXT NOT NULL DEFAULT '' CHECK (length(rank) <= 255);
PRAGMA user_version = 6;
"""  # frozen: the migration of that version; never follows the code


def write_sixth_version(path: Path) -> None:
    """The file of version 5 with ranks; seven steps of history."""
    write_fifth_version(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(TO_THE_SIXTH)
