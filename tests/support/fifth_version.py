"""A project file of version 5: the history has texts."""

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.support.fourth_version import write_fourth_version

TO_THE_FIFTH = """
CREATE TABLE class_detail (
    class_id INTEGER PRIMARY KEY REFERENCES class DEFERRABLE INITIALLY DEFERRED,
    note TEXT NOT NULL CHECK (length(note) <= 10000),
    colour TEXT NOT NULL CHECK (colour = '' OR colour GLOB \
'#[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]')
) STRICT;
INSERT INTO class_detail VALUES(2,'Grey.','');
INSERT INTO journal_step VALUES(8,'Changed the note of Gull','2026-01-02T03:04:05+00:00','ada',0);
INSERT INTO journal_chunk VALUES(8,1,'[["class_detail",null,[2,"Grey.",""]]]');
UPDATE sqlite_sequence SET seq = 8 WHERE name = 'journal_step';
PRAGMA user_version = 5;
"""  # frozen: the migration of that version; never follows the code


def write_fifth_version(path: Path) -> None:
    """The file of version 4 with a note on Gull; seven steps of history."""
    write_fourth_version(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(TO_THE_FIFTH)
