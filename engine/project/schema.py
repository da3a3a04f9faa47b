"""The project file's tables.

Two layers that never mix: what people did (`class`, `edge`, `image`, `label`, `class_policy`, `setting`) is journaled
and can be undone; what the machine found out (`image_fact`, `prediction`, `model_version`, `model_file`) is not, and
has no foreign keys to the first, so that undoing and redoing an import finds its facts again.

Rule for later versions: journaled tables only ever get new columns at their end, with a default. Row images that an
older version put into the journal are then simply shorter, and stay usable.
"""

from dataclasses import dataclass
from typing import Final

APPLICATION_ID: Final = 0x50724C66  # "PrLf": tells our files from other SQLite files
SCHEMA_VERSION: Final = 2

SCHEMA: Final = """
CREATE TABLE class (
    class_id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL
);
CREATE TABLE edge (
    parent_id INTEGER NOT NULL REFERENCES class DEFERRABLE INITIALLY DEFERRED,
    child_id INTEGER NOT NULL REFERENCES class DEFERRABLE INITIALLY DEFERRED,
    PRIMARY KEY (parent_id, child_id)
) WITHOUT ROWID;
CREATE INDEX edge_by_child ON edge (child_id);
CREATE TABLE image (
    image_id INTEGER PRIMARY KEY AUTOINCREMENT,
    path NOT NULL UNIQUE,
    size_bytes INTEGER NOT NULL,
    modified_ns INTEGER NOT NULL
);
CREATE TABLE label (
    image_id INTEGER PRIMARY KEY REFERENCES image DEFERRABLE INITIALLY DEFERRED,
    class_id INTEGER REFERENCES class DEFERRABLE INITIALLY DEFERRED,
    who TEXT NOT NULL,
    labelled_at TEXT NOT NULL,
    source TEXT NOT NULL
);
CREATE INDEX label_by_class ON label (class_id);
CREATE TABLE class_policy (
    class_id INTEGER PRIMARY KEY REFERENCES class DEFERRABLE INITIALLY DEFERRED,
    bar REAL,
    is_deepest INTEGER NOT NULL
);
CREATE TABLE setting (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
);
CREATE TABLE image_fact (
    image_id INTEGER PRIMARY KEY,
    content_hash BLOB,
    failure TEXT
);
CREATE TABLE model_version (
    version_id INTEGER PRIMARY KEY AUTOINCREMENT,
    backbone_name TEXT NOT NULL,
    backbone_hash TEXT NOT NULL,
    backbone_path TEXT NOT NULL,
    propagation_hash TEXT NOT NULL,
    created_at TEXT NOT NULL,
    settings TEXT NOT NULL,
    name TEXT NOT NULL DEFAULT '',
    parent_id INTEGER,
    card TEXT NOT NULL DEFAULT '',
    figures TEXT NOT NULL DEFAULT '{}'
);
CREATE TABLE model_file (
    hash TEXT PRIMARY KEY,
    content BLOB NOT NULL
);
CREATE TABLE prediction (
    setting TEXT NOT NULL,
    version_id INTEGER NOT NULL,
    image_id INTEGER NOT NULL,
    class_id INTEGER NOT NULL,
    score REAL NOT NULL,
    safe_class_id INTEGER,
    safe_score REAL NOT NULL,
    PRIMARY KEY (setting, version_id, image_id)
) WITHOUT ROWID;
CREATE TABLE journal_step (
    step_id INTEGER PRIMARY KEY AUTOINCREMENT,
    text TEXT NOT NULL,
    done_at TEXT NOT NULL,
    who TEXT NOT NULL,
    is_undone INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX journal_step_by_state ON journal_step (is_undone, step_id);
CREATE TABLE journal_chunk (
    step_id INTEGER NOT NULL REFERENCES journal_step ON DELETE CASCADE,
    sequence INTEGER NOT NULL,
    row_changes NOT NULL,
    PRIMARY KEY (step_id, sequence)
);
"""


@dataclass(frozen=True)
class JournaledTable:
    """Shape of a table whose rows go through the journal; a row is a tuple in the order of `columns`, key first."""

    name: str
    columns: tuple[str, ...]
    key_width: int = 1

    @property
    def _key_test(self) -> str:
        return " AND ".join(f"{column} = ?" for column in self.columns[: self.key_width])

    @property
    def select(self) -> str:
        """Statement that reads one row by its key."""
        return f"SELECT {', '.join(self.columns)} FROM {self.name} WHERE {self._key_test}"  # noqa: S608 (our names)

    @property
    def delete(self) -> str:
        """Statement that deletes one row by its key."""
        return f"DELETE FROM {self.name} WHERE {self._key_test}"  # noqa: S608 (our names)

    def upsert(self, width: int) -> str:
        """Statement that writes the first `width` columns of one row, whether its key is there or not."""
        written, key = self.columns[:width], ", ".join(self.columns[: self.key_width])
        news = ", ".join(f"{column} = excluded.{column}" for column in written[self.key_width :])
        clash = f"DO UPDATE SET {news}" if news else "DO NOTHING"
        places = ", ".join("?" * width)
        return f"INSERT INTO {self.name} ({', '.join(written)}) VALUES ({places}) ON CONFLICT ({key}) {clash}"  # noqa: S608


CLASS: Final = JournaledTable("class", ("class_id", "name"))
EDGE: Final = JournaledTable("edge", ("parent_id", "child_id"), key_width=2)
IMAGE: Final = JournaledTable("image", ("image_id", "path", "size_bytes", "modified_ns"))
LABEL: Final = JournaledTable("label", ("image_id", "class_id", "who", "labelled_at", "source"))
CLASS_POLICY: Final = JournaledTable("class_policy", ("class_id", "bar", "is_deepest"))
SETTING: Final = JournaledTable("setting", ("name", "value"))

JOURNALED_TABLES: Final = {table.name: table for table in (CLASS, EDGE, IMAGE, LABEL, CLASS_POLICY, SETTING)}
TABLE_NAMES: Final = frozenset(
    {*JOURNALED_TABLES, "image_fact", "model_version", "model_file", "prediction", "journal_step", "journal_chunk"}
)
