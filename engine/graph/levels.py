"""Levels of a category graph, kept up to date edge by edge.

A class's level is its longest path from a root, so no class competes with its own ancestor.
"""

from collections.abc import Collection
from typing import final

from engine.graph.adjacency import Adjacency
from engine.graph.traversal import reachable


@final
class LevelTable:
    """The level of each class; computed when first asked for, then corrected below each edited edge.

    Args:
        classes: all there are.
        edges: parent to child. Each `*_added` and `*_removed` is told after the edit was made to both.
    """

    def __init__(self, classes: Collection[int], edges: Adjacency) -> None:
        self._classes = classes
        self._edges = edges
        self._levels: dict[int, int] | None = None
        self._by_level: tuple[tuple[int, ...], ...] | None = None

    def level(self, class_id: int) -> int:
        """Longest path from a root to the class, in edges."""
        return self._computed()[class_id]

    def by_level(self) -> tuple[tuple[int, ...], ...]:
        """Classes of each level, ascending ids; an empty graph has no level."""
        if self._by_level is None:
            levels = self._computed()
            rows: list[list[int]] = [[] for _ in range(max(levels.values(), default=-1) + 1)]
            for class_id in sorted(levels):
                rows[levels[class_id]].append(class_id)
            self._by_level = tuple(tuple(row) for row in rows)
        return self._by_level

    def forget(self) -> None:
        """Drop what is known: cheaper than correcting it through many edits."""
        self._levels = None
        self._by_level = None

    def class_added(self, class_id: int) -> None:
        """Note a class without edges."""
        self._by_level = None
        if self._levels is not None:
            self._levels[class_id] = 0

    def class_removed(self, class_id: int) -> None:
        """Note that a class without edges went away."""
        self._by_level = None
        if self._levels is not None:
            del self._levels[class_id]

    def edge_added(self, parent_id: int, child_id: int) -> None:
        """Note a new edge: it can only push the child down."""
        if self._levels is not None and self._levels[child_id] <= self._levels[parent_id]:
            self._correct_below(child_id, self._levels)

    def edge_removed(self, parent_id: int, child_id: int) -> None:
        """Note a cut edge: only one on a longest path matters."""
        if self._levels is not None and self._levels[child_id] == self._levels[parent_id] + 1:
            self._correct_below(child_id, self._levels)

    def _computed(self) -> dict[int, int]:
        if self._levels is None:
            self._levels = dict.fromkeys(self._classes, 0)
            self._settle(
                [each for each in self._classes if not self._edges.parents(each)],
                {each: len(self._edges.parents(each)) for each in self._classes},
                self._levels,
            )
        return self._levels

    def _correct_below(self, class_id: int, levels: dict[int, int]) -> None:
        self._by_level = None
        affected = reachable(self._edges.children, class_id) | {class_id}
        waiting_for = {each: sum(p in affected for p in self._edges.parents(each)) for each in affected}
        self._settle([class_id], waiting_for, levels)

    def _settle(self, ready: list[int], waiting_for: dict[int, int], levels: dict[int, int]) -> None:
        """Set the levels of classes whose parents all have theirs, and so on below them."""
        while ready:
            settled = ready.pop()
            levels[settled] = max((levels[p] + 1 for p in self._edges.parents(settled)), default=0)
            for child in self._edges.children(settled):
                waiting_for[child] -= 1
                if not waiting_for[child]:
                    ready.append(child)
