"""Changes by other programs to a project file: invalid values, tables and versions."""

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from random import Random

LONG_BYTES = 50_000_000
_TEXT = f"CAST(zeroblob({LONG_BYTES}) AS TEXT)"
_LONG = f"replace(hex(zeroblob({LONG_BYTES // 2})), '00', 'ab')"
_CLASS = "WHERE class_id = (SELECT class_id FROM class ORDER BY class_id LIMIT 1 OFFSET {row} % 8)"
_IMAGE = "WHERE image_id = (SELECT image_id FROM image ORDER BY image_id LIMIT 1 OFFSET {row})"
_LABEL = "WHERE image_id = (SELECT image_id FROM label ORDER BY image_id LIMIT 1 OFFSET {row} % 20)"
_STEP = (
    "WHERE step_id = (SELECT step_id FROM journal_step ORDER BY step_id LIMIT 1 OFFSET {row} % 12)"
)
_TABLES = (
    "class",
    "edge",
    "image",
    "label",
    "class_policy",
    "class_detail",
    "image_note",
    "confirmed_label",
    "audit",
    "audit_item",
    "exclusion",
    "field_value",
    "setting",
    "image_fact",
    "image_detail",
    "image_change",
    "model_version",
    "model_file",
    "prediction",
    "journal_step",
    "journal_chunk",
)
_COLUMNS = (
    ("class", "source_id"),
    ("class", "synonyms"),
    ("class", "identity"),
    ("image", "modified_ns"),
    ("image_note", "comment"),
    ("image_detail", "fields"),
    ("label", "source"),
    ("label", "who"),
    ("class_policy", "is_deepest"),
    ("class_detail", "colour"),
    ("class_detail", "note"),
    ("image_fact", "failure"),
    ("model_version", "figures"),
    ("model_version", "card"),
    ("journal_step", "who"),
    ("prediction", "safe_score"),
)

_UPDATES: Mapping[str, Sequence[str]] = {
    f"class SET name = {{}} {_CLASS}": (
        "x'ff00fe'",
        "CAST(name AS BLOB)",
        "CAST(x'c328' AS TEXT)",
        "''",
        "'  '",
        "'a/b'",
        "char(10)",
        "7",
        "1.5",
        "NULL",
        _LONG,
        _TEXT,
        "name || char(0) || 'x'",
        "char(8238) || name",
        "char(8203)",
    ),
    f"class SET source_id = {{}} {_CLASS}": ("x'ff'", "NULL", "5", "'n1'", "char(0)", _LONG, _TEXT),
    f"class SET synonyms = {{}} {_CLASS}": (
        "x'ff'",
        "NULL",
        "5",
        "'a'",
        "char(10)",
        "'a' || char(10) || name",
        _LONG,
        "'@de'",
        "name || '@de'",
        "'a@x-1' || char(10) || 'b@de' || char(0)",
        f"{_LONG} || '@de'",
    ),
    "class SET identity = {}": (
        "x'ff'",
        "NULL",
        "5",
        "''",
        "'abc'",
        "char(0)",
        "upper(identity)",
        _LONG,
        "(SELECT identity FROM class LIMIT 1)",
    ),
    f"class SET class_id = {{}} {_CLASS}": ("-5", "0", "4611686018427387904"),
    "class_policy SET bar = {}": ("'high'", "7.5", "-1", "9e999", "x'00'"),
    "class_policy SET is_broadest = {}": ("'maybe'", "7", "NULL", "x'01'"),
    "class_detail SET label_key = {}": ("'one'", "10", "-1", "NULL", "x'01'"),
    "class_policy SET is_deepest = {}": ("'maybe'", "7", "NULL", "x'01'"),
    "class_detail SET note = {}": ("x'ff'", "NULL", "5", "char(0)", _LONG, _TEXT),
    "class_detail SET colour = {}": ("'red'", "NULL", "5", "x'23'", "'#GGGGGG'", _LONG),
    f"image SET path = {{}} {_IMAGE}": (
        "5",
        "1.5",
        "x'ff'",
        "''",
        "char(0)",
        "NULL",
        _LONG,
        "'../../' || path",
    ),
    f"image SET size_bytes = {{}} {_IMAGE}": ("'big'", "-1", "1e30", "NULL", "x'00'"),
    f"image SET modified_ns = {{}} {_IMAGE}": ("'yesterday'", "1e30", "-1", "NULL"),
    f"image SET part = {{}} {_IMAGE}": (
        "5",
        "x'ff'",
        "NULL",
        "'page=0'",
        "'xywh=percent:1,2'",
        "char(0)",
        _LONG,
    ),
    f"image SET category = {{}} {_IMAGE}": ("5", "x'ff'", "NULL", _LONG),
    f"image SET detection_score = {{}} {_IMAGE}": ("7", "-1", "'x'", "9e999"),
    f"label SET is_empty = {{}} {_LABEL}": ("1", "7", "'x'", "NULL"),
    "field_value SET value = {}": ("5", "x'ff'", "NULL", "''", _LONG),
    "field_value SET field = {}": ("5", "x'ff'", "NULL", "''", _LONG),
    f"image SET image_id = {{}} {_IMAGE}": ("-5", "0", "9223372036854775807"),
    f"label SET class_id = {{}} {_LABEL}": ("'Red disc'", "9999", "1.5", "x'05'", "-1"),
    f"label SET labelled_at = {{}} {_LABEL}": (
        "'yesterday'",
        "''",
        "5",
        "NULL",
        "x'00'",
        "'2026-01-02T03:04:05'",
    ),
    f"label SET who = {{}} {_LABEL}": ("x'ff'", "5", "NULL", _LONG, "CAST(x'c328' AS TEXT)"),
    f"label SET source = {{}} {_LABEL}": ("x'ff'", "NULL", "7"),
    f"label SET image_id = {{}} {_LABEL}": ("99999", "-3"),
    "setting SET value = {} WHERE name = 'model_version'": (
        "'x'",
        "'77'",
        "''",
        "x'31'",
        "'1.5'",
        "'null'",
        "5",
    ),
    "setting SET value = {} WHERE name <> 'model_version'": (
        "'not json'",
        "x'00'",
        "5",
        _LONG,
        "'[[[['",
    ),
    "setting SET name = {} WHERE name <> 'model_version'": ("x'ff'", "NULL", "5"),
    f"image_note SET stars = {{}} {_IMAGE}": ("6", "-1", "'x'", "NULL", "1.5"),
    f"image_note SET is_flagged = {{}} {_IMAGE}": ("2", "'x'", "NULL"),
    f"image_note SET comment = {{}} {_IMAGE}": ("x'ff'", "NULL", "5", "char(0)", _LONG),
    f"image_note SET noted_at = {{}} {_IMAGE}": ("'yesterday'", "5", "NULL", "x'00'"),
    f"confirmed_label SET class_id = {{}} {_IMAGE}": ("'x'", "9999", "1.5"),
    f"confirmed_label SET confirmed_at = {{}} {_IMAGE}": ("'yesterday'", "5", "NULL"),
    "audit SET drawn_at = {}": ("'yesterday'", "5", "NULL", "x'00'"),
    "audit SET size = {}": ("-1", "'x'", "NULL", "1000000"),
    "audit_item SET class_id = {}": ("'x'", "9999", "1.5"),
    "audit_item SET score = {}": ("7", "-1", "'x'", "NULL"),
    "audit_item SET stratum_size = {}": ("0", "-1", "'x'", "NULL"),
    "exclusion SET class_id = {}": ("'x'", "9999", "NULL"),
    "exclusion SET excluded_at = {}": ("'yesterday'", "5", "NULL"),
    f"image_detail SET taken_at = {{}} {_IMAGE}": (
        "'yesterday'",
        "5",
        "'2026-13-40T99:00:00'",
        _LONG,
    ),
    f"image_detail SET latitude = {{}} {_IMAGE}": ("91", "'x'", "-9e999"),
    f"image_detail SET width = {{}} {_IMAGE}": ("-1", "'x'", "NULL"),
    f"image_detail SET fields = {{}} {_IMAGE}": ("'[]'", "'not json'", "x'ff'", _LONG, "'[[[['"),
    f"image_fact SET content_hash = {{}} {_IMAGE}": ("'text'", "5", "x'00'", "zeroblob(1000000)"),
    f"image_fact SET failure = {{}} {_IMAGE}": ("5", "x'ff'", _LONG),
    "model_version SET figures = {}": (
        "'nope'",
        "'[]'",
        '\'{"after_accuracy": "x"}\'',
        "NULL",
        "5",
        "'7'",
    ),
    "model_version SET settings = {}": ("'nope'", "'[]'", "x'00'", "'{\"a\": [1]}'", "NULL"),
    "model_version SET created_at = {}": ("'yesterday'", "5", "NULL", "x'00'"),
    "model_version SET card = {} WHERE card <> ''": ("'nope'", "x'00'", "'{}'", "5"),
    "model_version SET name = {} WHERE card <> ''": ("x'ff'", "5", _LONG),
    "model_version SET backbone_hash = {}": ("x'ff'", "''", "5", "'zz'"),
    "model_version SET backbone_name = {}": ("x'ff'", "''", "5", "'../../etc'", _LONG),
    "model_version SET parent_id = {} WHERE card <> ''": ("77", "'x'", "2"),
    "model_file SET content = {}": ("x'00'", "'text'", "NULL", "5"),
    "model_file SET hash = {}": ("x'ff'", "'zz'", "5"),
    f"prediction SET score = {{}} {_IMAGE}": ("'x'", "7", "-1", "9e999", "x'00'"),
    f"prediction SET class_id = {{}} {_IMAGE}": ("9999", "'x'", "1.5"),
    f"prediction SET safe_class_id = {{}} {_IMAGE}": ("9999", "'x'"),
    f"prediction SET safe_score = {{}} {_IMAGE}": ("'x'", "NULL"),
    f"journal_chunk SET row_changes = {{}} {_STEP}": (
        "'rubbish'",
        "x'00'",
        "NULL",
        "5",
        "'[]'",
        "'[[\"label\"]]'",
        "'[[\"absent\",null,[1]]]'",
        '\'[["label",[1],["a","b"]]]\'',
        "'[[\"class\",null,null]]'",
        f"substr({_LONG}, 1, 1000000)",
        "'null'",
        "replace(hex(zeroblob(100000)), '00', '[')",
    ),
    f"journal_step SET text = {{}} {_STEP}": ("x'ff'", "5", "NULL", _LONG),
    f"journal_step SET code = {{}} {_STEP}": ("x'ff'", "5", "NULL", _LONG),
    f"journal_step SET arguments = {{}} {_STEP}": ("x'ff'", "'[]'", "NULL", _LONG),
    f"journal_step SET done_at = {{}} {_STEP}": ("'yesterday'", "5", "x'00'"),
    f"journal_step SET who = {{}} {_STEP}": ("x'ff'", "5"),
    f"journal_step SET is_undone = {{}} {_STEP}": ("'x'", "7", "NULL", "1 - is_undone"),
    "sqlite_sequence SET seq = {}": ("0", "'x'", "9223372036854775807", "-1", "NULL"),
    "sqlite_schema SET sql = {} WHERE name='label'": (
        "'CREATE TABLE label (x)'",
        "'x'",
        "lower(sql)",
    ),
}
"""Statements of the form UPDATE ..., and values for each."""

_STATEMENTS: Sequence[str] = (
    "INSERT INTO edge VALUES (2, 1), (1, 2)",
    "INSERT INTO edge SELECT child_id, parent_id FROM edge LIMIT 1",
    "INSERT INTO edge VALUES (3, 3)",
    "INSERT INTO edge VALUES (1, 999)",
    "INSERT INTO edge VALUES (999, 1)",
    "INSERT INTO edge VALUES ('x', 1)",
    "INSERT INTO edge VALUES (x'01', 1.5)",
    "INSERT INTO class (class_id, name) VALUES (800, 'Crow'), (900, 'Crow')",
    "DELETE FROM class WHERE class_id = 2",
    "DELETE FROM edge",
    "DELETE FROM image WHERE image_id < 9",
    "DELETE FROM label",
    "DELETE FROM setting",
    "DELETE FROM setting WHERE name = 'model_version'",
    "DELETE FROM model_version",
    "DELETE FROM model_version WHERE version_id = 1",
    "DELETE FROM model_file",
    "DELETE FROM image_fact WHERE image_id < 9",
    "DELETE FROM prediction WHERE image_id < 40",
    "DELETE FROM journal_step WHERE step_id % 3 = 0",
    "DELETE FROM journal_chunk WHERE step_id % 3 = 0",
    "DELETE FROM sqlite_sequence",
    "UPDATE journal_chunk SET sequence = sequence + 7 WHERE step_id = 4",
    "UPDATE class SET name = upper(name)",
    "INSERT INTO setting VALUES ('collection', '\"maybe\"'), ('setting', '[1]')",
    "CREATE TRIGGER ours AFTER INSERT ON label BEGIN DELETE FROM label; END",
    (
        "CREATE TRIGGER ours AFTER INSERT ON journal_step BEGIN UPDATE class SET name = name || "
        "'x'; "
        "END"
    ),
    "CREATE TRIGGER ours BEFORE UPDATE ON label BEGIN SELECT RAISE(IGNORE); END",
    "CREATE TABLE ours (x)",
    "CREATE VIEW ours AS SELECT * FROM label",
    "CREATE INDEX ours ON label (who)",
    "CREATE UNIQUE INDEX ours ON label (class_id, who, source, labelled_at)",
    (
        "ALTER TABLE label RENAME TO label_2; CREATE VIEW label AS SELECT * FROM label_2 WHERE "
        "class_id = 4"
    ),
    (
        "ALTER TABLE class RENAME TO class_2; CREATE VIEW class AS"
        " SELECT class_id, name || 'x' AS name, source_id, synonyms FROM class_2"
    ),
    "ALTER TABLE label ADD COLUMN ours TEXT NOT NULL DEFAULT 'x'",
    "ALTER TABLE class ADD COLUMN ours AS (name)",
    "ALTER TABLE label RENAME COLUMN who TO person",
    "PRAGMA application_id = 0",
    "PRAGMA journal_mode = WAL",
    "PRAGMA page_size = 512; PRAGMA journal_mode = DELETE; VACUUM",
    "PRAGMA auto_vacuum = FULL; VACUUM",
    "VACUUM",
    *(f"PRAGMA user_version = {version}" for version in (*range(-1, 13), 999, 2147483647)),
    *(f"DROP TABLE {table}" for table in _TABLES),
    *(f"ALTER TABLE {table} DROP COLUMN {column}" for table, column in _COLUMNS),
    "DROP INDEX edge_by_child",
    "DROP INDEX label_by_class",
)

VALUE_DAMAGE: Sequence[str] = (
    *_STATEMENTS,
    *(
        f"UPDATE {place.format(value, row='{row}')}"
        for place, values in _UPDATES.items()
        for value in values
    ),
)
"""Statements; `{row}` is replaced by a row id."""


def write_values(path: Path, statements: str, chance: Random) -> None:
    """Change a project file with SQLite directly; statements that SQLite refuses are skipped."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.set_trace_callback(None)
        for pragma in (
            "foreign_keys = OFF",
            "ignore_check_constraints = ON",
            "writable_schema = ON",
        ):
            connection.execute(f"PRAGMA {pragma}")
        for statement in statements.replace("{row}", str(chance.randrange(40))).split("; "):
            with suppress(sqlite3.Error):
                connection.execute(statement)
