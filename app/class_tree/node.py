"""Rows of the class tree: a class under one of its parents. A class with two parents has two rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, final

if TYPE_CHECKING:  # the window shows first
    from engine.graph.category_graph import ClassId


TOP_KEY = 0


@final
class Node:
    """One occurrence of a class; `children` is None until somebody looks below it."""

    __slots__ = ("children", "class_id", "key", "parent", "row")

    def __init__(self, key: int, class_id: ClassId | None, parent: Node | None, row: int) -> None:
        self.key = key  # number of this row, never used again in its tree
        self.class_id = class_id  # its class; None for the invisible top
        self.parent = parent  # the row above; None for the invisible top
        self.row = row
        self.children: list[Node] | None = None

    @property
    def place(self) -> tuple[int, ...]:
        """The rows that lead here from the top: sorted by them, rows are in the order in which they stand."""
        rows: list[int] = []
        node: Node | None = self
        while node is not None and node.class_id is not None:
            rows.append(node.row)
            node = node.parent
        return tuple(reversed(rows))

    def upwards(self) -> Iterator[ClassId]:
        """Its class, and those of the rows above, from below to above."""
        node: Node | None = self
        while node is not None and node.class_id is not None:
            yield node.class_id
            node = node.parent

    def built_below(self) -> Iterator[Node]:
        """This row and all rows that were built below it."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += node.children or ()


@final
class NodeTable:
    """All built rows of one tree, found by key and by class."""

    def __init__(self) -> None:
        self.top = Node(TOP_KEY, None, None, 0)
        self._by_key: dict[int, Node] = {}
        self._by_class: dict[ClassId, set[int]] = {}
        self._last_key = TOP_KEY

    def find(self, key: int) -> Node:
        return self._by_key[key]

    def has(self, node: Node) -> bool:
        """Whether a row was not dropped; the top never is."""
        return node.key == TOP_KEY or node.key in self._by_key

    def of_class(self, class_id: ClassId) -> list[Node]:
        """Built rows of a class, oldest first."""
        return [self._by_key[key] for key in sorted(self._by_class.get(class_id, ()))]

    def open_levels(self, is_open: Callable[[Node], bool]) -> int:
        """How many levels stand in open branches."""
        nodes, levels = self.top.children or [], 0
        while nodes:
            levels += 1
            below = (node.children for node in nodes if node.children and is_open(node))
            nodes = [child for children in below for child in children]
        return levels

    def make(self, class_id: ClassId, parent: Node, row: int) -> Node:
        """A new row, not yet among its parent's children."""
        self._last_key += 1
        node = Node(self._last_key, class_id, parent, row)
        self._by_key[node.key] = node
        self._by_class.setdefault(class_id, set()).add(node.key)
        return node

    def forget(self, node: Node) -> None:
        """Drop a row and all rows below it from the table."""
        for each in node.built_below():
            del self._by_key[each.key]
            assert each.class_id is not None
            keys = self._by_class[each.class_id]
            keys.discard(each.key)
            if not keys:
                del self._by_class[each.class_id]


def number_rows(children: list[Node], start: int = 0) -> None:
    """Write the place into each row from `start` on."""
    for row in range(start, len(children)):
        children[row].row = row
