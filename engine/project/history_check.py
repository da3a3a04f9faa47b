"""Does the history explain what is there? Every row that a person made comes from a step of the journal.

So what the steps add up to must be what the tables hold. This finds what no check of the file's structure can: a value
that is well formed and wrong, or half of an action.
"""

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Final

from engine.errors import ProjectDamagedError
from engine.project.connection import Connection, Row
from engine.project.model_rows import MODEL_SETTING
from engine.project.row_changes import RowChange, decoded
from engine.project.schema import JOURNALED_TABLES, JournaledTable

_NAMED_AT_MOST: Final = 5

Rows = Mapping[tuple[str, Row], Row | None]
"""What a row holds by table and key; None where it was deleted."""


def history_faults(connection: Connection) -> list[str]:
    """One line for each row that is other than its history says, and for each step that cannot be read."""
    explained: dict[tuple[str, Row], Row | None] = {}
    unreadable = []
    chunks = connection.rows(
        "SELECT step_id, sequence, is_undone FROM journal_chunk JOIN journal_step USING (step_id)"
        " ORDER BY step_id, sequence"
    )
    for step_id, sequence, is_undone in chunks:
        try:
            changes = read_chunk(connection, step_id, sequence)
        except ProjectDamagedError as error:
            unreadable.append(f"{error.what} ({error.found})")
            continue
        if not is_undone:
            explained.update(_after(changes))
    if unreadable:
        return unreadable
    is_whole = bool(connection.value("SELECT is_journal_whole FROM file_state"))
    differing = chain.from_iterable(
        _differing(connection, table, explained, is_whole=is_whole) for table in JOURNALED_TABLES.values()
    )
    return _named(list(differing))


def read_chunk(connection: Connection, step_id: int, sequence: int) -> list[RowChange]:
    """Read the row changes of a part of a step.

    Raises:
        ProjectDamagedError: they cannot be read.
    """
    stored = connection.value(
        "SELECT row_changes FROM journal_chunk WHERE step_id = ? AND sequence = ?", (step_id, sequence)
    )
    try:
        return decoded(stored)
    except ValueError as error:
        raise ProjectDamagedError(
            "a step of the history cannot be read",
            found="step {step_id}: {reason}",
            remedy="restore a backup or open an earlier copy of the file",
            step_id=step_id,
            reason=error,
        ) from error


def _after(changes: list[RowChange]) -> Iterator[tuple[tuple[str, Row], Row | None]]:
    for name, before, after in changes:
        row = after if after is not None else before
        if row is not None:
            yield (name, row[: JOURNALED_TABLES[name].key_width]), after


def _differing(connection: Connection, table: JournaledTable, explained: Rows, *, is_whole: bool) -> Iterator[str]:
    expected = {key: row for (name, key), row in explained.items() if name == table.name}
    columns = ", ".join(table.columns)
    for row in connection.each(f"SELECT {columns} FROM {table.name}"):  # noqa: S608 (our names)
        key = row[: table.key_width]
        if key in expected:
            recorded = expected.pop(key)
            if recorded is None or row != table.whole(recorded):
                yield f"row {_text(key)} of table {table.name} is other than its history says"
        elif is_whole and key != (MODEL_SETTING,):
            yield f"row {_text(key)} of table {table.name} has no history"
    for key, recorded in expected.items():
        if recorded is not None:
            yield f"row {_text(key)} of table {table.name} is gone, and its history does not say why"


def _text(key: Row) -> str:
    return ", ".join(str(part) for part in key)


def _named(lines: list[str]) -> list[str]:
    rest = len(lines) - _NAMED_AT_MOST
    return lines if rest <= 1 else [*lines[:_NAMED_AT_MOST], f"and {rest} more rows that do not fit their history"]
