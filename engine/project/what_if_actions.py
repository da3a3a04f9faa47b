"""Trying edits out: while something is supposed, actions go to a copy in memory and the project file stays as it is."""

from abc import ABC
from collections.abc import Iterable
from dataclasses import replace
from itertools import groupby

from engine.errors import InputError
from engine.project import image_rows
from engine.project.backups.keeping import MANY
from engine.project.backups.naming import BackupReason
from engine.project.branch_actions import BranchActions
from engine.project.change import Change, ChangeBuilder
from engine.project.connection import Connection
from engine.project.journal import Journal
from engine.project.row_changes import RowChange
from engine.project.schema import JOURNALED_TABLES
from engine.project.step import OpenStep


class WhatIfActions(BranchActions, ABC):
    """All actions and questions work on the copy, with an undo of their own that ends where the supposition began.

    What machines find out meanwhile (`image_fact`, `model_version`) is true whatever is supposed: it goes to the file,
    too.
    """

    _kept_journal: Journal | None = None  # of the file, while something is supposed

    @property
    def is_what_if(self) -> bool:
        """Whether actions go to a copy."""
        return self._kept_journal is not None

    def begin_what_if(self) -> None:
        """Let all that follows be tried out only, until it is kept or dropped.

        A project that is open for reading only can be tried out on, too; nothing of it can be kept.

        Raises:
            InputError: that is so already.
        """
        if self.is_what_if:
            raise InputError("something is being tried out already", remedy="keep or drop that first")
        copy = Connection(self.path, ":memory:")
        self._connection.copy_to(copy)
        copy.write("PRAGMA foreign_keys = ON")
        copy.write("DELETE FROM journal_step")
        self._kept_journal = self._journal
        self._connection, self._journal = copy, Journal(copy)

    def back_up_before(self, reason: BackupReason) -> str:
        """Make a backup before an action that changes much; nothing needs one that is only supposed."""
        return "" if self.is_what_if else super().back_up_before(reason)

    def keep_what_if(self, text: str) -> Change:
        """Bring all that was tried out into the file, as one action; when that fails it is still only supposed.

        Args:
            text: the action in words.

        Returns:
            What differs from before it was tried out. A copy of the graph that followed every step has all of it.

        Raises:
            InputError: nothing is being tried out.
            ProjectReadOnlyError: the project is open for reading only.
            StorageError: the disk refuses.
        """
        super()._check_writable()
        copy, copy_journal = self._what_if_copy()
        changes = copy_journal.row_changes()
        self._go_back_to_file()
        try:
            notice = self.back_up_before(BackupReason.REMOVAL) if len(changes) > MANY else ""
            with self.one_step(text) as step:
                _make_again(step, changes)
                added = step.change.images_added
                image_rows.store_facts(self._connection, image_rows.facts_of(copy, added))
        except BaseException:
            self._kept_journal = self._journal
            self._connection, self._journal = copy, copy_journal
            raise
        copy.close()
        return replace(step.change, notice=notice)

    def discard_what_if(self) -> Change:
        """Forget all that was tried out.

        Returns:
            What that changed, for whoever followed every step.

        Raises:
            InputError: nothing is being tried out.
        """
        copy, copy_journal = self._what_if_copy()
        builder = ChangeBuilder()
        for table, before, after in reversed(copy_journal.row_changes()):
            builder.add(table, after, before)
        self._go_back_to_file()
        copy.close()
        change = builder.change("", "undone")
        if self._graph is not None:
            self._graph.apply(change.graph_edits)
        return change

    def _end_what_if(self) -> None:
        """The project is closed."""
        if self.is_what_if:
            self._connection.close()

    def _what_if_copy(self) -> tuple[Connection, Journal]:
        if not self.is_what_if:
            raise InputError("nothing is being tried out", remedy="begin with that")
        return self._connection, self._journal

    def _go_back_to_file(self) -> None:
        assert self._kept_journal is not None, "asked before"
        self._connection, self._journal, self._kept_journal = self._file.connection, self._kept_journal, None

    def _check_writable(self) -> None:
        if not self.is_what_if:
            super()._check_writable()

    @property
    def _fact_connections(self) -> tuple[Connection, ...]:
        """Where facts go: the file, unless it is only read, and the copy where there is one."""
        is_copied_too = self.is_what_if and self.is_writable
        return (self._file.connection, self._connection) if is_copied_too else (self._connection,)


def _make_again(step: OpenStep, changes: Iterable[RowChange]) -> None:
    """Make row changes in the order in which they were made first: whatever held then holds now."""
    for (table_name, is_deleted), group in groupby(changes, key=lambda change: (change[0], change[2] is None)):
        table, batch = JOURNALED_TABLES[table_name], list(group)
        if is_deleted:
            step.delete(table, [before[: table.key_width] for _, before, _ in batch if before is not None])
        else:
            step.put(table, [after for _, _, after in batch if after is not None])
