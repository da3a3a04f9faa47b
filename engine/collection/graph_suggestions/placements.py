"""Test the ranking of parents on known edges, and find misplaced classes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from engine.collection.graph_suggestions.class_means import ClassMeans
from engine.collection.graph_suggestions.parents import ParentRanking

MOST_ASKED: Final = 100  # edges that are tested, spread over the graph
OF_FIRST: Final = 3  # suggested parents of a class (K of the paper's PPN setting)
PRIOR: Final = 2  # pseudo-count of tested edges at the claimed accuracy


@dataclass(frozen=True)
class PlacementCheck:
    """Result of removing edges, one at a time, and predicting them."""

    asked: int = 0  # edges
    first: int = 0  # parents that came first
    among_three: int = 0  # parents among the first three
    by_chance: float = 0.0  # parents that a random guess would name first
    claimed: float = 0.0  # expected parents that come first, by the scores

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
    """Predict known parents; `check` is called before each edge and may raise."""
    graph = means.graph
    edges = [edge for edge in graph.edges() if edge[1] in means]
    coarse = sum(1 for each in graph.classes() if each in means and graph.children(each))
    chosen = np.unique(
        np.linspace(0, max(0, len(edges) - 1), min(len(edges), most)).astype(np.int64)
    )
    first, among_three, claimed = 0, 0, 0.0
    for place in chosen.tolist():
        parent, child = edges[place]
        check()
        ranked = ranking.rank(child, (parent,))
        names = [one.class_id for one in ranked[:OF_FIRST]]
        first += names[:1] == [parent]
        among_three += parent in names
        claimed += ranked[0].score if ranked else 0.0
    return PlacementCheck(len(chosen), first, among_three, len(chosen) / max(1, coarse), claimed)


FEWEST_IMAGES: Final = 3  # at or below a class whose parent is judged
FEWEST_SIBLINGS: Final = 2  # with images below the other parent
LEAST_BETTER: Final = 0.35  # difference of scores to the present parent (decision 65)
LEAST_TRUST: Final = 0.7  # of a ranking that may contradict a person


@dataclass(frozen=True)
class Stray:
    """A class that seems to be under the wrong parent, and to belong under another one."""

    class_id: int
    from_parent: int
    to_parent: int
    score: float  # probability of the other parent
    present: float  # probability of the present parent

    @property
    def key(self) -> str:
        return f"stray {self.class_id} {self.from_parent} {self.to_parent}"


def find_strays(
    means: ClassMeans,
    ranking: ParentRanking,
    *,
    trust: float = 1.0,
    least: float = LEAST_BETTER,
    check: Callable[[], None] = lambda: None,
) -> tuple[Stray, ...]:
    """Find classes that are more probable children of another parent, the clearest first.

    Children of a parent without other images are skipped. Ancestors and descendants of the present
    parent count as the same place. For `trust` see `PlacementCheck`; `check` is called before each
    class and may raise.
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
        if other is None or means.classes_below(other.class_id, class_id) < FEWEST_SIBLINGS:
            continue
        score = trust * other.score
        if score - present >= least:
            found.append(Stray(class_id, parent_id, other.class_id, score, present))
    return tuple(sorted(found, key=lambda stray: stray.present - stray.score))
