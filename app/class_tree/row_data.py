"""What a row of the class tree says, by role: texts, dot, marks and counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, final

from PySide6.QtCore import QLocale, Qt

from app.class_tree.logic import classes_with_shots, other_parents
from app.class_tree.node import Node
from app.class_tree.wording import policy_lines
from app.texts import plain_tip, tr

if TYPE_CHECKING:  # the window shows first
    from engine.collection.state import CollectionState
    from engine.graph.category_graph import CategoryGraph, ClassId
    from engine.project import ClassPolicy

NAME: Final = 0
COUNT: Final = 1
CLASS_ROLE: Final = Qt.ItemDataRole.UserRole
HAS_SHOTS_ROLE: Final = Qt.ItemDataRole.UserRole + 1
HAS_MORE_PARENTS_ROLE: Final = Qt.ItemDataRole.UserRole + 2
BRANCH_ROLE: Final = Qt.ItemDataRole.UserRole + 3
PATH_ROLE: Final = Qt.ItemDataRole.UserRole + 4
"""Names above a class that a search found, "Animal / Bird"; "" for one at the top level, and in the tree."""
COLOUR_ROLE: Final = Qt.ItemDataRole.UserRole + 5
"""`#rrggbb` that a person gave the class, or the nearest class above it; "" where nobody did."""
BAR_ROLE: Final = Qt.ItemDataRole.UserRole + 6
"""The confidence needed that was set for the class itself, 0..1; None where it takes over that from above."""
IS_DEEPEST_ROLE: Final = Qt.ItemDataRole.UserRole + 7  # predictions stop at the class


@final
class RowData:
    """Reads the values of rows."""

    def __init__(self) -> None:
        # classes that a search found, each with its first path from a root; None where the tree is shown
        self.paths: Mapping[ClassId, Sequence[ClassId]] | None = None
        self.colours: Mapping[ClassId, str] = {}
        self.policies: Mapping[ClassId, ClassPolicy] = {}
        self._shot_counts: Mapping[ClassId, int] = {}
        self._image_counts: Mapping[ClassId, int] = {}
        self._with_shots: frozenset[ClassId] = frozenset()
        self._locale = QLocale()
        self._readers: Mapping[int, Callable[[CategoryGraph, Node, ClassId, int], Any]] = {
            int(Qt.ItemDataRole.DisplayRole): self._text,
            int(Qt.ItemDataRole.EditRole): lambda graph, _node, class_id, _column: graph.name(class_id),
            int(Qt.ItemDataRole.ToolTipRole): lambda *row: plain_tip(self._tool_tip(*row)),
            int(Qt.ItemDataRole.AccessibleTextRole): self._accessible_text,
            int(CLASS_ROLE): lambda _graph, _node, class_id, _column: class_id,
            int(HAS_SHOTS_ROLE): lambda _graph, _node, class_id, _column: class_id in self._with_shots,
            int(HAS_MORE_PARENTS_ROLE): lambda graph, _node, class_id, _column: len(graph.parents(class_id)) > 1,
            int(BRANCH_ROLE): lambda _graph, node, _class_id, _column: list(self._upwards(node))[-1],
            int(PATH_ROLE): self._path,
            int(COLOUR_ROLE): self._colour,
            int(BAR_ROLE): lambda _graph, _node, class_id, _column: self._bar(class_id),
            int(IS_DEEPEST_ROLE): lambda _graph, _node, class_id, _column: self._is_deepest(class_id),
        }

    def follow(self, graph: CategoryGraph) -> None:
        """Another graph is shown, or the same one after edits."""
        self._with_shots = classes_with_shots(graph, self._shot_counts)

    def count(self, state: CollectionState | None, graph: CategoryGraph | None) -> None:
        shot_counts: Mapping[ClassId, int] = {} if state is None else state.shot_counts
        self._image_counts = {} if state is None else state.image_counts
        if graph is not None and shot_counts.keys() != self._shot_counts.keys():
            self._with_shots = classes_with_shots(graph, shot_counts)
        self._shot_counts = shot_counts

    def read(self, graph: CategoryGraph, node: Node, column: int, role: int) -> Any:
        """One value of a row; None for a role that rows know nothing of."""
        reader = self._readers.get(role)
        return None if reader is None or node.class_id is None else reader(graph, node, node.class_id, column)

    def _text(self, graph: CategoryGraph, _node: Node, class_id: ClassId, column: int) -> str:
        if column == NAME:
            return graph.name(class_id)
        count = self._image_counts.get(class_id, 0)
        return self._locale.toString(count) if count else ""

    def _tool_tip(self, graph: CategoryGraph, node: Node, class_id: ClassId, column: int) -> str:
        if column == COUNT:
            return self._count_tip(class_id)
        also = other_parents(graph, class_id, self.parent_class(node))
        lines = [graph.name(class_id), *filter(None, [self._path(graph, node, class_id, column)])]
        lines += [tr("Also under %1", also)] if also else []
        lines += policy_lines(self._bar(class_id), is_deepest=self._is_deepest(class_id))
        lines += [] if class_id in self._with_shots else [tr("Needs examples: drop a few images here")]
        return "\n".join(lines)

    def _count_tip(self, class_id: ClassId) -> str:
        counts = (self._image_counts.get(class_id, 0), self._shot_counts.get(class_id, 0))
        return tr("%1 images here or below, %2 examples of its own", *map(self._locale.toString, counts))

    def _accessible_text(self, graph: CategoryGraph, node: Node, class_id: ClassId, column: int) -> str:
        return self._tool_tip(graph, node, class_id, column).replace("\n", ". ")

    def _colour(self, _graph: CategoryGraph, node: Node, _class_id: ClassId, _column: int) -> str:
        return next((self.colours[each] for each in self._upwards(node) if each in self.colours), "")

    def _bar(self, class_id: ClassId) -> float | None:
        policy = self.policies.get(class_id)
        return None if policy is None else policy.bar

    def _is_deepest(self, class_id: ClassId) -> bool:
        policy = self.policies.get(class_id)
        return policy is not None and policy.is_deepest

    def parent_class(self, node: Node) -> ClassId | None:
        """The class above a row; of a class that a search found the last one of its path. None at the top level."""
        return next(islice(self._upwards(node), 1, None), None)

    def _upwards(self, node: Node) -> Iterable[ClassId]:
        if self.paths is None or node.class_id is None:
            return node.upwards()
        return reversed(self.paths[node.class_id])

    def _path(self, graph: CategoryGraph, _node: Node, class_id: ClassId, _column: int) -> str:
        above = () if self.paths is None else self.paths[class_id][:-1]
        return " / ".join(graph.name(each) for each in above if each in graph)
