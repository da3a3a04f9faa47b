"""What all actions share: each is one step, which undo takes back, whole, on disk before it returns."""

from abc import ABC
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from engine.graph.category_graph import CategoryGraph
from engine.graph.group_edits import check_some
from engine.graph.growth import check_growth
from engine.project import graph_rows
from engine.project.backups.naming import BackupReason
from engine.project.change import Change
from engine.project.clock import person_name
from engine.project.file.file_lock import read_only_error
from engine.project.questions import ProjectQuestions
from engine.project.records import ClassId
from engine.project.step import OpenStep


class UndoableActions(ProjectQuestions, ABC):
    """Steps, undo and redo, and the way by which every action edits the graph."""

    # -- grouping and undo -----------------------------------------------------------------------------------------

    @contextmanager
    def one_step(self, text: str, *, who: str = "") -> Iterator[OpenStep]:
        """Make the actions inside a `with` block one: all or none of them happen, and undo takes them back at once.

        Args:
            text: the whole in words.
            who: the person; by default the one at this computer.

        Returns:
            Context manager that gives the step; after the block its `change` is the whole change.
        """
        self._check_writable()
        with self._journal.step(text, who or person_name()) as step:
            yield step

    def back_up_before(self, reason: BackupReason) -> str:
        """Make a backup before an action that changes much; the action may go on in any case, since undo leads back.

        Returns:
            What the person must be told when no backup could be made, for `Change.notice`; else empty.
        """
        self._check_writable()
        # Within a larger action that one made its backup.
        return "" if self._connection.in_transaction else self.backups.before(reason)

    def undo(self) -> Change | None:
        """Take the latest action back, also one of an earlier run of the program.

        Returns:
            What changed, with the action's own text; None when there is nothing to undo.
        """
        return self._replay(self._journal.undo)

    def redo(self) -> Change | None:
        """Make the action again that was undone last.

        Returns:
            What changed, with the action's own text; None when there is nothing to redo.
        """
        return self._replay(self._journal.redo)

    # -- inside ----------------------------------------------------------------------------------------------------

    def _edit_graph(self, text: str, edit: Callable[[CategoryGraph], object]) -> Change:
        with self.one_step(text) as step:
            graph = self._held_graph(step)
            with graph.record() as edits:
                edit(graph)
                check_growth(graph, edits)
                graph_rows.store_edits(step, edits)
        return step.change

    def _held_graph(self, step: OpenStep) -> CategoryGraph:
        """The graph, held so that it goes back when the step does not reach the disk."""
        if not step.writer.holds_graph:
            step.writer.resources.enter_context(self.graph.record())
            step.writer.holds_graph = True
        return self.graph

    def _replay(self, way: Callable[[], Change | None]) -> Change | None:
        self._check_writable()
        change = way()
        if change is not None and self._graph is not None:
            self._graph.apply(change.graph_edits)
        return change

    def _class_name(self, class_id: ClassId) -> str:
        return graph_rows.class_name(self._connection, int(class_id))

    def _names(self, class_ids: Sequence[ClassId]) -> list[str]:
        """Names of distinct classes.

        Raises:
            GraphError: there are none.
            UnknownClassError: there is no such class.
        """
        check_some(class_ids)
        return [self._class_name(class_id) for class_id in dict.fromkeys(class_ids)]

    def _check_writable(self) -> None:
        if not self.is_writable:
            raise read_only_error(self.path)
