"""Where a class seems to belong: under the classes that those most like it stand under."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from engine.collection.graph_suggestions.class_means import BLOCK, ClassMeans
from engine.collection.graph_suggestions.relatedness import Relatedness, relatedness_of
from engine.everyday.classifier import ScoredClass
from engine.graph.category_graph import CategoryGraph

TEMPERATURE: Final = 0.05
"""Divides cosines of whitened class means. Chosen on Grocery Store and WordNet (decision 65), as the next one."""
TEMPERATURE_OF_CLOSENESS: Final = 0.03
"""Divides cosines of plain class means."""
DECAY: Final = 0.3
"""Share of a vote for a class that counts for what is directly above it, too."""
MOST_VOTERS: Final = 32
"""Classes most like the one in question that have a vote; further ones would have next to none."""
MOST_ASKED: Final = 24
"""Classes below a coarse one that are asked whether they are like anything else."""
CLOSENESS_SHARE: Final = 0.4
"""How much the nearness of the mean of everything below a class counts beside the votes."""


@final
class ParentRanking:
    """Ranks classes as parents of a class.

    Each class like the one in question votes for its own parents, by attention over the similarity of their means; some
    of the score is how near the possible parent's own mean lies. All of it counts only as far as the class is like
    anything that is there at all: see `relatedness`.

    Paper: the PPN setting, where the nearest prototypes stand in for a class's unknown place.

    Args:
        means: of all classes with images.
    """

    def __init__(self, means: ClassMeans) -> None:
        self._means = means
        self._graph = means.graph
        has_no_place = [
            not self._graph.parents(each) and not self._graph.children(each) for each in means.labelled.tolist()
        ]
        self._homeless = np.flatnonzero(has_no_place)
        self._positions: NDArray[np.int64] | None = None
        self._cosines: NDArray[np.float32] | None = None
        self._votes: dict[int, dict[int, float]] = {}
        self.relatedness: Relatedness = relatedness_of(means)

    def rank(self, class_id: int, without: Sequence[int] = ()) -> list[ScoredClass]:
        """Possible parents of a class that has images, the likeliest first.

        Args:
            without: parents that it is asked about as if it were not under them.

        Returns:
            Coarse classes that it is not under. A score is how likely it belongs there; they sum up to 1 at most.
        """
        taken = self._taken(class_id, without)
        places = self._places_inside(class_id)
        voters, similarity = self._voters(class_id, places)
        if len(voters) == 0:
            return []
        powers = np.exp((similarity - similarity[0]) / TEMPERATURE)
        votes: dict[int, float] = defaultdict(float)
        for voter, weight in zip(voters, (powers / powers.sum()).tolist(), strict=True):
            for parent, share in self._votes_of(voter).items():
                if parent not in taken:
                    votes[parent] += weight * share
        candidates = sorted(votes)
        if not candidates:
            return []
        near = self._means.closeness(candidates, class_id)
        kept = np.flatnonzero(np.isfinite(near))
        if len(kept) == 0:
            return []
        closeness = np.exp((near[kept] - near[kept].max()) / TEMPERATURE_OF_CLOSENESS)
        voted = np.array([votes[candidates[place]] for place in kept.tolist()])
        shares = (1 - CLOSENESS_SHARE) * voted / voted.sum() + CLOSENESS_SHARE * closeness / closeness.sum()
        is_alone = places == [self._own_place(class_id)]
        likely = self.relatedness.probability(float(similarity[0]) if is_alone else self._similarity_to_others(places))
        order = np.argsort(-shares, kind="stable").tolist()
        return [ScoredClass(candidates[kept[place]], likely * float(shares[place])) for place in order]

    def prepare(self, check: Callable[[], None] = lambda: None) -> None:
        """Look up the neighbours of all classes at once, before many of them are asked about.

        Args:
            check: called now and then; may raise.
        """
        own, count = self._means.own, len(self._means.own)
        self._positions = np.zeros((count, min(MOST_VOTERS, count)), dtype=np.int64)
        self._cosines = np.zeros(self._positions.shape, dtype=np.float32)
        for start in range(0, count, BLOCK):
            check()
            part = slice(start, min(start + BLOCK, count))
            cosines = own[part] @ own.T
            cosines[:, self._homeless] = -np.inf
            cosines[np.arange(part.stop - start), np.arange(start, part.stop)] = -np.inf
            for row, place in enumerate(range(start, part.stop)):
                self._positions[place] = _highest(cosines[row], self._positions.shape[1])
                self._cosines[place] = cosines[row, self._positions[place]]

    def _voters(self, class_id: int, places: list[int]) -> tuple[list[int], NDArray[np.float32]]:
        """The classes most like a class, and how like; what is at or below it has no say, nor what has no place.

        Args:
            places: of the labelled classes at or below it.
        """
        means = self._means
        if self._positions is not None and self._cosines is not None and places == [self._own_place(class_id)]:
            order, found = self._positions[places[0]], self._cosines[places[0]]
        else:
            cosines = means.own @ means.mean(class_id)
            cosines[self._homeless] = -np.inf
            cosines[places] = -np.inf
            order = _highest(cosines, MOST_VOTERS)
            found = cosines[order]
        is_there = np.isfinite(found)
        return means.labelled[order[is_there]].tolist(), found[is_there]

    def _similarity_to_others(self, places: list[int]) -> float:
        """Similarity of some labelled classes to the nearest one that is none of them, on the mean.

        A mean of many classes has less chance in it than one of few images, and would be kin to everything.
        """
        count = min(len(places), MOST_ASKED)
        cosines = self._means.own[[places[nth * len(places) // count] for nth in range(count)]] @ self._means.own.T
        cosines[:, self._homeless] = -np.inf
        cosines[:, places] = -np.inf
        return float(cosines.max(axis=1).mean())

    def _own_place(self, class_id: int) -> int | None:
        return self._means.place_of_labelled.get(class_id)

    def _places_inside(self, class_id: int) -> list[int]:
        """Places of the labelled classes at or below a class."""
        inside = self._graph.descendants(class_id) | {class_id}
        return sorted(self._means.place_of_labelled[each] for each in inside & self._means.place_of_labelled.keys())

    def _taken(self, class_id: int, without: Sequence[int]) -> frozenset[int]:
        """What cannot be a new parent: the class, what is below it, and what it is under anyway."""
        graph = self._graph
        taken = graph.descendants(class_id) | {class_id}
        for parent in graph.parents(class_id):
            if parent not in without:
                taken |= graph.ancestors(parent) | {parent}
        return taken

    def _votes_of(self, voter: int) -> dict[int, float]:
        if voter not in self._votes:
            self._votes[voter] = _votes(self._graph, voter)
        return self._votes[voter]


def _highest(values: NDArray[np.float32], count: int) -> NDArray[np.int64]:
    """Places of the highest values, the highest first, those of equal ones in their order."""
    everything = np.arange(len(values))
    found = everything if count >= len(values) else np.sort(np.argpartition(-values, count - 1)[:count])
    return found[np.argsort(-values[found], kind="stable")]


def _votes(graph: CategoryGraph, voter: int) -> dict[int, float]:
    """What a class votes for: itself where it is coarse, else its parents; less and less for what is above."""
    found: dict[int, float] = defaultdict(float)
    present = {voter: 1.0} if graph.children(voter) else _up(graph, {voter: 1.0})
    weight = 1.0
    while present and weight > DECAY**4:
        for class_id, share in present.items():
            found[class_id] += weight * share
        present, weight = _up(graph, present), weight * DECAY
    return found


def _up(graph: CategoryGraph, shares: dict[int, float]) -> dict[int, float]:
    above: dict[int, float] = defaultdict(float)
    for class_id, share in shares.items():
        parents = graph.parents(class_id)
        for parent in parents:
            above[parent] += share / len(parents)
    return above
