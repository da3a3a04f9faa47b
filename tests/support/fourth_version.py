"""A project file of version 4: no notes and colours of classes."""

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.support.third_version import write_third_version

TO_THE_FOURTH = """
ALTER TABLE class ADD COLUMN source_id TEXT NOT NULL DEFAULT '' CHECK (length(source_id) <= 1000);
ALTER TABLE class ADD COLUMN synonyms TEXT NOT NULL DEFAULT '' CHECK (length(synonyms) <= 256000);
UPDATE class SET source_id = 'n1', synonyms = 'Larus' WHERE class_id = 2;
INSERT INTO journal_step VALUES(7,'Imported synonyms of 1 \
class','2026-01-02T03:04:05+00:00','ada',0);
INSERT INTO journal_chunk VALUES(7,1,'[["class",[2,"Gull","",""],[2,"Gull","n1","Larus"]]]');
DELETE FROM journal_step WHERE step_id = 6;
DELETE FROM journal_chunk WHERE step_id = 6;
UPDATE sqlite_sequence SET seq = 7 WHERE name = 'journal_step';
PRAGMA user_version = 4;
"""  # frozen: the migration of that version; never follows the code


def write_fourth_version(path: Path) -> None:
    """Gull with source id and synonym, under Bird; an image as Gull; six steps of history."""
    write_third_version(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(TO_THE_FOURTH)
