"""The similarity at which two classes are likely to be siblings, estimated from the graph.

Every class has a nearest one, also where nothing in the graph is related to it. So similarities of classes to their
nearest sibling are compared with those to the nearest class of another branch.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.collection.graph_suggestions.class_means import ClassMeans

MOST_ASKED: Final = 200
"""Classes that the similarity is read from."""
USUAL_SIBLING: Final = 0.28
"""Cosine of whitened class means, on Grocery Store and WordNet (decision 65)."""
USUAL_UNRELATED: Final = 0.09
"""The same to the nearest class of another branch."""
USUAL_SPREAD: Final = 0.09
"""Standard deviation of both."""
LARGEST_BRANCH: Final = 0.5
"""Share of the labelled classes; who is in a larger branch together is not kin for that."""
WEIGHT: Final = 4
"""Classes that the usual figures count for: of few classes of one's own nothing can be told."""


@dataclass(frozen=True)
class Relatedness:
    """Two normal distributions of one width: similarity to the nearest sibling, and to the nearest unrelated class."""

    sibling: float = USUAL_SIBLING  # mean similarity of a class to its nearest sibling
    unrelated: float = USUAL_UNRELATED  # mean similarity of a class to the nearest class of another branch
    spread: float = USUAL_SPREAD  # standard deviation of both

    def probability(self, similarity: float) -> float:
        """Probability that the nearest class is a sibling, given its similarity."""
        apart = self.sibling - self.unrelated
        if apart <= 0:
            return 0.0
        steps = (similarity - (self.sibling + self.unrelated) / 2) * apart / self.spread**2
        return float(1 / (1 + np.exp(-np.clip(steps, -50, 50))))


def relatedness_of(means: ClassMeans) -> Relatedness:
    """Estimate from the graph how similar siblings and unrelated classes are.

    Classes without a parent are left out. Siblings share a parent. Unrelated classes share nothing but
    classes that most others are in, too.
    """
    parents = [means.graph.parents(each) for each in means.labelled.tolist()]
    branches = branches_of(means)
    with_parent, in_branch = _places_by_class(parents), _places_by_class(branches)
    is_placed = np.array([bool(above) for above in parents], dtype=bool)
    placed = np.flatnonzero(is_placed)
    spread = np.linspace(0, max(0, len(placed) - 1), min(len(placed), MOST_ASKED))
    siblings, unrelated = [], []
    for place in placed[np.unique(spread.astype(np.int64))].tolist():
        cosines = means.own @ means.own[place]
        cosines[~is_placed] = -np.inf
        cosines[place] = -np.inf
        is_sibling, is_near = np.zeros_like(is_placed), np.zeros_like(is_placed)
        is_sibling[[each for parent in parents[place] for each in with_parent[parent]]] = True
        is_near[[each for branch in branches[place] for each in in_branch[branch]]] = True
        siblings += _best(cosines[is_sibling])
        unrelated += _best(cosines[~is_sibling & ~is_near])
    return Relatedness(
        _drawn_towards(USUAL_SIBLING, siblings),
        _drawn_towards(USUAL_UNRELATED, unrelated),
        _spread(siblings, unrelated),
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


def _spread(siblings: list[float], unrelated: list[float]) -> float:
    squares = [(value - np.mean(values)) ** 2 for values in (siblings, unrelated) for value in values]
    return float(np.sqrt((2 * WEIGHT * USUAL_SPREAD**2 + sum(squares)) / (2 * WEIGHT + len(squares))))
