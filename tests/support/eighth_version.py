"""A project file of version 8: notes of images, no identities of classes."""

import sqlite3
from contextlib import closing
from pathlib import Path

from engine.project.step import decoded, encoded
from tests.support.seventh_version import write_seventh_version

TO_THE_EIGHTH = """
CREATE TABLE image_note (
    image_id INTEGER PRIMARY KEY REFERENCES image DEFERRABLE INITIALLY DEFERRED,
    stars INTEGER NOT NULL CHECK (stars BETWEEN 0 AND 5),
    is_flagged INTEGER NOT NULL CHECK (is_flagged IN (0, 1)),
    comment TEXT NOT NULL CHECK (length(comment) <= 10000),
    who TEXT NOT NULL CHECK (length(who) <= 1000),
    noted_at TEXT NOT NULL CHECK (noted_at GLOB '????-??-??T??:??:*' AND length(noted_at) <= 64)
) STRICT;
CREATE TABLE confirmed_label (
    image_id INTEGER PRIMARY KEY REFERENCES image DEFERRABLE INITIALLY DEFERRED,
    class_id INTEGER,
    who TEXT NOT NULL CHECK (length(who) <= 1000),
    confirmed_at TEXT NOT NULL CHECK (confirmed_at GLOB '????-??-??T??:??:*' AND \
length(confirmed_at) <= 64)
) STRICT;
CREATE TABLE image_detail (
    image_id INTEGER PRIMARY KEY,
    modified_ns INTEGER NOT NULL,
    width INTEGER NOT NULL CHECK (width >= 0),
    height INTEGER NOT NULL CHECK (height >= 0),
    taken_at TEXT CHECK (taken_at GLOB '????-??-??T??:??:*' AND length(taken_at) <= 64),
    camera TEXT NOT NULL CHECK (length(camera) <= 1000),
    latitude REAL CHECK (latitude BETWEEN -90 AND 90),
    longitude REAL CHECK (longitude BETWEEN -180 AND 180),
    fields TEXT NOT NULL CHECK (length(fields) <= 1000000)
) STRICT;
PRAGMA user_version = 8;
"""  # frozen: the migration of that version; never follows the code

_WIDTHS = {
    "class": 5,
    "class_detail": 3,
    "class_policy": 3,
    "image": 4,
    "label": 5,
}  # columns in version 8 of tables extended later
_IMAGE = """
ALTER TABLE image RENAME TO new_image;
CREATE TABLE image (
    image_id INTEGER PRIMARY KEY AUTOINCREMENT,
    path ANY NOT NULL UNIQUE
        CHECK (typeof(path) IN ('text', 'blob') AND length(CAST(path AS BLOB)) BETWEEN 1 AND 65536),
    size_bytes INTEGER NOT NULL CHECK (size_bytes >= 0),
    modified_ns INTEGER NOT NULL
) STRICT;
INSERT INTO image SELECT image_id, path, size_bytes, modified_ns FROM new_image;
DROP TABLE new_image;
"""


def write_eighth_version(path: Path) -> None:
    """The file of version 7 with the table of notes; seven steps of history."""
    write_seventh_version(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(TO_THE_EIGHTH)


def save_as_eighth_version(path: Path) -> None:
    """Convert a closed present project to the file that version 8 would have written."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA legacy_alter_table = ON")
        connection.execute("BEGIN")
        chunks = connection.execute(
            "SELECT step_id, sequence, row_changes FROM journal_chunk"
        ).fetchall()
        for step_id, sequence, stored in chunks:
            changes = [
                (
                    table,
                    before and before[: _WIDTHS.get(table)],
                    after and after[: _WIDTHS.get(table)],
                )
                for table, before, after in decoded(stored)
            ]
            connection.execute(
                "UPDATE journal_chunk SET row_changes = ? WHERE step_id = ? AND sequence = ?",
                (encoded(changes), step_id, sequence),
            )
        connection.execute("ALTER TABLE class DROP COLUMN identity")
        connection.execute("ALTER TABLE label DROP COLUMN is_empty")
        connection.execute("ALTER TABLE class_policy DROP COLUMN is_broadest")
        connection.execute("ALTER TABLE class_detail DROP COLUMN label_key")
        for statement in filter(str.strip, _IMAGE.split(";")):
            connection.execute(statement)
        connection.execute("DROP TABLE field_value")
        connection.execute("DROP TABLE image_change")
        connection.execute("DROP TABLE exclusion")
        connection.execute("DROP TABLE audit_item")
        connection.execute("DROP TABLE audit")
        connection.execute("UPDATE file_state SET digest = NULL")
        connection.execute("PRAGMA user_version = 8")
        connection.execute("COMMIT")
