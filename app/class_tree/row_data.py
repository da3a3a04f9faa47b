"""Rows of the class tree, each a class under one of its parents, and their values by role."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, final

from PySide6.QtCore import QLocale, QModelIndex, QPersistentModelIndex, Qt

from app.actions.keys import keys_in_use
from app.texts import plain_tip, plural, short_path, tr
from app.theme.class_colours import class_colour
from app.wording import clauses, enumeration, in_sentences, percent
from engine.collection.state import CollectionState
from engine.graph.category_graph import CategoryGraph, ClassId
from engine.graph.edits import (
    AttributesChanged,
    ClassAdded,
    ClassRemoved,
    ClassRenamed,
    EdgeAdded,
    EdgeRemoved,
    GraphEdit,
    changes_look,
)
from engine.graph.traversal import reachable
from engine.project import ClassPolicy

AnyIndex = QModelIndex | QPersistentModelIndex
_NO_POLICY = ClassPolicy()

TOP_KEY = 0  # of the invisible root row
OTHER_PARENTS_NAMED = 3  # in a tool tip; of more parents only the number is shown
NAME = 0  # column
COUNT = 1  # column
HAS_SHOTS_ROLE = Qt.ItemDataRole.UserRole + 1  # the class or a descendant has shots
HAS_MORE_PARENTS_ROLE = Qt.ItemDataRole.UserRole + 2  # it has several parents
PATH_ROLE = Qt.ItemDataRole.UserRole + 3
"""Ancestors of a search result, "Animal / Bird"; "" for one at the top level, and in the tree."""
COLOUR_ROLE = Qt.ItemDataRole.UserRole + 4  # colour of the class as `#rrggbb`
BAR_ROLE = Qt.ItemDataRole.UserRole + 5
"""The minimum confidence set for the class itself, in [0, 1]; None if it inherits it."""
IS_DEEPEST_ROLE = Qt.ItemDataRole.UserRole + 6  # predictions stop at the class
IS_BROADEST_ROLE = Qt.ItemDataRole.UserRole + 9  # no class above it is predicted
# Key that labels images as the class, "Alt+3"; "" for none.
KEY_ROLE = Qt.ItemDataRole.UserRole + 8
SECOND_NAME_ROLE = Qt.ItemDataRole.UserRole + 7
"""Its own name in the project, "Tinca tinca", if the row shows a translated one; else ""."""


@final
class Node:
    """A row: one occurrence of a class in the tree; `children` is None until built."""

    __slots__ = ("children", "class_id", "key", "parent", "row")

    def __init__(self, key: int, class_id: ClassId | None, parent: Node | None, row: int) -> None:
        self.key = key  # unique in its tree, never reused
        self.class_id = class_id  # None for the invisible root
        self.parent = parent  # None for the invisible root
        self.row = row
        self.children: list[Node] | None = None

    @property
    def place(self) -> tuple[int, ...]:
        """Row numbers from the root to this row; they sort rows from top to bottom."""
        return tuple(node.row for node in self._upwards())[::-1]

    def upwards(self) -> Iterator[ClassId]:
        """The class of this row, then those of its ancestors upwards."""
        return (node.class_id for node in self._upwards() if node.class_id is not None)

    def _upwards(self) -> Iterator[Node]:
        node = self
        while node.parent is not None:
            yield node
            node = node.parent

    def built_below(self) -> Iterator[Node]:
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += node.children or ()


@final
class NodeTable:
    """All built rows of a tree, indexed by key and by class."""

    def __init__(self) -> None:
        self.top = Node(TOP_KEY, None, None, 0)
        self._by_key: dict[int, Node] = {}
        self._by_class: dict[ClassId, set[int]] = {}
        self._last_key = TOP_KEY

    def find(self, key: int) -> Node:
        return self._by_key[key]

    def has(self, node: Node) -> bool:
        return node.key == TOP_KEY or node.key in self._by_key

    def of_class(self, class_id: ClassId) -> list[Node]:
        return [self._by_key[key] for key in sorted(self._by_class.get(class_id, ()))]

    def open_levels(self, is_open: Callable[[Node], bool]) -> int:
        nodes, levels = self.top.children or [], 0
        while nodes:
            levels += 1
            below = (node.children for node in nodes if node.children and is_open(node))
            nodes = [child for children in below for child in children]
        return levels

    def make(self, class_id: ClassId, parent: Node, row: int) -> Node:
        self._last_key += 1
        node = Node(self._last_key, class_id, parent, row)
        self._by_key[node.key] = node
        self._by_class.setdefault(class_id, set()).add(node.key)
        return node

    def forget(self, node: Node) -> None:
        for each in node.built_below():
            del self._by_key[each.key]
            assert each.class_id is not None
            keys = self._by_class[each.class_id]
            keys.discard(each.key)
            if not keys:
                del self._by_class[each.class_id]


def number_rows(children: list[Node], start: int = 0) -> None:
    for row in range(start, len(children)):
        children[row].row = row


def classes_with_shots(
    graph: CategoryGraph, shot_counts: Mapping[ClassId, int]
) -> frozenset[ClassId]:
    with_own = [class_id for class_id, count in shot_counts.items() if count and class_id in graph]
    return frozenset(with_own) | reachable(graph.parents, *with_own)


def other_parents(graph: CategoryGraph, class_id: ClassId, parent_id: ClassId | None) -> str:
    others = [other for other in graph.parents(class_id) if other != parent_id]
    named = enumeration(
        short_path(map(graph.shown_name, graph.paths(other)[0]))
        for other in others[:OTHER_PARENTS_NAMED]
    )
    more = len(others) - OTHER_PARENTS_NAMED
    return f"{named} +{more}" if more > 0 else named


@dataclass(frozen=True)
class TouchedClasses:
    """Classes affected by edits."""

    parents: frozenset[ClassId]  # classes whose children may have changed
    looks: frozenset[ClassId]  # classes whose row may have to be repainted
    roots: frozenset[ClassId]  # classes that may have become a root, or no longer be one


def touched_by(graph: CategoryGraph, edits: Iterable[GraphEdit]) -> TouchedClasses:
    """The classes affected by edits that were already applied to the graph."""
    parents: set[ClassId] = set()
    looks: set[ClassId] = set()
    roots: set[ClassId] = set()
    for edit in edits:
        if isinstance(edit, ClassAdded | ClassRemoved):
            roots.add(edit.class_id)
        elif isinstance(edit, ClassRenamed) or (
            isinstance(edit, AttributesChanged) and changes_look(edit)
        ):
            looks.add(edit.class_id)
            if edit.class_id in graph:  # its position among its siblings may have changed
                parents.update(graph.parents(edit.class_id))
                roots.add(edit.class_id)
        elif isinstance(edit, EdgeAdded | EdgeRemoved):
            parents.add(edit.parent_id)
            looks.update((edit.parent_id, edit.child_id))
            roots.add(edit.child_id)
    return TouchedClasses(frozenset(parents), frozenset(looks), frozenset(roots))


def key_text(graph: CategoryGraph, class_id: ClassId) -> str:
    """The short form of a class's key; "" for none."""
    return keys_in_use().text_of_class(graph.key_of(class_id), is_short=True)


@final
class RowData:
    """Values of rows by role."""

    def __init__(self) -> None:
        # First path of each search result from a root; None if the tree is shown.
        self.paths: Mapping[ClassId, Sequence[ClassId]] | None = None
        self.colours: Mapping[ClassId, str] = {}
        self.policies: Mapping[ClassId, ClassPolicy] = {}
        self._shot_counts: Mapping[ClassId, int] = {}
        self._image_counts: Mapping[ClassId, int] = {}
        self._with_shots: frozenset[ClassId] = frozenset()
        self._locale = QLocale()
        self._readers: Mapping[int, Callable[[CategoryGraph, ClassId], Any]] = {
            Qt.ItemDataRole.EditRole: CategoryGraph.name,
            HAS_SHOTS_ROLE: lambda _graph, class_id: class_id in self._with_shots,
            HAS_MORE_PARENTS_ROLE: lambda graph, class_id: len(graph.parents(class_id)) > 1,
            PATH_ROLE: self._path,
            SECOND_NAME_ROLE: CategoryGraph.second_name,
            COLOUR_ROLE: self._colour,
            BAR_ROLE: lambda _graph, class_id: self._policy(class_id).bar,
            IS_BROADEST_ROLE: lambda _graph, class_id: self._policy(class_id).is_broadest,
            KEY_ROLE: key_text,
            IS_DEEPEST_ROLE: lambda _graph, class_id: self._policy(class_id).is_deepest,
        }

    def follow(self, graph: CategoryGraph) -> None:
        self._with_shots = classes_with_shots(graph, self._shot_counts)

    def count(self, state: CollectionState | None, graph: CategoryGraph | None) -> bool:
        """Set the counts of a state; whether any value has changed."""
        before = self._image_counts, self._shot_counts
        shot_counts: Mapping[ClassId, int] = {} if state is None else state.shot_counts
        self._image_counts = {} if state is None else state.image_counts
        if graph is not None and shot_counts.keys() != self._shot_counts.keys():
            self._with_shots = classes_with_shots(graph, shot_counts)
        self._shot_counts = shot_counts
        now = self._image_counts, self._shot_counts
        return any(
            one is not other and one != other for one, other in zip(before, now, strict=True)
        )

    def read(self, graph: CategoryGraph, node: Node, column: int, role: int) -> Any:
        class_id = node.class_id
        if class_id is None:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(graph, class_id, column)
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip("\n".join(self._facts(graph, node, class_id, column)))
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return in_sentences(*self._facts(graph, node, class_id, column))
        reader = self._readers.get(role)
        return None if reader is None else reader(graph, class_id)

    def _text(self, graph: CategoryGraph, class_id: ClassId, column: int) -> str:
        if column == NAME:
            return graph.shown_name(class_id)
        count = self._image_counts.get(class_id, 0)
        return self._locale.toString(count) if count else ""

    def _facts(
        self, graph: CategoryGraph, node: Node, class_id: ClassId, column: int
    ) -> Iterator[str]:
        """The lines of the tool tip."""
        if column == COUNT:
            yield self._count_tip(class_id)
            return
        names = (graph.shown_name(class_id), graph.second_name(class_id))
        yield from filter(None, (*names, self._path(graph, class_id)))
        if also := other_parents(graph, class_id, self.parent_class(node)):
            yield tr("Also under {1}", also)
        policy = self._policy(class_id)
        if policy.bar is not None:
            yield tr("Minimum confidence here and below: {1}", percent(policy.bar))
        if policy.is_deepest:
            yield tr("Subclasses are not predicted")
        if policy.is_broadest:
            yield tr("Broader classes are not predicted")
        if key := keys_in_use().text_of_class(graph.key_of(class_id)):
            yield tr("Press {1} to label as this class", key)
        if class_id not in self._with_shots:
            yield tr("Needs examples: drop a few images here")

    def _count_tip(self, class_id: ClassId) -> str:
        here, own = self._image_counts.get(class_id, 0), self._shot_counts.get(class_id, 0)
        shots = plural(own, "1 example of its own", "{n} examples of its own")
        return clauses(plural(here, "1 image here or below", "{n} images here or below"), shots)

    def _colour(self, _graph: CategoryGraph, class_id: ClassId) -> str:
        return class_colour(class_id, self.colours.get(class_id, "")).name()

    def _policy(self, class_id: ClassId) -> ClassPolicy:
        return self.policies.get(class_id, _NO_POLICY)

    def parent_class(self, node: Node) -> ClassId | None:
        """The parent class of a row, of a search result that of its path; None at the top level."""
        return next(islice(self._upwards(node), 1, None), None)

    def _upwards(self, node: Node) -> Iterable[ClassId]:
        if self.paths is None or node.class_id is None:
            return node.upwards()
        return reversed(self.paths[node.class_id])

    def _path(self, graph: CategoryGraph, class_id: ClassId) -> str:
        above = () if self.paths is None else self.paths[class_id][:-1]
        return " / ".join(graph.shown_name(each) for each in above if each in graph)
