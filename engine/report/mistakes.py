"""Severity of mistakes: graph distance and lowest common ancestor of true and predicted class."""

import math
from collections import Counter
from functools import cache

from engine.graph.category_graph import CategoryGraph
from engine.graph.codes import UNKNOWN
from engine.report.confusion import Confusion
from engine.report.figures import Mistakes

MAX_LISTED = 20
_TOP = 0  # virtual root above all roots, so that any two classes share one; no class's id


def mistakes_of(graph: CategoryGraph, confusion: Confusion) -> Mistakes:
    """Measure the mistakes between two classes; "none of the classes" is not in the graph.

    A coarse ground truth above the predicted class is not a mistake. Two classes without a common
    ancestor share the virtual root: one edge above each root, and higher than any of them.
    """
    measure = GraphDistance(graph)
    by_distance, heights = Counter[int](), 0.0
    pairs = []
    for true, predicted, count in confusion.pairs():
        if UNKNOWN in (true, predicted) or true == predicted or true in measure.ups(predicted):
            continue
        distance, height = measure.between(true, predicted)
        by_distance[distance] += count
        heights += height * count
        pairs.append((true, predicted, count))
    wrong = by_distance.total()
    worst = sorted(pairs, key=lambda pair: (-pair[2], pair[0], pair[1]))[:MAX_LISTED]
    mean_height = heights / wrong if wrong else math.nan
    return Mistakes(wrong, tuple(sorted(by_distance.items())), mean_height, tuple(worst))


class GraphDistance:
    """Distances between classes, with a cache of the results of each class."""

    def __init__(self, graph: CategoryGraph) -> None:
        self._graph = graph
        self.ups = cache(self._ups)
        self._height = cache(self._uncached_height)

    def _ups(self, class_id: int) -> dict[int, int]:
        """Edges up to each ancestor, the class itself (0), and the virtual root."""
        ups, frontier, edges = dict[int, int](), [class_id], 0
        while frontier:
            ups |= dict.fromkeys(frontier, edges)
            edges += 1
            parents = [self._graph.parents(each) for each in frontier]
            if () in parents:
                ups.setdefault(_TOP, edges)
            frontier = [each for each in dict.fromkeys(sum(parents, ())) if each not in ups]
        return ups

    def between(self, first: int, second: int) -> tuple[int, int]:
        """Edges of the shortest path over a common ancestor; height of the lowest one."""
        above, others = self.ups(first), self.ups(second)
        shared = above.keys() & others.keys()
        return min(above[each] + others[each] for each in shared), min(map(self._height, shared))

    def _uncached_height(self, class_id: int) -> int:
        if class_id == _TOP:
            return 1 + max(map(self._height, self._graph.roots()), default=-1)
        return self._graph.height(class_id)
