"""How often the ranking of parents is right where the answer is known: about classes that have a parent."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from engine.collection.graph_suggestions.class_means import ClassMeans
from engine.collection.graph_suggestions.parents import ParentRanking

MOST_ASKED: Final = 100
"""Edges that are asked for, spread over the graph."""
OF_FIRST: Final = 3
"""Parents that are suggested for a class (K of the paper's PPN setting)."""
PRIOR: Final = 2
"""Asked edges that count as if the ranking had been as right as it claims."""


@dataclass(frozen=True)
class PlacementCheck:
    """Edges that were taken away, one at a time, and asked for."""

    asked: int = 0  # edges
    first: int = 0  # how many parents came first
    among_three: int = 0  # how many were among the first three
    by_chance: float = 0.0  # how many a random guess would name first
    claimed: float = 0.0  # how many should have come first by the scores

    @property
    def trust(self) -> float:
        """What scores are worth in this graph, at most 1; 0 where the ranking is no better than chance."""
        if self.asked and self.first <= 2 * self.by_chance:
            return 0.0
        return min(1.0, (self.first + PRIOR) / (self.claimed + PRIOR))


def check_placements(
    means: ClassMeans, ranking: ParentRanking, check: Callable[[], None] = lambda: None, *, most: int = MOST_ASKED
) -> PlacementCheck:
    """Ask for parents that are known.

    Args:
        means: of all classes with images.
        ranking: of parents.
        check: called between two edges; may raise.
        most: edges that are asked for.
    """
    graph = means.graph
    edges = [edge for edge in graph.edges() if edge[1] in means]
    coarse = sum(1 for each in graph.classes() if each in means and graph.children(each))
    chosen = np.unique(np.linspace(0, max(0, len(edges) - 1), min(len(edges), most)).astype(np.int64))
    first = among_three = 0
    claimed = 0.0
    for place in chosen.tolist():
        parent, child = edges[place]
        check()
        ranked = ranking.rank(child, (parent,))
        names = [one.class_id for one in ranked[:OF_FIRST]]
        first += names[:1] == [parent]
        among_three += parent in names
        claimed += ranked[0].score if ranked else 0.0
    return PlacementCheck(len(chosen), first, among_three, len(chosen) / max(1, coarse), claimed)
