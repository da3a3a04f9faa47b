"""The project file's tables.

Two layers that never mix: user data (`class`, `edge`, `image`, `label`, `image_note`,
`confirmed_label`, `class_policy`, `class_detail`, `audit`, `audit_item`, `exclusion`,
`field_value`, `setting`) is journaled and can be undone; computed data (`image_fact`,
`image_detail`, `image_change`, `prediction`, `model_version`, `model_file`) is not. It has no
foreign keys to the first, so that undoing and redoing an import finds its facts again. `file_state`
is about the file itself: see `engine.project.file`.

Kinds, lengths and ranges are declared (STRICT, CHECK), so that SQLite's integrity check finds wrong
values, and refuses to store them.

Rule for later versions: journaled tables only get new columns at their end, with a default. Row
images that an older version put into the journal are then simply shorter, and stay usable.
"""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from engine.file_parts import LONGEST_PART, WHOLE
from engine.graph.class_attributes import ATTRIBUTE, ATTRIBUTES, Attribute, ClassAttributes
from engine.graph.identities import IDENTITY_LENGTH, NO_IDENTITY
from engine.graph.limits import LONGEST_NAME as LONGEST_CLASS_NAME

APPLICATION_ID = 0x50724C66  # "PrLf": distinguishes our files from other SQLite files
SCHEMA_VERSION = 13

LONGEST_NAME = 1_000  # of an annotator, a setting, a network ...
# of an action, a reason why an image cannot be read, a setting's name ...
LONGEST_TEXT = 10_000
_TIME = "'????-??-??T??:??:*'"


def attribute_columns(table: str, *since: int) -> list[str]:
    """Columns of a table with class attributes; all, or those added by some versions."""
    held = [
        each for each in ATTRIBUTES if each.table == table and (not since or each.since in since)
    ]
    return [f"{each.name} {each.column}" for each in held]


def _further(columns: Sequence[str]) -> str:
    return "".join(f",\n    {column}" for column in columns)


IDENTITY_COLUMN = f"""identity TEXT NOT NULL DEFAULT '' CHECK (
        identity = '' OR
        (length(identity) = {IDENTITY_LENGTH} AND identity NOT GLOB '*[^0-9a-f]*'))"""
"""Column of version 9: the identity of a class."""

CLASS_COLUMNS = _further([*attribute_columns("class"), IDENTITY_COLUMN])
"""Further columns of a class since version 4; synonyms are separated by line breaks."""

POLICY_COLUMNS = _further(attribute_columns("class_policy", 13))
"""Column of version 13: never predict anything above a class."""
DETAIL_COLUMNS = _further(attribute_columns("class_detail", 13))
"""Column of version 13: the key of a class."""

CLASS_DETAIL_TABLE = f"""CREATE TABLE class_detail (
    class_id INTEGER PRIMARY KEY REFERENCES class DEFERRABLE INITIALLY DEFERRED,
    {", ".join(attribute_columns("class_detail", 5))}{DETAIL_COLUMNS}
) STRICT;
"""
"""Table of version 5: notes on classes, and their colours."""

IMAGE_TABLES = f"""CREATE TABLE image_note (
    image_id INTEGER PRIMARY KEY REFERENCES image DEFERRABLE INITIALLY DEFERRED,
    stars INTEGER NOT NULL CHECK (stars BETWEEN 0 AND 5),
    is_flagged INTEGER NOT NULL CHECK (is_flagged IN (0, 1)),
    comment TEXT NOT NULL CHECK (length(comment) <= {LONGEST_TEXT}),
    who TEXT NOT NULL CHECK (length(who) <= {LONGEST_NAME}),
    noted_at TEXT NOT NULL CHECK (noted_at GLOB {_TIME} AND length(noted_at) <= 64)
) STRICT;
CREATE TABLE confirmed_label (
    image_id INTEGER PRIMARY KEY REFERENCES image DEFERRABLE INITIALLY DEFERRED,
    class_id INTEGER,
    who TEXT NOT NULL CHECK (length(who) <= {LONGEST_NAME}),
    confirmed_at TEXT NOT NULL CHECK (confirmed_at GLOB {_TIME} AND length(confirmed_at) <= 64)
) STRICT;
CREATE TABLE image_detail (
    image_id INTEGER PRIMARY KEY,
    modified_ns INTEGER NOT NULL,
    width INTEGER NOT NULL CHECK (width >= 0),
    height INTEGER NOT NULL CHECK (height >= 0),
    taken_at TEXT CHECK (taken_at GLOB {_TIME} AND length(taken_at) <= 64),
    camera TEXT NOT NULL CHECK (length(camera) <= {LONGEST_NAME}),
    latitude REAL CHECK (latitude BETWEEN -90 AND 90),
    longitude REAL CHECK (longitude BETWEEN -180 AND 180),
    fields TEXT NOT NULL CHECK (length(fields) <= 1000000)
) STRICT;
"""
"""Tables of version 8. A confirmation has the class of the label then, and counts while equal."""

IMAGE_CHANGE_TABLE = f"""CREATE TABLE image_change (
    image_id INTEGER PRIMARY KEY,
    size_bytes INTEGER NOT NULL CHECK (size_bytes >= 0),
    modified_ns INTEGER NOT NULL,
    seen_hash BLOB CHECK (length(seen_hash) BETWEEN 1 AND 64),
    found_at TEXT CHECK (found_at GLOB {_TIME} AND length(found_at) <= 64)
) STRICT;
CREATE INDEX image_change_by_time ON image_change (found_at) WHERE found_at IS NOT NULL;
"""
"""Table of version 9: files modified since their image was added, as they were last read.


`found_at` is when their picture was replaced, and `seen_hash` the content of the one before.
"""

AUDIT_TABLES = f"""CREATE TABLE audit (
    audit_id INTEGER PRIMARY KEY,
    drawn_at TEXT NOT NULL CHECK (drawn_at GLOB {_TIME} AND length(drawn_at) <= 64),
    who TEXT NOT NULL CHECK (length(who) <= {LONGEST_NAME}),
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
"""
"""Tables of version 10: images drawn at random, and their predictions then (decision 105)."""

EXCLUSION_TABLE = f"""CREATE TABLE exclusion (
    image_id INTEGER NOT NULL REFERENCES image DEFERRABLE INITIALLY DEFERRED,
    class_id INTEGER NOT NULL,
    who TEXT NOT NULL CHECK (length(who) <= {LONGEST_NAME}),
    excluded_at TEXT NOT NULL CHECK (excluded_at GLOB {_TIME} AND length(excluded_at) <= 64),
    PRIMARY KEY (image_id, class_id)
) WITHOUT ROWID, STRICT;
"""
"""Table of version 11: classes excluded for an image. Rows of deleted classes have no effect."""

FIELD_VALUE_TABLE = f"""CREATE TABLE field_value (
    image_id INTEGER NOT NULL REFERENCES image DEFERRABLE INITIALLY DEFERRED,
    field TEXT NOT NULL CHECK (length(field) BETWEEN 1 AND {LONGEST_NAME}),
    value TEXT NOT NULL CHECK (length(value) BETWEEN 1 AND {LONGEST_TEXT}),
    who TEXT NOT NULL CHECK (length(who) <= {LONGEST_NAME}),
    entered_at TEXT NOT NULL CHECK (entered_at GLOB {_TIME} AND length(entered_at) <= 64),
    PRIMARY KEY (image_id, field)
) WITHOUT ROWID, STRICT;
"""
"""Table of version 12: values of the image fields of a project, such as the count of a herd."""

IMAGE_PATH_COLUMN = """path ANY NOT NULL
        CHECK (typeof(path) IN ('text', 'blob')
        AND length(CAST(path AS BLOB)) BETWEEN 1 AND 65536)"""
UNIQUE_PATH_COLUMN = IMAGE_PATH_COLUMN.replace("NOT NULL", "NOT NULL UNIQUE", 1)
"""The same column before version 12, when a file was one image."""
IMAGE_PART_COLUMNS = f""",
    part TEXT NOT NULL DEFAULT '{WHOLE}' CHECK (length(part) <= {LONGEST_PART}),
    category TEXT NOT NULL DEFAULT '' CHECK (length(category) <= {LONGEST_NAME}),
    detection_score REAL CHECK (detection_score BETWEEN 0 AND 1),
    UNIQUE (path, part)"""
"""Columns of version 12: part of the file, and what a detector found in it (decision 110)."""
EMPTY_COLUMN = """is_empty INTEGER NOT NULL DEFAULT 0
        CHECK (is_empty IN (0, 1) AND (is_empty = 0 OR class_id IS NULL))"""
LABEL_COLUMNS = _further([EMPTY_COLUMN])
"""Column of version 12: the image was labelled as empty; the label has no class then."""

ACTION_COLUMNS = (
    "code TEXT NOT NULL DEFAULT '' CHECK (length(code) <= 100)",
    "arguments TEXT NOT NULL DEFAULT '{}' CHECK (length(arguments) <= 100000)",
)
STEP_COLUMNS = _further(ACTION_COLUMNS)
"""Further columns of a step since version 7, replacing the sentence in `text` of older steps."""

SCHEMA = f"""
CREATE TABLE file_state (
    row_id INTEGER PRIMARY KEY CHECK (row_id = 1),
    mark BLOB NOT NULL CHECK (length(mark) = 24),
    is_journal_whole INTEGER NOT NULL CHECK (is_journal_whole IN (0, 1)),
    digest BLOB CHECK (length(digest) = 32)
) STRICT;
CREATE TABLE class (
    class_id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND {LONGEST_CLASS_NAME}){CLASS_COLUMNS}
) STRICT;
CREATE TABLE edge (
    parent_id INTEGER NOT NULL REFERENCES class DEFERRABLE INITIALLY DEFERRED,
    child_id INTEGER NOT NULL REFERENCES class DEFERRABLE INITIALLY DEFERRED,
    PRIMARY KEY (parent_id, child_id)
) WITHOUT ROWID, STRICT;
CREATE INDEX edge_by_child ON edge (child_id);
CREATE TABLE image (
    image_id INTEGER PRIMARY KEY AUTOINCREMENT,
    {IMAGE_PATH_COLUMN},
    size_bytes INTEGER NOT NULL CHECK (size_bytes >= 0),
    modified_ns INTEGER NOT NULL{IMAGE_PART_COLUMNS}
) STRICT;
CREATE TABLE label (
    image_id INTEGER PRIMARY KEY REFERENCES image DEFERRABLE INITIALLY DEFERRED,
    class_id INTEGER REFERENCES class DEFERRABLE INITIALLY DEFERRED,
    who TEXT NOT NULL CHECK (length(who) <= {LONGEST_NAME}),
    labelled_at TEXT NOT NULL CHECK (labelled_at GLOB {_TIME} AND length(labelled_at) <= 64),
    source TEXT NOT NULL CHECK (length(source) <= {LONGEST_NAME}){LABEL_COLUMNS}
) STRICT;
CREATE INDEX label_by_class ON label (class_id);
CREATE TABLE class_policy (
    class_id INTEGER PRIMARY KEY REFERENCES class DEFERRABLE INITIALLY DEFERRED,
    {", ".join(attribute_columns("class_policy", 1))}{POLICY_COLUMNS}
) STRICT;
{CLASS_DETAIL_TABLE}{IMAGE_TABLES}{IMAGE_CHANGE_TABLE}{AUDIT_TABLES}{EXCLUSION_TABLE}
{FIELD_VALUE_TABLE}CREATE TABLE setting (
    name TEXT NOT NULL PRIMARY KEY CHECK (length(name) <= {LONGEST_NAME}),
    value TEXT NOT NULL CHECK (length(value) <= 1000000)
) STRICT;
CREATE TABLE image_fact (
    image_id INTEGER PRIMARY KEY,
    content_hash BLOB CHECK (length(content_hash) BETWEEN 1 AND 64),
    failure TEXT CHECK (length(failure) <= {LONGEST_TEXT})
) STRICT;
CREATE TABLE model_version (
    version_id INTEGER PRIMARY KEY AUTOINCREMENT,
    backbone_name TEXT NOT NULL CHECK (length(backbone_name) <= {LONGEST_NAME}),
    backbone_hash TEXT NOT NULL CHECK (length(backbone_hash) <= 128),
    backbone_path TEXT NOT NULL CHECK (length(backbone_path) <= 65536),
    propagation_hash TEXT NOT NULL CHECK (length(propagation_hash) <= 128),
    created_at TEXT NOT NULL CHECK (created_at GLOB {_TIME} AND length(created_at) <= 64),
    settings TEXT NOT NULL CHECK (length(settings) <= 1000000),
    name TEXT NOT NULL DEFAULT '' CHECK (length(name) <= {LONGEST_NAME}),
    parent_id INTEGER,
    card TEXT NOT NULL DEFAULT '' CHECK (length(card) <= 1000000),
    figures TEXT NOT NULL DEFAULT '{{}}' CHECK (length(figures) <= 1000000)
) STRICT;
CREATE TABLE model_file (
    hash TEXT NOT NULL PRIMARY KEY CHECK (length(hash) = 64),
    content BLOB NOT NULL
) STRICT;
CREATE TABLE prediction (
    setting TEXT NOT NULL CHECK (length(setting) <= 100),
    version_id INTEGER NOT NULL,
    image_id INTEGER NOT NULL,
    class_id INTEGER NOT NULL,
    score REAL NOT NULL CHECK (score BETWEEN 0 AND 1),
    safe_class_id INTEGER,
    safe_score REAL NOT NULL CHECK (safe_score BETWEEN 0 AND 1),
    PRIMARY KEY (setting, version_id, image_id)
) WITHOUT ROWID, STRICT;
CREATE TABLE journal_step (
    step_id INTEGER PRIMARY KEY AUTOINCREMENT,
    text TEXT NOT NULL CHECK (length(text) <= {LONGEST_TEXT}),
    done_at TEXT NOT NULL CHECK (done_at GLOB {_TIME} AND length(done_at) <= 64),
    who TEXT NOT NULL CHECK (length(who) <= {LONGEST_NAME}),
    is_undone INTEGER NOT NULL DEFAULT 0 CHECK (is_undone IN (0, 1)){STEP_COLUMNS}
) STRICT;
CREATE INDEX journal_step_by_state ON journal_step (is_undone, step_id);
CREATE TABLE journal_chunk (
    step_id INTEGER NOT NULL REFERENCES journal_step ON DELETE CASCADE,
    sequence INTEGER NOT NULL,
    row_changes ANY NOT NULL CHECK (typeof(row_changes) IN ('text', 'blob')),
    PRIMARY KEY (step_id, sequence)
) STRICT;
"""


@dataclass(frozen=True)
class JournaledTable:
    """Shape of a journaled table; a row is a tuple in the order of `columns`, key first."""

    name: str
    columns: tuple[str, ...]
    key_width: int = 1
    # of the last columns, those that an older version's rows lack
    defaults: tuple[str | float | None, ...] = ()

    def attributes_in(self, row: tuple[Any, ...] | None) -> dict[str, Any]:
        """The attributes of a class that a row holds; those of no row are the defaults."""
        stored = self.defaults if row is None else self.whole(row)[-len(self.defaults) :]
        return {
            each.name: each.default if value == plain else each.loaded(value)
            for each, value, plain in zip(self._held, stored, self.defaults, strict=False)
        }

    def stored(self, attributes: ClassAttributes) -> tuple[Any, ...]:
        """The part of a class's row that holds its attributes."""
        values = [getattr(attributes, name) for name in self.attributes]
        if values == self._plain:
            return self.defaults[: len(values)]
        return tuple([each.stored(value) for each, value in zip(self._held, values, strict=True)])

    @functools.cached_property
    def _held(self) -> Sequence[Attribute]:
        return [ATTRIBUTE[name] for name in self.attributes]

    @functools.cached_property
    def _plain(self) -> Sequence[Any]:
        return [each.default for each in self._held]

    @functools.cached_property
    def attributes(self) -> tuple[str, ...]:
        """Names of its class attributes, the first of the columns with a default."""
        return tuple(each for each in self.columns if each in ATTRIBUTE) if self.defaults else ()

    def with_attributes(
        self, row: tuple[Any, ...] | None, class_id: int, values: Mapping[str, Any]
    ) -> tuple[Any, ...]:
        """The row of a class with other values of some attributes; None for a missing row."""
        stored = self.stored(ClassAttributes(**{**self.attributes_in(row), **values}))
        if row is None:
            return (class_id, *stored)
        begin = len(self.columns) - len(self.defaults)
        return (*row[:begin], *stored, *row[begin + len(stored) :])

    def whole(self, row: tuple[Any, ...]) -> tuple[Any, ...]:
        """A row of the journal, filled up where an older version wrote it."""
        missing = len(self.columns) - len(row)
        return (
            (*row, *self.defaults[max(0, len(self.defaults) - missing) :]) if missing > 0 else row
        )

    @property
    def _key_test(self) -> str:
        return " AND ".join(f"{column} = ?" for column in self.columns[: self.key_width])

    @property
    def select_all(self) -> str:
        """Statement that reads all rows."""
        return f"SELECT {', '.join(self.columns)} FROM {self.name}"  # noqa: S608

    @property
    def select(self) -> str:
        """Statement that reads one row by its key."""
        return f"{self.select_all} WHERE {self._key_test}"

    @property
    def delete(self) -> str:
        """Statement that deletes one row by its key."""
        return f"DELETE FROM {self.name} WHERE {self._key_test}"  # noqa: S608

    def upsert(self, width: int) -> str:
        """Statement that inserts or updates the first `width` columns of one row."""
        written, key = self.columns[:width], ", ".join(self.columns[: self.key_width])
        news = ", ".join(f"{column} = excluded.{column}" for column in written[self.key_width :])
        clash = f"DO UPDATE SET {news}" if news else "DO NOTHING"
        places = ", ".join("?" * width)
        columns = ", ".join(written)
        return (
            f"INSERT INTO {self.name} ({columns}) VALUES ({places})"  # noqa: S608
            f" ON CONFLICT ({key}) {clash}"
        )


def _attribute_table(
    name: str, *columns: str, later: Mapping[str, str] = MappingProxyType({})
) -> JournaledTable:
    """One that holds attributes of classes; `later` are columns behind them with their defaults."""
    held = [each for each in ATTRIBUTES if each.table == name]
    names, defaults = (each.name for each in held), (each.stored(each.default) for each in held)
    return JournaledTable(
        name, ("class_id", *columns, *names, *later), defaults=(*defaults, *later.values())
    )


CLASS = _attribute_table("class", "name", later={"identity": NO_IDENTITY})
EDGE = JournaledTable("edge", ("parent_id", "child_id"), key_width=2)
IMAGE = JournaledTable(
    "image",
    ("image_id", "path", "size_bytes", "modified_ns", "part", "category", "detection_score"),
    defaults=(WHOLE, "", None),
)
LABEL = JournaledTable(
    "label", ("image_id", "class_id", "who", "labelled_at", "source", "is_empty"), defaults=(0,)
)
CLASS_POLICY = _attribute_table("class_policy")
CLASS_DETAIL = _attribute_table("class_detail")
IMAGE_NOTE = JournaledTable(
    "image_note", ("image_id", "stars", "is_flagged", "comment", "who", "noted_at")
)
CONFIRMED_LABEL = JournaledTable("confirmed_label", ("image_id", "class_id", "who", "confirmed_at"))
AUDIT = JournaledTable(
    "audit", ("audit_id", "drawn_at", "who", "is_stratified", "population", "size")
)
AUDIT_ITEM = JournaledTable(
    "audit_item",
    (
        *("audit_id", "image_id", "place", "class_id", "score", "safe_class_id", "safe_score"),
        *("stratum", "stratum_size"),
    ),
    key_width=2,
)
EXCLUSION = JournaledTable("exclusion", ("image_id", "class_id", "who", "excluded_at"), key_width=2)
FIELD_VALUE = JournaledTable(
    "field_value", ("image_id", "field", "value", "who", "entered_at"), key_width=2
)
SETTING = JournaledTable("setting", ("name", "value"))

JOURNALED_TABLES = {
    table.name: table
    for table in (
        *(CLASS, EDGE, IMAGE, LABEL, IMAGE_NOTE, CONFIRMED_LABEL, CLASS_POLICY, CLASS_DETAIL),
        *(AUDIT, AUDIT_ITEM, EXCLUSION, SETTING, FIELD_VALUE),
    )
}
