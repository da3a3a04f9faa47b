"""The ranking of parents applied to classes that have one: how often it is right, and which classes look misplaced."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from engine.collection.graph_suggestions.class_means import ClassMeans
from engine.collection.graph_suggestions.parents import ParentRanking

MOST_ASKED: Final = 100  # edges that are checked, spread over the graph
OF_FIRST: Final = 3  # suggested parents of a class (K of the paper's PPN setting)
PRIOR: Final = 2  # checked edges that count as if the ranking had been as right as it claims


@dataclass(frozen=True)
class PlacementCheck:
    """Edges that were removed, one at a time, and predicted."""

    asked: int = 0  # edges
    first: int = 0  # parents that came first
    among_three: int = 0  # parents among the first three
    by_chance: float = 0.0  # parents that a random guess would name first
    claimed: float = 0.0  # parents that should have come first by the scores

    @property
    def trust(self) -> float:
        """Factor in [0, 1] for scores in this graph; 0 where the ranking is no better than chance."""
        if self.asked and self.first <= 2 * self.by_chance:
            return 0.0
        return min(1.0, (self.first + PRIOR) / (self.claimed + PRIOR))


def check_placements(
    means: ClassMeans,
    ranking: ParentRanking,
    check: Callable[[], None] = lambda: None,
    *,
    most: int = MOST_ASKED,
) -> PlacementCheck:
    """Predict known parents; `check` is called between two edges and may raise."""
    graph = means.graph
    edges = [edge for edge in graph.edges() if edge[1] in means]
    coarse = sum(1 for each in graph.classes() if each in means and graph.children(each))
    chosen = np.unique(
        np.linspace(0, max(0, len(edges) - 1), min(len(edges), most)).astype(np.int64)
    )
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


FEWEST_IMAGES: Final = 3  # at or below the class: a mean of fewer says little
FEWEST_SIBLINGS: Final = (
    2  # with images below the other parent: being like one class is no reason to move
)
LEAST_BETTER: Final = 0.35  # difference of scores to the present parent (decision 83)

LEAST_TRUST: Final = 0.7  # a ranking that is often wrong in this graph does not contradict a person


@dataclass(frozen=True)
class Stray:
    """A class that seems to be under the wrong parent."""

    class_id: int
    from_parent: int  # where it is
    to_parent: int  # where it seems to belong
    score: float  # probability that it belongs there
    present: float  # probability that it belongs where it is

    @property
    def better(self) -> float:
        return self.score - self.present


def find_strays(
    means: ClassMeans,
    ranking: ParentRanking,
    *,
    trust: float = 1.0,
    least: float = LEAST_BETTER,
    check: Callable[[], None] = lambda: None,
) -> tuple[Stray, ...]:
    """Classes that are more probable children of another parent than of their own, the clearest first.

    A parent without other images says nothing, so its child is no stray. What is above or below the present parent
    counts as the same place. For `trust` see `PlacementCheck`; `check` is called between two classes and may raise.
    """
    graph, found = means.graph, []
    if trust < LEAST_TRUST:
        return ()
    ranking.prepare(check)
    for parent_id, class_id in graph.edges():
        count = means.image_count(class_id) if class_id in means else 0
        if count < FEWEST_IMAGES or means.image_count(parent_id) == count:
            continue
        check()
        ranked = ranking.rank(class_id, (parent_id,))
        line = graph.ancestors(parent_id) | graph.descendants(parent_id) | {parent_id}
        present = trust * max((one.score for one in ranked if one.class_id in line), default=0.0)
        other = next((one for one in ranked if one.class_id not in line), None)
        if other is not None and means.classes_below(other.class_id, class_id) < FEWEST_SIBLINGS:
            continue
        if other is not None and trust * other.score - present >= least:
            found.append(Stray(class_id, parent_id, other.class_id, trust * other.score, present))
    return tuple(sorted(found, key=lambda stray: -stray.better))
