"""A project file of version 10: audits, no excluded classes."""

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.support.ninth_version import write_ninth_version

TO_THE_TENTH = """
CREATE TABLE audit (
    audit_id INTEGER PRIMARY KEY,
    drawn_at TEXT NOT NULL CHECK (drawn_at GLOB '????-??-??T??:??:*' AND length(drawn_at) <= 64),
    who TEXT NOT NULL CHECK (length(who) <= 1000),
    is_stratified INTEGER NOT NULL CHECK (is_stratified IN (0, 1)),
    population INTEGER NOT NULL CHECK (population >= 0),
    size INTEGER NOT NULL CHECK (size >= 0)
) STRICT;
CREATE TABLE audit_item (
    audit_id INTEGER NOT NULL REFERENCES audit DEFERRABLE INITIALLY DEFERRED,
    image_id INTEGER NOT NULL REFERENCES image DEFERRABLE INITIALLY DEFERRED,
    place INTEGER NOT NULL CHECK (place >= 0),
    class_id INTEGER,
    score REAL NOT NULL CHECK (score BETWEEN 0 AND 1),
    safe_class_id INTEGER,
    safe_score REAL NOT NULL CHECK (safe_score BETWEEN 0 AND 1),
    stratum INTEGER NOT NULL CHECK (stratum >= 0),
    stratum_size INTEGER NOT NULL CHECK (stratum_size >= 1),
    PRIMARY KEY (image_id, audit_id)
) WITHOUT ROWID, STRICT;
PRAGMA user_version = 10;
"""  # frozen: the migration of that version; never follows the code


def write_tenth_version(path: Path) -> None:
    """The file of version 9 with tables of audits."""
    write_ninth_version(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(TO_THE_TENTH)
