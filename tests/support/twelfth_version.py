"""A project file of version 12: no keys and no broadest class."""

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.support.eleventh_version import write_eleventh_version

TO_THE_TWELFTH = """
PRAGMA legacy_alter_table = ON;
ALTER TABLE image RENAME TO old_image;
CREATE TABLE image (
    image_id INTEGER PRIMARY KEY AUTOINCREMENT,
    path ANY NOT NULL
        CHECK (typeof(path) IN ('text', 'blob') AND length(CAST(path AS BLOB)) BETWEEN 1 AND 65536),
    size_bytes INTEGER NOT NULL CHECK (size_bytes >= 0),
    modified_ns INTEGER NOT NULL,
    part TEXT NOT NULL DEFAULT '' CHECK (length(part) <= 200),
    category TEXT NOT NULL DEFAULT '' CHECK (length(category) <= 1000),
    detection_score REAL CHECK (detection_score BETWEEN 0 AND 1),
    UNIQUE (path, part)
) STRICT;
INSERT INTO image (image_id, path, size_bytes, modified_ns)
    SELECT image_id, path, size_bytes, modified_ns FROM old_image;
DROP TABLE old_image;
ALTER TABLE label ADD COLUMN is_empty INTEGER NOT NULL DEFAULT 0
        CHECK (is_empty IN (0, 1) AND (is_empty = 0 OR class_id IS NULL));
CREATE TABLE field_value (
    image_id INTEGER NOT NULL REFERENCES image DEFERRABLE INITIALLY DEFERRED,
    field TEXT NOT NULL CHECK (length(field) BETWEEN 1 AND 1000),
    value TEXT NOT NULL CHECK (length(value) BETWEEN 1 AND 10000),
    who TEXT NOT NULL CHECK (length(who) <= 1000),
    entered_at TEXT NOT NULL CHECK (entered_at GLOB '????-??-??T??:??:*' AND length(entered_at) \
<= 64),
    PRIMARY KEY (image_id, field)
) WITHOUT ROWID, STRICT;
PRAGMA user_version = 12;
"""  # frozen: the migration of that version; never follows the code


def write_twelfth_version(path: Path) -> None:
    """The file of version 11 with tables for parts of files and values of fields."""
    write_eleventh_version(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(TO_THE_TWELFTH)
