"""Trying edits out: while something is supposed, actions go to a copy in memory and the project file stays as it is."""

from collections.abc import Iterable
from itertools import groupby
from typing import final

from engine.errors import InputError
from engine.project.actions import UNNAMED, Action
from engine.project.backups.keeping import MANY
from engine.project.backups.naming import BackupReason
from engine.project.change import Change, ChangeBuilder
from engine.project.connection import Connection
from engine.project.history import row_changes_of
from engine.project.images import facts_of, store_facts
from engine.project.row_changes import RowChange
from engine.project.schema import JOURNALED_TABLES
from engine.project.step import OpenStep
from engine.project.store import ProjectStore


@final
class ProjectWhatIf:
    """All actions and questions work on the copy, with an undo of their own that ends where the supposition began.

    What machines find out meanwhile (`image_fact`, `model_version`) is true whatever is supposed: it goes to the file,
    too.
    """

    def __init__(self, store: ProjectStore) -> None:
        self._store = store

    @property
    def is_on(self) -> bool:
        """Whether actions go to a copy."""
        return self._store.is_what_if

    def begin(self) -> None:
        """Let all that follows be tried out only, until it is kept or discarded.

        A project that is open for reading only can be tried out on, too; nothing of it can be kept.

        Raises:
            InputError: that is so already.
        """
        if self.is_on:
            raise InputError("something is being tried out already", remedy="keep or drop that first")
        copy = Connection(self._store.path, ":memory:")
        self._store.connection.copy_to(copy)
        copy.write("PRAGMA foreign_keys = ON")
        copy.write("DELETE FROM journal_step")
        self._store.connection = copy

    def keep(self, action: Action) -> Change:
        """Bring all that was tried out into the file, as one action; when that fails it is still only supposed.

        Args:
            action: what the whole is called.

        Returns:
            What differs from before it was tried out. A copy of the graph that followed every step has all of it.

        Raises:
            InputError: nothing is being tried out.
            ProjectReadOnlyError: the project is open for reading only.
            StorageError: the disk refuses.
        """
        copy = self._leave_copy()
        try:
            changes = row_changes_of(copy)
            with self._store.one_step(action, backup=BackupReason.REMOVAL if len(changes) > MANY else None) as step:
                _make_again(step, changes)
                store_facts(step.connection, facts_of(copy, step.change.images_added))
        except BaseException:
            self._store.connection = copy
            raise
        copy.close()
        return step.change

    def discard(self) -> Change:
        """Forget all that was tried out.

        Returns:
            What that changed, for whoever followed every step.

        Raises:
            InputError: nothing is being tried out.
        """
        copy = self._leave_copy()
        builder = ChangeBuilder()
        for table, before, after in reversed(row_changes_of(copy)):
            builder.add(table, after, before)
        copy.close()
        change = builder.change(UNNAMED, "undone")
        if self._store.loaded_graph is not None:
            self._store.loaded_graph.apply(change.graph_edits)
        return change

    def _leave_copy(self) -> Connection:
        if not self.is_on:
            raise InputError("nothing is being tried out", remedy="begin with that")
        copy, self._store.connection = self._store.connection, self._store.file.connection
        return copy


def _make_again(step: OpenStep, changes: Iterable[RowChange]) -> None:
    """Make row changes in the order in which they were made first: whatever held then holds now."""
    for (table_name, is_deleted), group in groupby(changes, key=lambda change: (change[0], change[2] is None)):
        table, batch = JOURNALED_TABLES[table_name], list(group)
        if is_deleted:
            step.delete(table, [before[: table.key_width] for _, before, _ in batch if before is not None])
        else:
            step.put(table, [after for _, _, after in batch if after is not None])
