"""Migrations of older project files: after a verified backup, one transaction per step."""

import re
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from engine.errors import InputError, ProjectDamagedError
from engine.project.connection import Connection
from engine.project.file.file_state import has_state, insert_state, mark_of, read_mark, write_mark
from engine.project.identity_migration import give_identities
from engine.project.schema import (
    ACTION_COLUMNS,
    AUDIT_TABLES,
    CLASS_COLUMNS,
    CLASS_DETAIL_TABLE,
    DETAIL_COLUMNS,
    EMPTY_COLUMN,
    EXCLUSION_TABLE,
    FIELD_VALUE_TABLE,
    IMAGE_CHANGE_TABLE,
    IMAGE_PART_COLUMNS,
    IMAGE_PATH_COLUMN,
    IMAGE_TABLES,
    LABEL_COLUMNS,
    POLICY_COLUMNS,
    SCHEMA,
    SCHEMA_VERSION,
    STEP_COLUMNS,
    UNIQUE_PATH_COLUMN,
    attribute_columns,
)


@dataclass(frozen=True)
class Migration:
    """One way from a version, as in `PRAGMA user_version`, to the next."""

    from_version: int
    to_version: int
    name: str  # description
    apply: Callable[[Connection], None]  # makes the change inside an open transaction


_TRAINED_MODELS = """
ALTER TABLE model_version ADD COLUMN name TEXT NOT NULL DEFAULT '';
ALTER TABLE model_version ADD COLUMN parent_id INTEGER;
ALTER TABLE model_version ADD COLUMN card TEXT NOT NULL DEFAULT '';
ALTER TABLE model_version ADD COLUMN figures TEXT NOT NULL DEFAULT '{}';
CREATE TABLE model_file (
    hash TEXT PRIMARY KEY,
    content BLOB NOT NULL
);
"""

_SCHEMA_OF_VERSION_3 = (
    SCHEMA.replace(CLASS_COLUMNS, "")
    .replace(CLASS_DETAIL_TABLE, "")
    .replace(IMAGE_TABLES, "")
    .replace(IMAGE_CHANGE_TABLE, "")
    .replace(AUDIT_TABLES, "")
    .replace(EXCLUSION_TABLE, "")
    .replace(FIELD_VALUE_TABLE, "")
    .replace(IMAGE_PATH_COLUMN, UNIQUE_PATH_COLUMN)
    .replace(IMAGE_PART_COLUMNS, "")
    .replace(LABEL_COLUMNS, "")
    .replace(POLICY_COLUMNS, "")
    .replace(STEP_COLUMNS, "")
)
_TABLES_OF_VERSION_2 = (
    *("class", "edge", "image", "label", "class_policy", "setting", "image_fact"),
    *("model_version", "model_file", "prediction", "journal_step", "journal_chunk"),
)
_COPIED_OTHERWISE = {
    "failure": "substr(failure, 1, 10000)",
    # Rounding may have left a bit more than 1; values of other types are refused.
    "score": "iif(typeof(score) = 'real', max(0.0, min(1.0, score)), score)",
    "safe_score": "iif(typeof(safe_score) = 'real', max(0.0, min(1.0, safe_score)), safe_score)",
    "text": "substr(text, 1, 10000)",
}


def _with_strict_tables(connection: Connection) -> None:
    """Recreate every table with kinds, lengths and ranges, and set the identity of the file."""
    mark = mark_of(connection)
    for (name,) in connection.rows(
        "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL"
    ):
        connection.write(f'DROP INDEX "{name}"')
    last_ids: dict[str, int] = dict(connection.rows("SELECT name, seq FROM sqlite_sequence"))
    columns = {}
    for table in _TABLES_OF_VERSION_2:
        columns[table] = [row[1] for row in connection.rows(f"PRAGMA table_info({table})")]
        connection.write(f"ALTER TABLE {table} RENAME TO old_{table}")
    connection.script(_SCHEMA_OF_VERSION_3)
    for table in _TABLES_OF_VERSION_2:
        chosen = ", ".join(_COPIED_OTHERWISE.get(column, column) for column in columns[table])
        connection.write(
            f"INSERT INTO {table} ({', '.join(columns[table])})"  # noqa: S608
            f" SELECT {chosen} FROM old_{table}"
        )
    for table in reversed(_TABLES_OF_VERSION_2):
        connection.write(f"DROP TABLE old_{table}")
    for table, last_id in last_ids.items():
        connection.write("DELETE FROM sqlite_sequence WHERE name = ?", (table,))
        connection.write("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (table, last_id))
    insert_state(connection, is_journal_whole=False, mark=mark)


def _with_columns_since(version: int, *tables: str) -> Callable[[Connection], None]:
    """Adds the attributes of classes that a version brought."""

    def apply(connection: Connection) -> None:
        for table in tables:
            for column in attribute_columns(table, version):
                connection.write(f"ALTER TABLE {table} ADD COLUMN {column}")

    return apply


def _with_details(connection: Connection) -> None:
    connection.script(CLASS_DETAIL_TABLE.replace(DETAIL_COLUMNS, ""))


def _with_actions(connection: Connection) -> None:
    for column in ACTION_COLUMNS:
        connection.write(f"ALTER TABLE journal_step ADD COLUMN {column}")


def _with_identities_and_changes(connection: Connection) -> None:
    give_identities(connection)
    connection.script(IMAGE_CHANGE_TABLE)


def _with_parts(connection: Connection) -> None:
    """Allow several images of a file: SQLite cannot change a unique key of a table."""
    last_id = connection.value("SELECT seq FROM sqlite_sequence WHERE name = 'image'")
    connection.write("ALTER TABLE image RENAME TO old_image")
    (image_table,) = re.findall(r"CREATE TABLE image \(.*?\) STRICT;", SCHEMA, re.DOTALL)
    connection.script(image_table)
    columns = "image_id, path, size_bytes, modified_ns"
    connection.write(f"INSERT INTO image ({columns}) SELECT {columns} FROM old_image")  # noqa: S608
    connection.write("DROP TABLE old_image")
    connection.write("DELETE FROM sqlite_sequence WHERE name = 'image'")
    if last_id is not None:
        connection.write("INSERT INTO sqlite_sequence (name, seq) VALUES ('image', ?)", (last_id,))
    connection.write(f"ALTER TABLE label ADD COLUMN {EMPTY_COLUMN}")
    connection.script(FIELD_VALUE_TABLE)


_WITH_LATER_COLUMNS = ("class_policy", "class_detail")

MIGRATIONS: Sequence[Migration] = (
    Migration(
        1,
        2,
        "models trained in the project live in it",
        lambda connection: connection.script(_TRAINED_MODELS),
    ),
    Migration(
        2, 3, "tables know what may be in them, and the file knows itself", _with_strict_tables
    ),
    Migration(3, 4, "classes keep their source id and synonyms", _with_columns_since(4, "class")),
    Migration(4, 5, "classes have notes and colours", _with_details),
    Migration(5, 6, "classes have a rank", _with_columns_since(6, "class")),
    Migration(6, 7, "actions are codes with arguments, not sentences", _with_actions),
    Migration(
        7, 8, "images have notes and details", lambda connection: connection.script(IMAGE_TABLES)
    ),
    Migration(
        8,
        9,
        "classes have an identity, and images know of changed files",
        _with_identities_and_changes,
    ),
    Migration(
        9,
        10,
        "images can be drawn at random to be checked",
        lambda connection: connection.script(AUDIT_TABLES),
    ),
    Migration(
        10,
        11,
        "classes can be excluded for an image",
        lambda connection: connection.script(EXCLUSION_TABLE),
    ),
    Migration(11, 12, "an image can be a part of a file, and have values of fields", _with_parts),
    Migration(
        12,
        13,
        "classes have a key, and can be the broadest",
        _with_columns_since(13, *_WITH_LATER_COLUMNS),
    ),
)


def migrate(connection: Connection, version: int) -> None:
    """Migrate a project file that is open for writing and backed up to the current version.

    Raises:
        ProtoleafError: a step failed; the file has the version that the steps before it reached.
    """
    if version == SCHEMA_VERSION:
        return
    # tables are recreated, and references hold by name
    connection.write("PRAGMA foreign_keys = OFF")
    connection.write("PRAGMA legacy_alter_table = ON")
    try:
        for migration in (each for each in MIGRATIONS if each.from_version >= version):
            with connection.transaction():
                # like any other commit: it counts, and takes the seal away
                if has_state(connection):
                    write_mark(connection, read_mark(connection).next)
                migration.apply(connection)
                connection.write(f"PRAGMA user_version = {migration.to_version}")
    except (sqlite3.Error, InputError) as error:
        raise ProjectDamagedError(
            "the project cannot be updated to the current version",
            found="{reason} in {path}",
            remedy="open an earlier copy of the file, or restore a backup; nothing was changed",
            reason=error,
            path=connection.path,
        ) from error
    finally:
        connection.write("PRAGMA legacy_alter_table = OFF")
