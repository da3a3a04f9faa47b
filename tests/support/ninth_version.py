"""A project file of version 9: identities of classes, no audits."""

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.support.eighth_version import write_eighth_version

TO_THE_NINTH = """
ALTER TABLE class ADD COLUMN identity TEXT NOT NULL DEFAULT '' CHECK (
        identity = '' OR (length(identity) = 32 AND identity NOT GLOB '*[^0-9a-f]*'));
CREATE TABLE image_change (
    image_id INTEGER PRIMARY KEY,
    size_bytes INTEGER NOT NULL CHECK (size_bytes >= 0),
    modified_ns INTEGER NOT NULL,
    seen_hash BLOB CHECK (length(seen_hash) BETWEEN 1 AND 64),
    found_at TEXT CHECK (found_at GLOB '????-??-??T??:??:*' AND length(found_at) <= 64)
) STRICT;
CREATE INDEX image_change_by_time ON image_change (found_at) WHERE found_at IS NOT NULL;
PRAGMA user_version = 9;
"""  # frozen: the migration of that version; never follows the code


def write_ninth_version(path: Path) -> None:
    """The file of version 8 with the table of identities, empty as for foreign classes."""
    write_eighth_version(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(TO_THE_NINTH)
