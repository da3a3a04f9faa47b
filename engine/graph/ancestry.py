"""Questions answered from above to below: each class after its parents, once, however many paths lead there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from engine.graph.traversal import reachable

if TYPE_CHECKING:  # the window shows first
    from engine.graph.category_graph import CategoryGraph, ClassId


def parents_first(graph: CategoryGraph, class_ids: Iterable[ClassId]) -> list[ClassId]:
    """Classes and all above them, each after its parents.

    Raises:
        UnknownClassError: a class is not in the graph.
    """
    asked = tuple(class_ids)
    return sorted(reachable(graph.parents, *asked).union(asked), key=graph.level)


def path_count(graph: CategoryGraph, class_id: ClassId) -> int:
    """Number of all paths from a root to a class, also where `CategoryGraph.paths` lists only the first.

    Raises:
        UnknownClassError: the class is not in the graph.
    """
    counts: dict[ClassId, int] = {}
    for each in parents_first(graph, [class_id]):
        counts[each] = sum(counts[parent] for parent in graph.parents(each)) or 1
    return counts[class_id]
