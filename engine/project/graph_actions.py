"""Actions on the category graph, and what all actions share: one step, undo, redo."""

from abc import ABC
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from engine.graph.category_graph import CategoryGraph
from engine.project import graph_rows, label_rows, policy_rows
from engine.project.action_texts import merge_class_text, policy_text, remove_class_text
from engine.project.backups.keeping import MANY
from engine.project.backups.naming import BackupReason
from engine.project.change import Change
from engine.project.clock import person_name
from engine.project.file.file_lock import read_only_error
from engine.project.questions import ProjectQuestions
from engine.project.records import ClassId, ClassPolicy
from engine.project.step import OpenStep


class GraphActions(ProjectQuestions, ABC):
    """The half of a project's actions that edit classes and edges. Each returns when it is on disk."""

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
        if not self.is_writable:
            raise read_only_error(self.path)
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

    # -- classes ---------------------------------------------------------------------------------------------------

    def import_graph(self, merge: Callable[[CategoryGraph], object], text: str) -> Change:
        """Make many edits of the graph as one action.

        Args:
            merge: edits the graph it is given.
            text: the action in words.

        Raises:
            GraphError: `merge` tried an edit that is not possible; none was made.
        """
        return self._edit_graph(text, merge)

    def add_class(self, name: str, parents: Sequence[ClassId] = ()) -> tuple[Change, ClassId]:
        """Add a class; see `CategoryGraph.add_class`.

        Returns:
            The change, and the new class's id.
        """
        added: list[ClassId] = []
        change = self._edit_graph(
            f"Added class {name.strip()}", lambda graph: added.append(graph.add_class(name, parents))
        )
        return change, added[0]

    def rename_class(self, class_id: ClassId, name: str) -> Change:
        """Rename a class; see `CategoryGraph.rename`."""
        text = f"Renamed class {self._class_name(class_id)} to {name.strip()}"
        return self._edit_graph(text, lambda graph: graph.rename(class_id, name))

    def link(self, parent_id: ClassId, child_id: ClassId) -> Change:
        """Put a class under one more parent; see `CategoryGraph.link`."""
        text = f"Added parent {self._class_name(parent_id)} to {self._class_name(child_id)}"
        return self._edit_graph(text, lambda graph: graph.link(parent_id, child_id))

    def unlink(self, parent_id: ClassId, child_id: ClassId) -> Change:
        """Take a class away from one parent; see `CategoryGraph.unlink`."""
        text = f"Unlinked {self._class_name(child_id)} from {self._class_name(parent_id)}"
        return self._edit_graph(text, lambda graph: graph.unlink(parent_id, child_id))

    def move_class(self, class_id: ClassId, from_parent: ClassId | None, to_parent: ClassId | None) -> Change:
        """Move a class from one parent to another, None being the top level; see `CategoryGraph.move`."""
        place = "the top level" if to_parent is None else self._class_name(to_parent)
        text = f"Moved class {self._class_name(class_id)} to {place}"
        return self._edit_graph(text, lambda graph: graph.move(class_id, from_parent, to_parent))

    def remove_class(self, class_id: ClassId) -> Change:
        """Remove one class; its children go to its parents. See `CategoryGraph.remove`.

        Its labels go to its parent if it has exactly one; otherwise they are removed, and the text says how many. Undo
        brings all of it back.
        """
        name, parents = self._class_name(class_id), self.graph.parents(class_id)
        is_large = self.labelled_counts().get(class_id, 0) > MANY
        notice = self.back_up_before(BackupReason.REMOVAL) if is_large else ""
        heir_id = parents[0] if len(parents) == 1 else None
        with self.one_step(remove_class_text(name, 0, None)) as step:
            labels = label_rows.move_labels(step, class_id, heir_id)
            policy_rows.delete_policy(step, class_id)
            self._edit_graph(step.text, lambda graph: graph.remove(class_id))
            step.text = remove_class_text(name, labels, None if heir_id is None else self._class_name(heir_id))
        return replace(step.change, notice=notice)

    def merge_class(self, class_id: ClassId, heir_id: ClassId) -> Change:
        """Merge a class into another one, which gets its labels, children, parents and names.

        What was set for the class itself goes with it. Undo brings all of it back. See `CategoryGraph.merge`.
        """
        name, heir_name = self._class_name(class_id), self._class_name(heir_id)
        is_large = self.labelled_counts().get(class_id, 0) > MANY
        notice = self.back_up_before(BackupReason.REMOVAL) if is_large else ""
        with self.one_step(merge_class_text(name, heir_name, 0)) as step:
            labels = label_rows.move_labels(step, class_id, heir_id)
            policy_rows.delete_policy(step, class_id)
            self._edit_graph(step.text, lambda graph: graph.merge(class_id, heir_id))
            step.text = merge_class_text(name, heir_name, labels)
        return replace(step.change, notice=notice)

    def set_policy(self, class_id: ClassId, policy: ClassPolicy) -> Change:
        """Set how sure the program must be of a class, for it and all below that say nothing else.

        Raises:
            UnknownClassError: there is no such class.
            InputError: the bar is no probability.
        """
        known = self.policies().get(class_id, ClassPolicy())
        text = policy_text(
            self._class_name(class_id), bar_changed=policy.bar != known.bar, is_deepest=policy.is_deepest
        )
        with self.one_step(text) as step:
            policy_rows.put_policy(step, class_id, policy)
        return step.change

    # -- inside ----------------------------------------------------------------------------------------------------

    def _edit_graph(self, text: str, edit: Callable[[CategoryGraph], object]) -> Change:
        with self.one_step(text) as step:
            graph = self._held_graph(step)
            with graph.record() as edits:
                edit(graph)
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

    def _check_writable(self) -> None:
        if not self.is_writable:
            raise read_only_error(self.path)
