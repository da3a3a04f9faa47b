"""How like two classes must be before one says anything about the place of the other.

A class that nothing in the graph is kin to has a nearest class all the same, and that one's parents would be suggested
with an even smile. So the graph itself is asked: how like is a class to its nearest sibling, and how like to the
nearest class from another branch?
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.collection.graph_suggestions.class_means import ClassMeans

MOST_ASKED: Final = 200
"""Classes that the likeness is read from."""
USUAL_KIN: Final = 0.28
"""Cosine of whitened class means, on Grocery Store and WordNet (decision 65)."""
USUAL_STRANGER: Final = 0.09
"""The same to the nearest class of another branch."""
USUAL_SPREAD: Final = 0.09
"""Standard deviation of both."""
LARGEST_BRANCH: Final = 0.5
"""Share of the labelled classes; who is in a larger branch together is not kin for that."""
WEIGHT: Final = 4
"""Classes that the usual figures count for: of few classes of one's own nothing can be told."""


@dataclass(frozen=True)
class Kinship:
    """Two bells of one width: likeness to the nearest sibling, and to the nearest stranger.

    Attributes:
        kin: mean likeness of a class to its nearest sibling.
        stranger: mean likeness of a class to the nearest class of another branch.
        spread: standard deviation of both.
    """

    kin: float = USUAL_KIN
    stranger: float = USUAL_STRANGER
    spread: float = USUAL_SPREAD

    def probability(self, likeness: float) -> float:
        """How likely the nearest class is kin, where it is so like."""
        apart = self.kin - self.stranger
        if apart <= 0:
            return 0.0
        steps = (likeness - (self.kin + self.stranger) / 2) * apart / self.spread**2
        return float(1 / (1 + np.exp(-np.clip(steps, -50, 50))))


def kinship_of(means: ClassMeans) -> Kinship:
    """Read off the graph how like siblings and strangers are.

    Classes without a parent have no place yet that could tell. Siblings share a parent. Strangers share nothing but
    classes that most others are in, too.
    """
    parents = [means.graph.parents(each) for each in means.labelled.tolist()]
    branches = branches_of(means)
    with_parent, in_branch = _places_by_class(parents), _places_by_class(branches)
    is_placed = np.array([bool(above) for above in parents], dtype=bool)
    placed = np.flatnonzero(is_placed)
    spread = np.linspace(0, max(0, len(placed) - 1), min(len(placed), MOST_ASKED))
    kin, strangers = [], []
    for place in placed[np.unique(spread.astype(np.int64))].tolist():
        cosines = means.own @ means.own[place]
        cosines[~is_placed] = -np.inf
        cosines[place] = -np.inf
        is_kin, is_near = np.zeros_like(is_placed), np.zeros_like(is_placed)
        is_kin[[each for parent in parents[place] for each in with_parent[parent]]] = True
        is_near[[each for branch in branches[place] for each in in_branch[branch]]] = True
        kin += _best(cosines[is_kin])
        strangers += _best(cosines[~is_kin & ~is_near])
    return Kinship(
        _drawn_towards(USUAL_KIN, kin),
        _drawn_towards(USUAL_STRANGER, strangers),
        _spread(kin, strangers),
    )


def branches_of(means: ClassMeans) -> list[frozenset[int]]:
    """What each labelled class is in: itself and what is above it, but for what holds more than half of all."""
    lines = [means.graph.ancestors(each) | {each} for each in means.labelled.tolist()]
    sizes = Counter(class_id for line in lines for class_id in line)
    large = {class_id for class_id, size in sizes.items() if size > LARGEST_BRANCH * len(lines)}
    return [line - large for line in lines]


def _places_by_class(above: Sequence[Iterable[int]]) -> Mapping[int, list[int]]:
    """Which of the labelled classes are below each class, from what is above each labelled class."""
    places: dict[int, list[int]] = defaultdict(list)
    for place, classes in enumerate(above):
        for class_id in classes:
            places[class_id].append(place)
    return places


def _best(cosines: NDArray[np.float32]) -> list[float]:
    found = cosines[np.isfinite(cosines)]
    return [float(found.max())] if len(found) else []


def _drawn_towards(usual: float, values: list[float]) -> float:
    return (WEIGHT * usual + sum(values)) / (WEIGHT + len(values))


def _spread(kin: list[float], strangers: list[float]) -> float:
    squares = [(value - np.mean(values)) ** 2 for values in (kin, strangers) for value in values]
    return float(np.sqrt((2 * WEIGHT * USUAL_SPREAD**2 + sum(squares)) / (2 * WEIGHT + len(squares))))
