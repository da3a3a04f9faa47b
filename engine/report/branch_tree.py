"""The classes of a report as a tree: a class with several parents is below the oldest of them.

So each image is in one branch, and the branches of a level add up to all images.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from engine.graph.category_graph import CategoryGraph


@dataclass(frozen=True)
class BranchTree:
    """Classes by id, parents before their children, siblings in the order of the graph."""

    names: Mapping[int, str]
    paths: Mapping[int, str]  # `Animal/Bird/Gull`
    parent: Mapping[int, int]  # without the roots
    several_parents: bool  # whether a class has more than one parent in the graph

    @cached_property
    def _children(self) -> Mapping[int | None, list[int]]:
        children: dict[int | None, list[int]] = {}
        for class_id in self.names:
            children.setdefault(self.parent.get(class_id), []).append(class_id)
        return children

    def children(self, class_id: int | None) -> list[int]:
        """In the order of the graph; the roots for None."""
        return self._children.get(class_id, [])

    def branch(self, class_id: int) -> Iterator[int]:
        """The class and its ancestors up to a root."""
        each: int | None = class_id
        while each is not None:
            yield each
            each = self.parent.get(each)


def branch_tree(graph: CategoryGraph, class_ids: Iterable[int]) -> BranchTree:
    """The tree of some classes and their ancestors; classes missing in the graph are skipped."""
    wanted = set[int]()
    for class_id in class_ids:
        if class_id in graph and class_id not in wanted:
            wanted |= graph.ancestors(class_id) | {class_id}
    names, paths, parent = dict[int, str](), dict[int, str](), dict[int, int]()
    waiting = [each for each in reversed(graph.roots()) if each in wanted]
    while waiting:
        class_id = waiting.pop()
        names[class_id] = paths[class_id] = graph.shown_name(class_id)
        if parents := graph.parents(class_id):
            parent[class_id] = parents[0]
            paths[class_id] = f"{paths[parents[0]]}/{names[class_id]}"
        waiting += [
            each
            for each in reversed(graph.children(class_id))
            if each in wanted and graph.parents(each)[0] == class_id
        ]
    several_parents = any(len(graph.parents(each)) > 1 for each in names)
    return BranchTree(names, paths, parent, several_parents)
