"""Undo that survives a restart: steps store changed rows before and after; and what-if mode.

Undo restores the rows before in reverse order, redo the rows after in order. Nothing is recomputed,
so a step ends the same however often it goes back and forth.
"""

import sqlite3
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import final

from engine.errors import InputError, ProjectDamagedError
from engine.project.actions import UNNAMED, Action, stored_action
from engine.project.backups.keeping import MANY
from engine.project.backups.place import BackupReason
from engine.project.change import Change, ChangeBuilder
from engine.project.clock import time_of
from engine.project.connection import Connection, Row
from engine.project.fork import Fork, fork_of
from engine.project.image_rows import facts_of, store_facts
from engine.project.records import JournalStep
from engine.project.row_history import read_chunk
from engine.project.schema import JOURNALED_TABLES
from engine.project.step import OpenStep, RowChange
from engine.project.store import ProjectPart, ProjectStore


@final
class ProjectHistory:
    """The steps of a project, back and forth."""

    def __init__(self, store: ProjectStore) -> None:
        self._store = store
        self.one_step = store.one_step  # makes the actions of a `with` block one step

    @property
    def undo_action(self) -> Action | None:
        """The action that undo would take back."""
        return _action_of(self._next(is_undo=True))

    @property
    def redo_action(self) -> Action | None:
        """The action that redo would make again."""
        return _action_of(self._next(is_undo=False))

    def steps(self, limit: int = 100) -> list[JournalStep]:
        """The latest steps, latest first, those that were undone included."""
        rows = self._store.connection.rows(
            "SELECT step_id, done_at, who, is_undone, text, code, arguments FROM journal_step"
            " ORDER BY step_id DESC LIMIT ?",
            (limit,),
        )
        return [
            JournalStep(key, stored_action(*action), time_of(when), who, bool(undone))
            for key, when, who, undone, *action in rows
        ]

    def fork_with(self, other: "ProjectHistory") -> Fork | None:
        """Compare two copies of one project since they parted; None for different projects."""
        return fork_of(self._store.connection, other._store.connection)  # noqa: SLF001

    def undo(self) -> Change | None:
        """Undo the latest action, also of an earlier session; None when there is none."""
        return self._replay(is_undo=True)

    def redo(self) -> Change | None:
        """Redo the action that was undone last; None if there is none."""
        return self._replay(is_undo=False)

    def _replay(self, *, is_undo: bool) -> Change | None:
        self._store.check_writable()
        step = self._next(is_undo=is_undo)
        if step is None:
            return None
        step_id, *stored = step
        connection = self._store.connection
        assert not connection.in_transaction, "undo and redo are steps of their own"
        try:
            builder = _replayed(connection, step_id, is_undo=is_undo)
        except (sqlite3.IntegrityError, InputError) as error:
            raise ProjectDamagedError(
                "the history does not fit the project any more",
                found="step {step_id} of {path} ({reason})",
                remedy="open an earlier copy of the file",
                step_id=step_id,
                path=connection.path,
                reason=error,
            ) from error
        change = builder.change(stored_action(*stored), "undone" if is_undo else "redone")
        if self._store.loaded_graph is not None:
            self._store.loaded_graph.apply(change.graph_edits)
        return change

    def _next(self, *, is_undo: bool) -> Row | None:
        """Id and stored action of the latest step, or of the first one that was undone."""
        which = (
            "is_undone = 0 ORDER BY step_id DESC"
            if is_undo
            else "is_undone = 1 ORDER BY step_id ASC"
        )
        return self._store.connection.row(
            "SELECT step_id, text, code, arguments FROM journal_step"  # noqa: S608
            f" WHERE {which} LIMIT 1"
        )


def _action_of(step: Row | None) -> Action | None:
    return None if step is None else stored_action(*step[1:])


def _row_changes_of(connection: Connection) -> list[RowChange]:
    """The row changes of all steps that are not undone, in the order in which they were made."""
    chunks = connection.rows(
        "SELECT step_id, sequence FROM journal_chunk JOIN journal_step USING (step_id)"
        " WHERE is_undone = 0"
        " ORDER BY step_id, sequence"
    )
    return [
        change
        for step_id, sequence in chunks
        for change in read_chunk(connection, step_id, sequence)
    ]


def _replayed(connection: Connection, step_id: int, *, is_undo: bool) -> ChangeBuilder:
    builder = ChangeBuilder()
    order = "DESC" if is_undo else "ASC"
    with connection.transaction():
        for (sequence,) in connection.rows(
            "SELECT sequence FROM journal_chunk"  # noqa: S608
            f" WHERE step_id = ? ORDER BY sequence {order}",
            (step_id,),
        ):
            changes = read_chunk(connection, step_id, sequence)
            _apply(connection, _reversed(changes) if is_undo else changes, builder)
        connection.write(
            "UPDATE journal_step SET is_undone = ? WHERE step_id = ?", (int(is_undo), step_id)
        )
    return builder


def _apply(connection: Connection, changes: Iterable[RowChange], builder: ChangeBuilder) -> None:
    for (name, width), group in groupby(changes, key=_statement_key):
        table, batch = JOURNALED_TABLES[name], list(group)
        if width:
            connection.write_many(table.upsert(width), [after for _, _, after in batch if after])
        else:
            connection.write_many(
                table.delete, [row[: table.key_width] for _, row, _ in batch if row]
            )
        for change in batch:
            builder.add(*change)


def _reversed(changes: list[RowChange]) -> Iterator[RowChange]:
    return ((table, after, before) for table, before, after in reversed(changes))


def _statement_key(change: RowChange) -> tuple[str, int]:
    """Changes with the same key run as one statement; width 0 means deleting."""
    table, _, after = change
    return table, len(after) if after else 0


@final
class ProjectWhatIf(ProjectPart):
    """Trying actions on a copy of the project, with undo of its own up to the start of the trial.

    Facts of the machine (`image_fact`, `model_version`) apply to both, and are written to the file,
    too.
    """

    @property
    def is_on(self) -> bool:
        """Whether actions go to a copy."""
        return self._store.is_what_if

    def begin(self) -> None:
        """Start trying actions on a copy, until they are applied or discarded.

        A read-only project allows trials, too, which cannot be applied.
        """
        if self.is_on:
            raise InputError("a what-if is open already", remedy="apply or discard it first")
        copy = Connection(self._store.path, ":memory:")
        self._connection.copy_to(copy)
        copy.write("PRAGMA foreign_keys = ON")
        copy.write("DELETE FROM journal_step")
        self._store.connection = copy

    def keep(self, action: Action) -> Change:
        """Apply all tried actions to the file, as one action; on failure the trial goes on.

        A copy of the graph that followed every step has all of the returned change.

        Raises:
            InputError: nothing is being tried out.
            ProjectReadOnlyError: the project is open for reading only.
            StorageError: the disk refuses.
        """
        copy = self._leave_copy()
        try:
            changes = _row_changes_of(copy)
            with self._store.one_step(
                action, backup=BackupReason.REMOVAL if len(changes) > MANY else None
            ) as step:
                _make_again(step, changes)
                store_facts(step.connection, facts_of(copy, step.change.images_added))
        except BaseException:
            self._store.connection = copy
            raise
        copy.close()
        return step.change

    def discard(self) -> Change:
        """Forget all that was tried out; the change is for those who followed every step.

        Raises:
            InputError: nothing is being tried out.
        """
        copy = self._leave_copy()
        builder = ChangeBuilder()
        for table, before, after in reversed(_row_changes_of(copy)):
            builder.add(table, after, before)
        copy.close()
        change = builder.change(UNNAMED, "undone")
        if self._store.loaded_graph is not None:
            self._store.loaded_graph.apply(change.graph_edits)
        return change

    def _leave_copy(self) -> Connection:
        if not self.is_on:
            raise InputError("no what-if is open", remedy="start one first")
        copy, self._store.connection = self._connection, self._store.file.connection
        return copy


def _make_again(step: OpenStep, changes: Iterable[RowChange]) -> None:
    """Apply row changes in their original order, so that references hold."""
    for (table_name, is_deleted), group in groupby(
        changes, key=lambda change: (change[0], change[2] is None)
    ):
        table, batch = JOURNALED_TABLES[table_name], list(group)
        if is_deleted:
            step.delete(
                table, [before[: table.key_width] for _, before, _ in batch if before is not None]
            )
        else:
            step.put(table, [after for _, _, after in batch if after is not None])
