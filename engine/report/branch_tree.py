"""The classes of a report as a tree: a class with several parents stands under the oldest of them.

So every image is in one branch, and the branches of a level add up to all images.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from engine.graph.category_graph import CategoryGraph


@dataclass(frozen=True)
class BranchTree:
    """Classes with their names; ids that are not in it have none."""

    names: Mapping[int, str] = field(default_factory=dict)
    paths: Mapping[int, str] = field(default_factory=dict)  # `Animal/Bird/Gull`
    parent: Mapping[int, int] = field(default_factory=dict)  # roots are left out
    levels: Mapping[int, int] = field(default_factory=dict)  # in the graph
    several_parents: int = 0  # classes that have more than one

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
        """The class, and those above it up to a root."""
        each: int | None = class_id
        while each is not None:
            yield each
            each = self.parent.get(each)

    def depth(self, class_id: int) -> int:
        """Classes above it in the tree."""
        return sum(1 for _ in self.branch(class_id)) - 1


def branch_tree(graph: CategoryGraph, class_ids: Iterable[int]) -> BranchTree:
    """The tree of some classes and all above them, parents before children, siblings as in the graph."""
    wanted = set[int]()
    for class_id in class_ids:
        if class_id in graph and class_id not in wanted:
            wanted |= graph.ancestors(class_id) | {class_id}
    ordered = _ordered(graph, wanted)
    parent = {each: graph.parents(each)[0] for each in ordered if graph.parents(each)}
    names = {each: graph.shown_name(each) for each in ordered}
    paths: dict[int, str] = {}
    for each in ordered:
        paths[each] = f"{paths[parent[each]]}/{names[each]}" if each in parent else names[each]
    levels = {each: graph.level(each) for each in ordered}
    several = sum(1 for each in ordered if len(graph.parents(each)) > 1)
    return BranchTree(names, paths, parent, levels, several)


def _ordered(graph: CategoryGraph, wanted: set[int]) -> list[int]:
    waiting, ordered = [each for each in reversed(graph.roots()) if each in wanted], list[int]()
    while waiting:
        class_id = waiting.pop()
        ordered.append(class_id)
        below = [
            each
            for each in graph.children(class_id)
            if each in wanted and graph.parents(each)[0] == class_id
        ]
        waiting += reversed(below)
    return ordered
