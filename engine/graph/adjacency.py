"""Which classes lie directly above and below which: the edges of a category graph, quick to ask and cheap to copy."""

from collections.abc import Collection
from typing import final

from engine.graph.shared_sets import SharedSets

ClassId = int


@final
class Adjacency:
    """Edges, found from both ends."""

    def __init__(self) -> None:
        self._parents: SharedSets[ClassId] = SharedSets()
        self._children: SharedSets[ClassId] = SharedSets()
        self._count = 0

    def __len__(self) -> int:
        """Number of edges."""
        return self._count

    def parents(self, class_id: ClassId) -> Collection[ClassId]:
        """Classes directly above, in no order."""
        return self._parents.of(class_id)

    def children(self, class_id: ClassId) -> Collection[ClassId]:
        """Classes directly below, in no order."""
        return self._children.of(class_id)

    def has(self, parent_id: ClassId, child_id: ClassId) -> bool:
        """Whether there is this edge."""
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
        """Make equal edges that go their own way from here."""
        twin = Adjacency()
        twin._parents = self._parents.copy()
        twin._children = self._children.copy()
        twin._count = self._count
        return twin
