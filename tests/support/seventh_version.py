"""A project file as version 7 of the tables was, when the history had become codes and images had no notes."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

from tests.support.sixth_version import write_sixth_version

TO_THE_SEVENTH: Final = """
ALTER TABLE journal_step ADD COLUMN code TEXT NOT NULL DEFAULT '' CHECK (length(code) <= 100);
ALTER TABLE journal_step ADD COLUMN arguments TEXT NOT NULL DEFAULT '{}' CHECK (length(arguments) <= 100000);
PRAGMA user_version = 7;
"""  # frozen: what that version of the program made of the one before; never follows the code


def write_seventh_version(path: Path) -> None:
    """What version 6 wrote, with room for codes; seven steps of history."""
    write_sixth_version(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(TO_THE_SEVENTH)
