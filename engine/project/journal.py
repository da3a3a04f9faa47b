"""Undo that survives a restart: each step keeps the rows it changed as they were before and after.

Undo puts the befores back in reverse order, redo the afters in order. Nothing is computed again, so a step comes out
the same however often it goes back and forth.
"""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import groupby
from typing import final

from engine.errors import InputError, ProjectDamagedError
from engine.project.change import Change, ChangeBuilder
from engine.project.clock import time_of
from engine.project.connection import Connection, Row
from engine.project.history_check import read_chunk
from engine.project.records import JournalStep
from engine.project.row_changes import RowChange
from engine.project.schema import JOURNALED_TABLES
from engine.project.step import OpenStep, StepWriter


@final
class Journal:
    """The history of a project file.

    Args:
        connection: the open file.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._open: OpenStep | None = None

    @contextmanager
    def step(self, text: str, who: str) -> Iterator[OpenStep]:
        """Make one action: all of it is on disk when the block ends, or nothing is.

        Inside another step it becomes part of that one; when it fails, only its own part is taken back.

        Args:
            text: the action in words, for the undo menu.
            who: the person.
        """
        outer = self._open
        making = self._outermost(text, who) if outer is None else self._inner(outer, text)
        with making as step:
            self._open = step
            try:
                yield step
            finally:
                self._open = outer

    def undo(self) -> Change | None:
        """Take the latest step back.

        Returns:
            What that changed; None when there is nothing to undo.
        """
        step = self._next_undo()
        return None if step is None else self._replay(step, is_undo=True)

    def redo(self) -> Change | None:
        """Make the step again that was taken back last.

        Returns:
            What that changed; None when there is nothing to redo.
        """
        step = self._next_redo()
        return None if step is None else self._replay(step, is_undo=False)

    @property
    def undo_text(self) -> str | None:
        """The action that undo would take back, in words."""
        step = self._next_undo()
        return None if step is None else str(step[1])

    @property
    def redo_text(self) -> str | None:
        """The action that redo would make again, in words."""
        step = self._next_redo()
        return None if step is None else str(step[1])

    def history(self, limit: int) -> list[JournalStep]:
        """The latest steps, latest first."""
        rows = self._connection.rows(
            "SELECT step_id, text, done_at, who, is_undone FROM journal_step ORDER BY step_id DESC LIMIT ?", (limit,)
        )
        return [JournalStep(key, text, time_of(when), who, bool(undone)) for key, text, when, who, undone in rows]

    def row_changes(self) -> list[RowChange]:
        """The row changes of all steps that are not undone, in the order in which they were made."""
        chunks = self._connection.rows(
            "SELECT step_id, sequence FROM journal_chunk JOIN journal_step USING (step_id) WHERE is_undone = 0"
            " ORDER BY step_id, sequence"
        )
        return [change for step_id, sequence in chunks for change in read_chunk(self._connection, step_id, sequence)]

    @contextmanager
    def _outermost(self, text: str, who: str) -> Iterator[OpenStep]:
        writer = StepWriter(self._connection, text, who)
        # The resources are left after the commit, so that a commit that fails takes them back, too.
        with writer.resources, self._connection.transaction():
            step = OpenStep(writer, text)
            yield step
            writer.check_is_whole()
            writer.finish(step.text)

    @contextmanager
    def _inner(self, outer: OpenStep, text: str) -> Iterator[OpenStep]:
        writer, step = outer.writer, OpenStep(outer.writer, text)
        place = writer.savepoint()
        try:
            yield step
        except BaseException:
            if self._connection.in_transaction:
                writer.go_back(place)
            raise
        writer.flush()
        writer.keep()
        outer.builder.absorb(step.builder)

    def _replay(self, step: Row, *, is_undo: bool) -> Change:
        assert self._open is None, "undo and redo are steps of their own"
        step_id, text = step
        try:
            return self._replayed(step_id, text, is_undo=is_undo)
        except (sqlite3.IntegrityError, InputError) as error:
            raise ProjectDamagedError(
                "the history does not fit the project any more",
                found=f"step {step_id} of {self._connection.path} ({error})",
                remedy="open an earlier copy of the file",
            ) from error

    def _replayed(self, step_id: int, text: str, *, is_undo: bool) -> Change:
        builder = ChangeBuilder()
        order = "DESC" if is_undo else "ASC"
        with self._connection.transaction():
            for (sequence,) in self._connection.rows(
                f"SELECT sequence FROM journal_chunk WHERE step_id = ? ORDER BY sequence {order}",  # noqa: S608
                (step_id,),
            ):
                changes = read_chunk(self._connection, step_id, sequence)
                self._apply(_reversed(changes) if is_undo else changes, builder)
            self._connection.write("UPDATE journal_step SET is_undone = ? WHERE step_id = ?", (int(is_undo), step_id))
        return builder.change(text, "undone" if is_undo else "redone")

    def _apply(self, changes: Iterable[RowChange], builder: ChangeBuilder) -> None:
        for (name, width), group in groupby(changes, key=_statement_key):
            table, batch = JOURNALED_TABLES[name], list(group)
            if width:
                self._connection.write_many(table.upsert(width), [after for _, _, after in batch if after])
            else:
                self._connection.write_many(table.delete, [row[: table.key_width] for _, row, _ in batch if row])
            for change in batch:
                builder.add(*change)

    def _next_undo(self) -> Row | None:
        return self._connection.row(
            "SELECT step_id, text FROM journal_step WHERE is_undone = 0 ORDER BY step_id DESC LIMIT 1"
        )

    def _next_redo(self) -> Row | None:
        return self._connection.row(
            "SELECT step_id, text FROM journal_step WHERE is_undone = 1 ORDER BY step_id ASC LIMIT 1"
        )


def _reversed(changes: list[RowChange]) -> Iterator[RowChange]:
    return ((table, after, before) for table, before, after in reversed(changes))


def _statement_key(change: RowChange) -> tuple[str, int]:
    """Changes with the same key run as one statement; width 0 means deleting."""
    table, _, after = change
    return table, len(after) if after else 0
