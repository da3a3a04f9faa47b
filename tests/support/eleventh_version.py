"""A project file of version 11: files are single images, classes can be excluded."""

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.support.tenth_version import write_tenth_version

TO_THE_ELEVENTH = """
CREATE TABLE exclusion (
    image_id INTEGER NOT NULL REFERENCES image DEFERRABLE INITIALLY DEFERRED,
    class_id INTEGER NOT NULL,
    who TEXT NOT NULL CHECK (length(who) <= 1000),
    excluded_at TEXT NOT NULL CHECK (excluded_at GLOB '????-??-??T??:??:*' AND \
length(excluded_at) <= 64),
    PRIMARY KEY (image_id, class_id)
) WITHOUT ROWID, STRICT;
PRAGMA user_version = 11;
"""  # frozen: the migration of that version; never follows the code


def write_eleventh_version(path: Path) -> None:
    """The file of version 10 with the table of excluded classes."""
    write_tenth_version(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(TO_THE_ELEVENTH)
