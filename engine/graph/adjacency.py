"""Edges of a category graph, quick to query and cheap to copy, and the levels that they make.

A project's graph is held several times: on the project thread, by the window, by the fit that is
running.
"""

from collections.abc import Collection, Hashable
from typing import Generic, TypeVar, final

from engine.graph.traversal import reachable

ClassId = int
Key = TypeVar("Key", bound=Hashable)

MOST_IN_TUPLE = 8  # up to so many ids, a tuple is smaller than a set and as quick to search


@final
class SharedSets(Generic[Key]):
    """Sets of ids by key with copy-on-write; copies may be used on different threads."""

    def __init__(self) -> None:
        self._held: dict[Key, tuple[ClassId, ...] | set[ClassId]] = {}
        # Sets that no copy shares, which may therefore be changed in place
        self._own: set[Key] = set()

    def of(self, key: Key) -> Collection[ClassId]:
        """The ids of a key; a view that is invalid after an edit."""
        return self._held.get(key, ())

    def __len__(self) -> int:
        return len(self._held)

    def add(self, key: Key, class_id: ClassId) -> None:
        held = self._held.get(key, ())
        if class_id in held:
            return
        if len(held) < MOST_IN_TUPLE:
            self._held[key] = (*held, class_id)
        else:
            self._own_set(key, held).add(class_id)

    def discard(self, key: Key, class_id: ClassId) -> None:
        """Take an id from those of a key, if it is there."""
        held = self._held.get(key, ())
        if class_id not in held:
            return
        if len(held) == 1:
            del self._held[key]
            self._own.discard(key)
        elif len(held) <= MOST_IN_TUPLE:
            self._held[key] = tuple(each for each in held if each != class_id)
            self._own.discard(key)
        else:
            self._own_set(key, held).discard(class_id)

    def drop(self, key: Key) -> None:
        self._held.pop(key, None)
        self._own.discard(key)

    def copy(self) -> "SharedSets[Key]":
        """Copy at the cost of one dictionary."""
        twin = SharedSets[Key]()
        twin._held = self._held.copy()
        self._own = set()
        return twin

    def _own_set(self, key: Key, held: Collection[ClassId]) -> set[ClassId]:
        if key in self._own and isinstance(held, set):
            return held
        own = set(held)
        self._held[key] = own
        self._own.add(key)
        return own


@final
class Adjacency:
    """Edges, found from both ends."""

    def __init__(self) -> None:
        self._parents: SharedSets[ClassId] = SharedSets()
        self._children: SharedSets[ClassId] = SharedSets()
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def parents(self, class_id: ClassId) -> Collection[ClassId]:
        return self._parents.of(class_id)

    def children(self, class_id: ClassId) -> Collection[ClassId]:
        return self._children.of(class_id)

    def has(self, parent_id: ClassId, child_id: ClassId) -> bool:
        return parent_id in self._parents.of(child_id)

    def add(self, parent_id: ClassId, child_id: ClassId) -> None:
        """Add an edge that is not there."""
        self._parents.add(child_id, parent_id)
        self._children.add(parent_id, child_id)
        self._count += 1

    def remove(self, parent_id: ClassId, child_id: ClassId) -> None:
        """Remove an edge that is there."""
        self._parents.discard(child_id, parent_id)
        self._children.discard(parent_id, child_id)
        self._count -= 1

    def copy(self) -> "Adjacency":
        twin = Adjacency()
        twin._parents = self._parents.copy()
        twin._children = self._children.copy()
        twin._count = self._count
        return twin


@final
class LevelTable:
    """The level of each class, its longest path from a root; updated incrementally.

    Each `*_added` and `*_removed` is called after the edit was made to `classes` and `edges`.
    """

    def __init__(self, classes: Collection[int], edges: Adjacency) -> None:
        self._classes = classes
        self._edges = edges
        self._levels: dict[int, int] | None = None
        self._by_level: tuple[tuple[int, ...], ...] | None = None

    def level(self, class_id: int) -> int:
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
        """Drop all levels: cheaper than to correct them through many edits."""
        self._levels = None
        self._by_level = None

    def class_added(self, class_id: int) -> None:
        self._by_level = None
        if self._levels is not None:
            self._levels[class_id] = 0

    def class_removed(self, class_id: int) -> None:
        self._by_level = None
        if self._levels is not None:
            del self._levels[class_id]

    def edge_added(self, parent_id: int, child_id: int) -> None:
        """Correct levels; a new edge can only push the child down."""
        if self._levels is not None and self._levels[child_id] <= self._levels[parent_id]:
            self._correct_below(child_id, self._levels)

    def edge_removed(self, parent_id: int, child_id: int) -> None:
        """Correct levels; only an edge on a longest path matters."""
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
        waiting_for = {
            each: sum(p in affected for p in self._edges.parents(each)) for each in affected
        }
        self._settle([class_id], waiting_for, levels)

    def _settle(
        self, ready: list[int], waiting_for: dict[int, int], levels: dict[int, int]
    ) -> None:
        """Set the levels of classes whose parents all have theirs, and so on below them."""
        while ready:
            settled = ready.pop()
            levels[settled] = max((levels[p] + 1 for p in self._edges.parents(settled)), default=0)
            for child in self._edges.children(settled):
                waiting_for[child] -= 1
                if not waiting_for[child]:
                    ready.append(child)
