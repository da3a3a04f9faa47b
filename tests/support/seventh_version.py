"""A project file of version 7: history as codes, no notes of images."""

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.support.sixth_version import write_sixth_version

TO_THE_SEVENTH = """
ALTER TABLE journal_step ADD COLUMN code TEXT NOT NULL DEFAULT '' CHECK (length(code) <= 100);
ALTER TABLE journal_step ADD COLUMN arguments TEXT NOT NULL DEFAULT '{}' CHECK (length(arguments) \
<= 100000);
PRAGMA user_version = 7;
"""  # frozen: the migration of that version; never follows the code


def write_seventh_version(path: Path) -> None:
    """The file of version 6 with columns for codes; seven steps of history."""
    write_sixth_version(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(TO_THE_SEVENTH)
