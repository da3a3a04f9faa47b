"""Actions on the category graph that take nothing away: new classes, names, and where classes stand."""

from abc import ABC
from collections.abc import Callable, Sequence

from engine.graph import group_edits
from engine.graph.category_graph import CategoryGraph
from engine.graph.group_edits import Edge, Move
from engine.project.action_texts import linked_text, moved_text, one_or_count, unlinked_text
from engine.project.change import Change
from engine.project.records import ClassId
from engine.project.undoable_actions import UndoableActions


class GraphActions(UndoableActions, ABC):
    """Actions that edit classes and edges. Each returns when it is on disk."""

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

    def add_parent(
        self, name: str, child_ids: Sequence[ClassId], from_parent: ClassId | None
    ) -> tuple[Change, ClassId]:
        """Put a new class between a parent, None being the top level, and some of its children.

        Returns:
            The change, and the new class's id. See `engine.graph.group_edits.add_parent`.
        """
        added: list[ClassId] = []
        text = f"Added class {name.strip()} above {one_or_count(self._names(child_ids))}"
        change = self._edit_graph(
            text, lambda graph: added.append(group_edits.add_parent(graph, name, child_ids, from_parent))
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

    def move_classes(self, moves: Sequence[Move], to_parent: ClassId | None) -> Change:
        """Move classes, each from one of its parents, to another one, None being the top level.

        See `engine.graph.group_edits.move_classes`.
        """
        place = None if to_parent is None else self._class_name(to_parent)
        text = moved_text(self._names([class_id for class_id, _ in moves]), place)
        return self._edit_graph(text, lambda graph: group_edits.move_classes(graph, moves, to_parent))

    def link_classes(self, parent_id: ClassId, child_ids: Sequence[ClassId]) -> Change:
        """Put classes under one more parent; see `engine.graph.group_edits.link_classes`."""
        text = linked_text(self._class_name(parent_id), self._names(child_ids))
        return self._edit_graph(text, lambda graph: group_edits.link_classes(graph, parent_id, child_ids))

    def unlink_classes(self, edges: Sequence[Edge]) -> Change:
        """Take classes away from parents, each pair a parent and a child; see `CategoryGraph.unlink`."""
        parents, children = [parent_id for parent_id, _ in edges], [child_id for _, child_id in edges]
        text = unlinked_text(self._names(parents), self._names(children))
        return self._edit_graph(text, lambda graph: group_edits.unlink_classes(graph, edges))
