"""A step in progress: the only way to change journaled rows, so that none is missed."""

import json
import zlib
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, final

from engine.errors import StorageError
from engine.project.actions import Action
from engine.project.change import Change, ChangeBuilder
from engine.project.clock import now_text
from engine.project.connection import Connection, Row
from engine.project.schema import JOURNALED_TABLES, LONGEST_TEXT, JournaledTable

# table, row before, row after; None where it was not there
RowChange = tuple[str, Row | None, Row | None]

# JSON has no bytes; rows hold no dictionaries, so this one cannot be mistaken
_BYTES_KEY = "bytes"
_SMALL_LENGTH = 512  # shorter texts do not get smaller
_QUICK = 1  # zlib level; paths repeat so much that it already takes away nine tenths


def encoded(changes: Sequence[RowChange]) -> str | bytes:
    """Row changes, in the order they were made, as JSON text, compressed where that pays."""
    text = json.dumps(
        changes,
        ensure_ascii=False,
        separators=(",", ":"),
        default=lambda value: {_BYTES_KEY: value.hex()},
    )
    return text if len(text) < _SMALL_LENGTH else zlib.compress(text.encode(), _QUICK)


def decoded(stored: str | bytes) -> list[RowChange]:
    """The row changes that `encoded` packed; raises `ValueError` for anything else."""
    try:
        text = stored if isinstance(stored, str) else zlib.decompress(stored).decode()
        loaded = json.loads(text, object_hook=lambda value: bytes.fromhex(value[_BYTES_KEY]))
        changes = [(table, _row(before), _row(after)) for table, before, after in loaded]
        if strangers := {table for table, _, _ in changes} - JOURNALED_TABLES.keys():
            raise ValueError(f"no such table: {strangers}")
    except (zlib.error, KeyError, TypeError, RecursionError) as error:
        raise ValueError(str(error)) from error
    return changes


def _row(values: list[Any] | None) -> Row | None:
    return None if values is None else tuple(values)


CHUNK_LENGTH = 5_000  # row changes held in memory before they go to the file


@final
class StepWriter:
    """Writes the row changes of one step to the journal, in the same transaction."""

    def __init__(self, connection: Connection, action: Action, who: str) -> None:
        self.connection = connection
        # left when the transaction was committed, or with the error when it was not
        self.resources = ExitStack()
        self.holds_graph = False  # whether the category graph is among the resources
        self._action = action
        self._who = who
        self._step_id: int | None = None
        self._sequence = 0
        self._pending: list[RowChange] = []

    def add(self, changes: Iterable[RowChange]) -> None:
        """Record row changes that were just made."""
        self._pending.extend(changes)
        if len(self._pending) >= CHUNK_LENGTH:
            self.flush()

    def flush(self) -> None:
        """Write pending changes to the file."""
        if not self._pending:
            return
        if self._step_id is None:
            self._step_id = self._begin()
        for start in range(0, len(self._pending), CHUNK_LENGTH):
            chunk = self._pending[start : start + CHUNK_LENGTH]
            self._sequence += 1
            self.connection.write(
                "INSERT INTO journal_chunk (step_id, sequence, row_changes) VALUES (?, ?, ?)",
                (self._step_id, self._sequence, encoded(chunk)),
            )
        self._pending.clear()

    def finish(self, action: Action) -> None:
        """Bring the rest into the file, under the step's final name."""
        self.flush()
        if self._step_id is not None and action != self._action:
            self.connection.write(
                "UPDATE journal_step SET text = ?, code = ?, arguments = ? WHERE step_id = ?",
                (*_stored(action), self._step_id),
            )

    def check_is_whole(self) -> None:
        """Raise `StorageError` when SQLite rolled back, as on a full disk, and that was ignored."""
        if not self.connection.in_transaction:
            raise StorageError(
                "the action was abandoned after an earlier failure; nothing was changed",
                found=str(self.connection.path),
                remedy="check the disk, then try again",
            )

    def savepoint(self) -> tuple[int | None, int]:
        """Where the journal is, for `go_back`."""
        self.flush()
        self.connection.write("SAVEPOINT inner_step")
        return self._step_id, self._sequence

    def keep(self) -> None:
        """Keep changes since the savepoint."""
        self.connection.write("RELEASE inner_step")

    def go_back(self, place: tuple[int | None, int]) -> None:
        """Roll back changes since the savepoint."""
        self._pending.clear()
        self.connection.write("ROLLBACK TO inner_step")
        self.connection.write("RELEASE inner_step")
        self._step_id, self._sequence = place

    def _begin(self) -> int:
        # Doing something new forgets what was undone, as everywhere.
        self.connection.write("DELETE FROM journal_step WHERE is_undone = 1")
        return self.connection.write(
            "INSERT INTO journal_step (text, code, arguments, done_at, who) VALUES (?, ?, ?, ?, ?)",
            (*_stored(self._action), now_text(), self._who),
        )


@final
class OpenStep:
    """An action in progress; writes rows and records their changes."""

    def __init__(self, writer: StepWriter, action: Action, notice: str = "") -> None:
        self.action = action  # may be corrected when its true count is known
        self.notice = notice  # see `Change`
        self.writer = writer
        self.builder = ChangeBuilder()

    @property
    def connection(self) -> Connection:
        """The file, for questions in the middle of the step."""
        return self.writer.connection

    @property
    def change(self) -> Change:
        """What the step did so far."""
        return replace(self.builder.change(self.action), notice=self.notice)

    def insert(self, table: JournaledTable, rows: Sequence[Row]) -> None:
        """Write rows whose keys are known to be new."""
        self._write(table, [(None, row) for row in rows])

    def put(self, table: JournaledTable, rows: Iterable[Row]) -> None:
        """Insert or replace rows by key; of several with one key the last counts."""
        latest = {row[: table.key_width]: row for row in rows}
        pairs = [(self._before(table, key), row) for key, row in latest.items()]
        self._write(table, [(before, row) for before, row in pairs if before != row])

    def delete(self, table: JournaledTable, keys: Iterable[Row]) -> list[Row]:
        """Delete rows by their keys, and return those that were there."""
        self.writer.check_is_whole()
        rows = [row for key in dict.fromkeys(keys) if (row := self._before(table, key)) is not None]
        self.connection.write_many(table.delete, [row[: table.key_width] for row in rows])
        self._record([(table.name, row, None) for row in rows])
        return rows

    def _write(self, table: JournaledTable, pairs: Sequence[tuple[Row | None, Row]]) -> None:
        self.writer.check_is_whole()
        self.connection.write_many(table.upsert(len(table.columns)), [row for _, row in pairs])
        self._record([(table.name, before, row) for before, row in pairs])

    def _before(self, table: JournaledTable, key: Row) -> Row | None:
        return self.connection.row(table.select, key)

    def _record(self, changes: Sequence[RowChange]) -> None:
        for change in changes:
            self.builder.add(*change)
        self.writer.add(changes)


def _stored(action: Action) -> tuple[str, str, str]:
    return action.sentence[:LONGEST_TEXT], action.code, action.stored_arguments
