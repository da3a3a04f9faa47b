"""Check of journaled rows against the steps of the journal.

In two passes. The first stores two 64-bit hashes of each row change, so that millions of images fit
in memory; only rows with differing hashes are compared by the second, which names them. A changed
row escapes the first pass with a probability of 2^-64, by a salt that is another one in each
process.
"""

import marshal
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from engine.errors import ProjectDamagedError
from engine.events import CancelToken, OnProgress, ProgressMeter, ignore_progress
from engine.project.connection import Connection, Row
from engine.project.model_rows import MODEL_SETTING
from engine.project.schema import JOURNALED_TABLES, JournaledTable
from engine.project.step import RowChange, decoded

# what a row holds by table and key; None where it was deleted
Rows = Mapping[tuple[str, Row], Row | None]
Hashes = NDArray[np.int64]

_NAMED_AT_MOST = 5
_NO_ROW = 0  # in place of the hash of a row that was deleted
_WITHOUT_HISTORY = (
    "setting",
    (MODEL_SETTING,),
)  # table and key of the one row that no step explains
_ROWS_AT_ONCE = 8192
_IDS = 2**56  # more than any table has
_FIRST_OF_TABLE = {name: number * _IDS for number, name in enumerate(JOURNALED_TABLES)}
_FORMAT = 2  # of marshal: equal values have equal bytes
_CHUNKS = """SELECT step_id, sequence, is_undone
FROM journal_chunk JOIN journal_step USING (step_id)
    ORDER BY step_id, sequence"""


def history_faults(
    connection: Connection,
    *,
    on_progress: OnProgress = ignore_progress,
    cancel: CancelToken | None = None,
) -> list[str]:
    """One line for each row that differs from its history, and for each step that cannot be read.

    Every journaled row comes from a step of the journal, so the steps must add up to the tables.
    This finds what no structural check can: a well-formed wrong value, or half of an action.

    Args:
        on_progress: is called with the parts of the history that were read.
        cancel: stops between parts of the history.

    Raises:
        Cancelled: stopped.
    """
    history, cancel = _HashedHistory(), cancel or CancelToken()
    unreadable = []
    chunks = connection.rows(_CHUNKS)
    meter = ProgressMeter(len(chunks), on_progress, unit="parts")
    for step_id, sequence, is_undone in chunks:
        cancel.raise_if_cancelled()
        meter.advance()
        try:
            changes = read_chunk(connection, step_id, sequence)
        except ProjectDamagedError as error:
            unreadable.append(f"{error.what} ({error.found})")
            continue
        if not is_undone:
            history.add(changes)
    if unreadable:
        return unreadable
    is_whole = bool(connection.value("SELECT is_journal_whole FROM file_state"))
    suspects = history.latest().suspects(connection, is_whole=is_whole)
    return (
        _named(list(_differing_rows(connection, suspects, is_whole=is_whole))) if suspects else []
    )


def read_chunk(connection: Connection, step_id: int, sequence: int) -> list[RowChange]:
    """Read the row changes of a chunk of a step; raises `ProjectDamagedError` if unreadable."""
    stored = connection.value(
        "SELECT row_changes FROM journal_chunk WHERE step_id = ? AND sequence = ?",
        (step_id, sequence),
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


class _HashedHistory:
    """Hashes of the key and of the result of each row change, in their order."""

    def __init__(self) -> None:
        self._keys, self._rows = array("q"), array("q")

    def add(self, changes: list[RowChange]) -> None:
        """Add the changes of a part of a step."""
        changed = list(_changed(changes))
        self._keys.extend([_key_hash(name, key) for name, key, _ in changed])
        self._rows.extend(
            [_NO_ROW if after is None else _row_hash(name, after) for name, _, after in changed]
        )

    def latest(self) -> "_LatestRows":
        """What the last change of each key left."""
        keys, rows = (
            np.frombuffer(each, dtype=np.int64)[::-1] for each in (self._keys, self._rows)
        )
        unique, first = np.unique(keys, return_index=True)
        return _LatestRows(unique, rows[first])


@dataclass(frozen=True)
class _LatestRows:
    """Expected state of n rows by the journal, by hashes of tables and keys."""

    keys: Hashes  # (n,) int64, ascending
    rows: Hashes  # (n,) int64, `_NO_ROW` for those that were deleted

    def suspects(self, connection: Connection, *, is_whole: bool) -> set[int]:
        """Hashes of the keys whose rows differ from the journal, are missing, or should be."""
        is_there = np.zeros(len(self.keys), dtype=bool)
        suspects: set[int] = set()
        for keys, rows in _hashed_tables(connection):
            places = np.searchsorted(self.keys, keys)
            places[places == len(self.keys)] = 0
            is_known = (
                self.keys[places] == keys if len(self.keys) else np.zeros(len(keys), dtype=bool)
            )
            is_there[places[is_known]] = True
            is_other = is_known.copy()
            is_other[is_known] = self.rows[places[is_known]] != rows[is_known]
            suspects.update(keys[is_other].tolist())
            if is_whole:
                suspects.update(set(keys[~is_known].tolist()) - {_key_hash(*_WITHOUT_HISTORY)})
        suspects.update(self.keys[(self.rows != _NO_ROW) & ~is_there].tolist())
        return suspects


def _changed(changes: list[RowChange]) -> Iterator[tuple[str, Row, Row | None]]:
    """Table and key of each change, and the whole row that it left; None where it deleted one."""
    for name, before, after in changes:
        table, row = JOURNALED_TABLES[name], after if after is not None else before
        if row is not None:
            yield name, row[: table.key_width], after and table.whole(after)


def _hashed_tables(connection: Connection) -> Iterator[tuple[Hashes, Hashes]]:
    """Hashes of keys and rows of all journaled tables, a block of rows after the other."""
    for table in JOURNALED_TABLES.values():
        name, width, rows = table.name, table.key_width, _rows_of(connection, table)
        while block := list(islice(rows, _ROWS_AT_ONCE)):
            keys = [_key_hash(name, row[:width]) for row in block]
            yield (
                np.array(keys, dtype=np.int64),
                np.array([_row_hash(name, row) for row in block], dtype=np.int64),
            )


def _key_hash(name: str, key: Row) -> int:
    # Ids are kept in order, as in tables and mostly in the journal: lookups in any other order
    # waits for memory. Keys with one hash are compared as they are, like all suspects.
    is_id = len(key) == 1 and type(key[0]) is int and 0 <= key[0] < _IDS
    return _FIRST_OF_TABLE[name] + key[0] if is_id else hash((name, key))


def _row_hash(name: str, row: Row) -> int:
    # Python's hash of an integer is not random, equal for -1 and -2; that of bytes is salted.
    return hash(marshal.dumps((name, row), _FORMAT)) or 1


def _differing_rows(connection: Connection, suspects: set[int], *, is_whole: bool) -> Iterator[str]:
    """One line for each of these rows that differs from the journal."""
    explained: dict[tuple[str, Row], Row | None] = {}
    for step_id, sequence, is_undone in connection.rows(_CHUNKS):
        if not is_undone:
            for name, key, after in _changed(read_chunk(connection, step_id, sequence)):
                if _key_hash(name, key) in suspects:
                    explained[name, key] = after
    return chain.from_iterable(
        _differing(connection, table, explained, suspects, is_whole=is_whole)
        for table in JOURNALED_TABLES.values()
    )


def _differing(
    connection: Connection,
    table: JournaledTable,
    explained: Rows,
    suspects: set[int],
    *,
    is_whole: bool,
) -> Iterator[str]:
    expected = {key: row for (name, key), row in explained.items() if name == table.name}
    for row in _rows_of(connection, table):
        key = row[: table.key_width]
        if key in expected:
            recorded = expected.pop(key)
            if recorded is None or row != recorded:
                yield f"row {_text(key)} of table {table.name} is other than its history says"
        elif (
            is_whole
            and (table.name, key) != _WITHOUT_HISTORY
            and _key_hash(table.name, key) in suspects
        ):
            yield f"row {_text(key)} of table {table.name} has no history"
    for key, recorded in expected.items():
        if recorded is not None:
            name = f"row {_text(key)} of table {table.name}"
            yield f"{name} is gone, and its history does not say why"


def _rows_of(connection: Connection, table: JournaledTable) -> Iterator[Row]:
    return connection.each(table.select_all)


def _named(lines: list[str]) -> list[str]:
    rest = len(lines) - _NAMED_AT_MOST
    return (
        lines
        if rest <= 1
        else [*lines[:_NAMED_AT_MOST], f"and {rest} more rows that do not fit their history"]
    )


def _text(key: Row) -> str:
    return ", ".join(map(str, key))
