"""Version 9: classes get an identity, in their table and in the journal.

That of an older class is derived from the step that created it, so that separately migrated copies
of one project agree on their common classes only. A class without such a step gets none.
"""

from collections.abc import Iterator, Mapping

from blake3 import blake3

from engine.graph.identities import IDENTITY_BYTES
from engine.project.connection import Connection, Row
from engine.project.file.file_state import read_mark
from engine.project.records import ClassId
from engine.project.schema import CLASS, IDENTITY_COLUMN
from engine.project.step import RowChange, decoded, encoded

_CHUNKS = """SELECT step_id, sequence, done_at FROM journal_chunk
JOIN journal_step USING (step_id) ORDER BY step_id, sequence"""
_CHUNK = "SELECT row_changes FROM journal_chunk WHERE step_id = ? AND sequence = ?"
_PUT_CHUNK = "UPDATE journal_chunk SET row_changes = ? WHERE step_id = ? AND sequence = ?"
_WIDTH = len(CLASS.columns) - 1  # of a class's row in version 8
_WIDTHS = range(2, _WIDTH + 1)  # of those in journals: the first version wrote id and name


def give_identities(connection: Connection) -> None:
    """Add the column and fill it in."""
    connection.write(f"ALTER TABLE class ADD COLUMN {IDENTITY_COLUMN}")
    identities: dict[ClassId, str] = {}
    project_id = read_mark(connection).project_id
    for step_id, sequence, done_at in connection.rows(_CHUNKS):
        changes = _changes(connection, step_id, sequence)
        for class_id, name in _classes_made(changes):
            made = f"{project_id} {step_id} {done_at} {class_id} {name}"
            identities.setdefault(class_id, blake3(made.encode()).hexdigest(IDENTITY_BYTES))
        if any(table == CLASS.name for table, _before, _after in changes):
            news = [_with_identity(change, identities) for change in changes]
            connection.write(_PUT_CHUNK, (encoded(news), step_id, sequence))
    connection.write_many(
        "UPDATE class SET identity = ? WHERE class_id = ?",
        [(text, class_id) for class_id, text in identities.items()],
    )


def _changes(connection: Connection, step_id: int, sequence: int) -> list[RowChange]:
    try:
        return decoded(connection.value(_CHUNK, (step_id, sequence)))
    except ValueError:
        return []  # is not changed: the check reports it


def _classes_made(changes: list[RowChange]) -> Iterator[tuple[ClassId, str]]:
    for table, before, after in changes:
        if table == CLASS.name and before is None and after is not None and len(after) in _WIDTHS:
            yield after[0], after[1]


def _with_identity(change: RowChange, identities: Mapping[ClassId, str]) -> RowChange:
    table, before, after = change
    return (
        change
        if table != CLASS.name
        else (table, _whole(before, identities), _whole(after, identities))
    )


def _whole(row: Row | None, identities: Mapping[ClassId, str]) -> Row | None:
    if row is None or len(row) not in _WIDTHS:
        return row
    return (*CLASS.whole(row)[:_WIDTH], identities.get(row[0], ""))
