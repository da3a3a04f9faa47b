"""A project file as version 6 of the tables was, when classes had a rank and the history was sentences."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

from tests.support.fifth_version import write_fifth_version

TO_THE_SIXTH: Final = """
ALTER TABLE class ADD COLUMN rank TEXT NOT NULL DEFAULT '' CHECK (length(rank) <= 255);
PRAGMA user_version = 6;
"""  # frozen: what that version of the program made of the one before; never follows the code


def write_sixth_version(path: Path) -> None:
    """What version 5 wrote, with room for ranks; seven steps of history."""
    write_fifth_version(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(TO_THE_SIXTH)
