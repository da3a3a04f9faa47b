"""A class under a parent whose other children it is unlike, while it is like those of another."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from engine.collection.graph_suggestions.class_means import ClassMeans
from engine.collection.graph_suggestions.parents import ParentRanking

FEWEST_IMAGES: Final = 3
"""At or below the class: a mean of fewer says little."""
FEWEST_SIBLINGS: Final = 2
"""Classes with images below the other parent: being like one class is no reason to leave one's place."""
LEAST_BETTER: Final = 0.35
"""By how much the other parent must be likelier than the present one (decision 65)."""

LEAST_TRUST: Final = 0.7
"""Somebody put the class where it is: a ranking that is often wrong in this graph does not contradict them."""


@dataclass(frozen=True)
class Stray:
    """A class that seems to stand in the wrong place."""

    class_id: int  # the class
    from_parent: int  # where it is
    to_parent: int  # where it seems to belong
    score: float  # how likely it belongs there
    present: float  # how likely it belongs where it is

    @property
    def better(self) -> float:
        """By how much the other parent is likelier."""
        return self.score - self.present


def find_strays(
    means: ClassMeans,
    ranking: ParentRanking,
    *,
    trust: float = 1.0,
    least: float = LEAST_BETTER,
    check: Callable[[], None] = lambda: None,
) -> tuple[Stray, ...]:
    """Classes that are likelier children of another parent than of their own; the clearest first.

    A parent without other images says nothing, so its child is no stray. What is above or below the present parent
    counts as the same place.

    Args:
        means: of all classes with images.
        ranking: of parents.
        trust: what the ranking's scores are worth; see `PlacementCheck`.
        least: by how much another parent must be likelier.
        check: called between two classes; may raise.
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
