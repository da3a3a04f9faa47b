"""Where a class seems to belong: under the classes that those most like it stand under."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from engine.collection.graph_suggestions.class_means import BLOCK, ClassMeans
from engine.everyday.blocks import Floats, Integers
from engine.everyday.classifier import ScoredClass
from engine.graph.category_graph import CategoryGraph

MOST_COMPARED: Final = 200  # classes that similarities are estimated from
USUAL_SIBLING: Final = (
    0.28  # cosine of whitened class means on Grocery Store and WordNet (decision 83)
)
USUAL_UNRELATED: Final = 0.09  # the same to the nearest class of another branch
USUAL_SPREAD: Final = 0.09  # standard deviation of both
LARGEST_BRANCH: Final = 0.5  # share of all labelled classes; a larger branch relates no classes
WEIGHT: Final = 4  # classes that the usual figures count as: few classes tell nothing
TEMPERATURE: Final = 0.05  # divides cosines of whitened means. Chosen, as the next (decision 83)
TEMPERATURE_OF_CLOSENESS: Final = 0.03  # divides cosines of plain class means
DECAY: Final = 0.3  # share of a vote for a class that counts for its parents, too
MOST_VOTERS: Final = (
    32  # classes with a vote, the most similar ones; further ones would have next to none
)
MOST_ASKED: Final = 24  # classes below a coarse one whose similarity to others is averaged
CLOSENESS_SHARE: Final = (
    0.4  # weight of the cosine to the mean of everything below a class, beside the votes
)


@dataclass(frozen=True)
class Relatedness:
    """Two normal distributions of one width: similarity to the nearest sibling, and to the nearest unrelated class."""

    sibling: float = USUAL_SIBLING
    unrelated: float = USUAL_UNRELATED
    spread: float = USUAL_SPREAD

    def probability(self, similarity: float) -> float:
        """Probability that the nearest class is a sibling, given its similarity."""
        apart = self.sibling - self.unrelated
        if apart <= 0:
            return 0.0
        steps = (similarity - (self.sibling + self.unrelated) / 2) * apart / self.spread**2
        return float(1 / (1 + np.exp(-np.clip(steps, -50, 50))))


def relatedness_of(means: ClassMeans) -> Relatedness:
    """Estimate from the graph how similar siblings and unrelated classes are.

    Every class has a nearest one, also where nothing in the graph is related to it. So similarities of classes to their
    nearest sibling are compared with those to the nearest class of another branch. Classes without a parent are left
    out; unrelated classes share nothing but classes that most others are in, too.
    """
    parents = [means.graph.parents(each) for each in means.labelled.tolist()]
    branches = branches_of(means)
    with_parent, in_branch = _places_by_class(parents), _places_by_class(branches)
    is_placed = np.array([bool(above) for above in parents], dtype=bool)
    placed = np.flatnonzero(is_placed)
    spread = np.linspace(0, max(0, len(placed) - 1), min(len(placed), MOST_COMPARED))
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
    """Each labelled class with its ancestors, without those that hold more than half of all."""
    lines = [means.graph.ancestors(each) | {each} for each in means.labelled.tolist()]
    sizes = Counter(class_id for line in lines for class_id in line)
    large = {class_id for class_id, size in sizes.items() if size > LARGEST_BRANCH * len(lines)}
    return [line - large for line in lines]


def _places_by_class(above: Sequence[Iterable[int]]) -> Mapping[int, list[int]]:
    """Places of the labelled classes below each class, from what is above each labelled class."""
    places: dict[int, list[int]] = defaultdict(list)
    for place, classes in enumerate(above):
        for class_id in classes:
            places[class_id].append(place)
    return places


def _best(cosines: Floats) -> list[float]:
    found = cosines[np.isfinite(cosines)]
    return [float(found.max())] if len(found) else []


def _drawn_towards(usual: float, values: list[float]) -> float:
    return (WEIGHT * usual + sum(values)) / (WEIGHT + len(values))


def _spread(siblings: list[float], unrelated: list[float]) -> float:
    squares = [
        (value - np.mean(values)) ** 2 for values in (siblings, unrelated) for value in values
    ]
    return float(
        np.sqrt((2 * WEIGHT * USUAL_SPREAD**2 + sum(squares)) / (2 * WEIGHT + len(squares)))
    )


@final
class ParentRanking:
    """Ranks classes as parents of a class.

    Each class like the one in question votes for its own parents, by attention over the similarity of their means; some
    of the score is how near the possible parent's own mean lies. All of it counts only as far as the class is like
    anything that is there at all: see `relatedness`.

    Paper: the PPN setting, where the nearest prototypes stand in for a class's unknown place.
    """

    def __init__(self, means: ClassMeans) -> None:
        self._means = means
        self._graph = means.graph
        has_no_place = [
            not self._graph.parents(each) and not self._graph.children(each)
            for each in means.labelled.tolist()
        ]
        self._homeless = np.flatnonzero(has_no_place)
        self._positions: Integers | None = None
        self._cosines: Floats | None = None
        self._votes: dict[int, dict[int, float]] = {}
        self.relatedness: Relatedness = relatedness_of(means)

    def rank(self, class_id: int, without: Sequence[int] = ()) -> list[ScoredClass]:
        """Coarse classes that may be further parents, or those in `without`, best first; scores sum to at most 1."""
        taken = self._taken(class_id, without)
        places = self._places_inside(class_id)
        voters, similarity = self._voters(class_id, places)
        if len(voters) == 0:
            return []
        powers = np.exp((similarity - similarity[0]) / TEMPERATURE)
        votes: dict[int, float] = defaultdict(float)
        for voter, weight in zip(voters, (powers / powers.sum()).tolist(), strict=True):
            if voter not in self._votes:
                self._votes[voter] = _votes(self._graph, voter)
            for parent, share in self._votes[voter].items():
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
        shares = (
            1 - CLOSENESS_SHARE
        ) * voted / voted.sum() + CLOSENESS_SHARE * closeness / closeness.sum()
        is_alone = places == [self._means.place_of_labelled.get(class_id)]
        likely = self.relatedness.probability(
            float(similarity[0]) if is_alone else self._similarity_to_others(places)
        )
        order = np.argsort(-shares, kind="stable").tolist()
        return [
            ScoredClass(candidates[kept[place]], likely * float(shares[place])) for place in order
        ]

    def prepare(self, check: Callable[[], None] = lambda: None) -> None:
        """Look up the neighbours of all classes, before many are ranked; `check` is called between and may raise."""
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

    def _voters(self, class_id: int, places: list[int]) -> tuple[list[int], Floats]:
        """The classes most similar to a class, and how similar; none at or below it, and none without a place."""
        means = self._means
        if (
            self._positions is not None
            and self._cosines is not None
            and places == [self._means.place_of_labelled.get(class_id)]
        ):
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
        """Mean similarity of some labelled classes to the nearest other one; that of their mean is always high."""
        count = min(len(places), MOST_ASKED)
        cosines = (
            self._means.own[[places[nth * len(places) // count] for nth in range(count)]]
            @ self._means.own.T
        )
        cosines[:, self._homeless] = -np.inf
        cosines[:, places] = -np.inf
        return float(cosines.max(axis=1).mean())

    def _places_inside(self, class_id: int) -> list[int]:
        """Places of the labelled classes at or below a class."""
        inside = self._graph.descendants(class_id) | {class_id}
        return sorted(
            self._means.place_of_labelled[each]
            for each in inside & self._means.place_of_labelled.keys()
        )

    def _taken(self, class_id: int, without: Sequence[int]) -> frozenset[int]:
        """What cannot be a new parent: the class, its descendants, and what it is under already."""
        graph = self._graph
        taken = graph.descendants(class_id) | {class_id}
        for parent in graph.parents(class_id):
            if parent not in without:
                taken |= graph.ancestors(parent) | {parent}
        return taken


def _highest(values: Floats, count: int) -> Integers:
    """Places of the highest values, the highest first, those of equal ones in their order."""
    everything = np.arange(len(values))
    found = (
        everything if count >= len(values) else np.sort(np.argpartition(-values, count - 1)[:count])
    )
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
