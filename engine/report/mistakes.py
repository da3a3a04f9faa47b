"""How bad mistakes are: the distance of true and predicted class in the graph, and the height of what they share."""

import math
from collections import Counter
from typing import Final

from engine.graph.category_graph import CategoryGraph
from engine.graph.codes import UNKNOWN
from engine.report.confusion import Confusion
from engine.report.figures import Mistakes

MOST_LISTED: Final = 20
_TOP: Final = (
    0  # stands above all roots, so that any two classes share something; no class has this id
)


def mistakes_of(graph: CategoryGraph, confusion: Confusion) -> Mistakes:
    """Measure the mistakes between two classes; "none of the classes" has no place in the graph.

    A coarse truth above the predicted class is no mistake. Two classes that share no class share the top above all
    roots, one edge from each root and higher than any of them.
    """
    measure = GraphDistance(graph)
    by_distance, heights, wrong = Counter[int](), 0.0, 0
    pairs = []
    for true, predicted, count in confusion.pairs():
        if UNKNOWN in (true, predicted) or true == predicted or true in measure.ups(predicted):
            continue
        distance, height = measure.between(true, predicted)
        by_distance[distance] += count
        heights += height * count
        wrong += count
        pairs.append((true, predicted, count))
    worst = sorted(pairs, key=lambda pair: (-pair[2], pair[0], pair[1]))[:MOST_LISTED]
    return Mistakes(
        wrong,
        tuple(sorted(by_distance.items())),
        heights / wrong if wrong else math.nan,
        tuple(worst),
    )


class GraphDistance:
    """Distances between classes; what was found of each is kept."""

    def __init__(self, graph: CategoryGraph) -> None:
        self._graph = graph
        self._ups: dict[int, dict[int, int]] = {}
        self._heights: dict[int, int] = {}
        self._top_height: int | None = None

    def ups(self, class_id: int) -> dict[int, int]:
        """Edges up to each class above, itself at 0, and to the top above all roots."""
        if class_id not in self._ups:
            ups, at = dict[int, int](), [class_id]
            edges = 0
            while at:
                ups |= dict.fromkeys(at, edges)
                edges += 1
                is_at_top = any(not self._graph.parents(each) for each in at)
                if is_at_top:
                    ups.setdefault(_TOP, edges)
                at = [
                    above for each in at for above in self._graph.parents(each) if above not in ups
                ]
                at = list(dict.fromkeys(at))
            self._ups[class_id] = ups
        return self._ups[class_id]

    def between(self, first: int, second: int) -> tuple[int, int]:
        """Edges on the shortest way over a common ancestor, and the height of the lowest common ancestor."""
        above, others = self.ups(first), self.ups(second)
        shared = above.keys() & others.keys()
        return min(above[each] + others[each] for each in shared), min(map(self._height, shared))

    def _height(self, class_id: int) -> int:
        if class_id == _TOP:
            if self._top_height is None:
                self._top_height = 1 + max(map(self._height, self._graph.roots()), default=-1)
            return self._top_height
        if class_id not in self._heights:
            self._heights[class_id] = self._graph.height(class_id)
        return self._heights[class_id]
