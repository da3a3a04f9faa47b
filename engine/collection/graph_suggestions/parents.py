"""Rank possible parents of a class: the parents of the most similar classes."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from engine.arrays import Floats, Integers
from engine.collection.graph_suggestions.class_means import BLOCK, ClassMeans
from engine.everyday.classifier import ScoredClass
from engine.graph.category_graph import CategoryGraph

MOST_COMPARED = 200  # classes that similarities are estimated from
USUAL_SIBLING = 0.28
"""Cosine of whitened means of siblings, on Grocery Store and WordNet (decision 83)."""
USUAL_UNRELATED = 0.09  # the same to the nearest class of another branch
USUAL_SPREAD = 0.09  # standard deviation of both
LARGEST_BRANCH = 0.5  # share of all labelled classes; a larger branch relates no classes
WEIGHT = 4  # pseudo-count of the usual figures
TEMPERATURE = 0.05  # divides cosines of whitened means. Chosen, as the next (decision 83)
TEMPERATURE_OF_CLOSENESS = 0.03  # divides cosines of plain class means
DECAY = 0.3  # of a vote from a class to its parents
MOST_VOTERS = 32  # most similar classes, which vote
MOST_ASKED = 24  # classes below a coarse one whose similarity to others is averaged
CLOSENESS_SHARE = 0.4  # weight of the cosine to a parent's mean; the votes have the rest


@dataclass(frozen=True)
class Relatedness:
    """Normal distributions of the similarity to the nearest sibling and unrelated class."""

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

    Similarities to the nearest sibling are compared with those to the nearest class of another
    branch, as every class has a nearest one, related or not. Classes without a parent are left out;
    unrelated classes have only ancestors in common that most classes have.
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
        _shrunk(USUAL_SIBLING, siblings),
        _shrunk(USUAL_UNRELATED, unrelated),
        _spread(siblings, unrelated),
    )


def branches_of(means: ClassMeans) -> list[frozenset[int]]:
    """Each labelled class with its ancestors, without those above more than half of all."""
    lines = [means.graph.ancestors(each) | {each} for each in means.labelled.tolist()]
    sizes = Counter(class_id for line in lines for class_id in line)
    large = {class_id for class_id, size in sizes.items() if size > LARGEST_BRANCH * len(lines)}
    return [line - large for line in lines]


def _places_by_class(above: Sequence[Iterable[int]]) -> Mapping[int, list[int]]:
    """Invert a sequence of classes above each labelled class: indices by class above."""
    places: dict[int, list[int]] = defaultdict(list)
    for place, classes in enumerate(above):
        for class_id in classes:
            places[class_id].append(place)
    return places


def _best(cosines: Floats) -> list[float]:
    found = cosines[np.isfinite(cosines)]
    return [float(found.max())] if len(found) else []


def _shrunk(usual: float, values: list[float]) -> float:
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

    The most similar classes vote for their own parents, by attention over the similarity of means;
    the similarity to the parent's own mean is mixed in. Scores are multiplied by the probability
    that the nearest class is a sibling at all, see `Relatedness`.

    Paper: the PPN setting, where the nearest prototypes stand in for unknown parents.
    """

    def __init__(self, means: ClassMeans) -> None:
        self._means = means
        self._graph = means.graph
        self._isolated = [
            place
            for place, each in enumerate(means.labelled.tolist())
            if not (self._graph.parents(each) or self._graph.children(each))
        ]
        self._neighbours: tuple[Integers, Floats] | None = None  # (m, k) indices and cosines
        self._votes: dict[int, dict[int, float]] = {}
        self.relatedness: Relatedness = relatedness_of(means)

    def rank(self, class_id: int, without: Sequence[int] = ()) -> list[ScoredClass]:
        """Rank further parents, and those in `without`, best first; scores sum to at most 1."""
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
        near = self._means.closeness(candidates, class_id)
        kept = np.flatnonzero(np.isfinite(near))
        if len(kept) == 0:
            return []
        closeness = np.exp((near[kept] - near[kept].max()) / TEMPERATURE_OF_CLOSENESS)
        voted = np.array([votes[candidates[place]] for place in kept.tolist()])
        shares = (
            1 - CLOSENESS_SHARE
        ) * voted / voted.sum() + CLOSENESS_SHARE * closeness / closeness.sum()
        nearest = float(similarity[0])
        if not self._is_alone(class_id, places):
            nearest = self._similarity_to_others(places)
        likely = self.relatedness.probability(nearest)
        order = np.argsort(-shares, kind="stable").tolist()
        return [
            ScoredClass(candidates[kept[place]], likely * float(shares[place])) for place in order
        ]

    def prepare(self, check: Callable[[], None] = lambda: None) -> None:
        """Precompute neighbours of all classes; `check` is called in between and may raise."""
        own, count = self._means.own, len(self._means.own)
        indices = np.zeros((count, min(MOST_VOTERS, count)), dtype=np.int64)
        nearest = np.zeros(indices.shape, dtype=np.float32)
        for start in range(0, count, BLOCK):
            check()
            part = slice(start, min(start + BLOCK, count))
            cosines = own[part] @ own.T
            cosines[:, self._isolated] = -np.inf
            cosines[np.arange(part.stop - start), np.arange(start, part.stop)] = -np.inf
            for row, place in enumerate(range(start, part.stop)):
                indices[place] = _highest(cosines[row], indices.shape[1])
                nearest[place] = cosines[row, indices[place]]
        self._neighbours = indices, nearest

    def _voters(self, class_id: int, places: list[int]) -> tuple[list[int], Floats]:
        """The most similar classes that are not at or below a class nor isolated; their cosines."""
        means = self._means
        if self._neighbours is not None and self._is_alone(class_id, places):
            order, found = (each[places[0]] for each in self._neighbours)
        else:
            cosines = means.own @ means.mean(class_id)
            cosines[self._isolated] = -np.inf
            cosines[places] = -np.inf
            order = _highest(cosines, MOST_VOTERS)
            found = cosines[order]
        is_there = np.isfinite(found)
        return means.labelled[order[is_there]].tolist(), found[is_there]

    def _is_alone(self, class_id: int, places: list[int]) -> bool:
        """Whether a class is the only labelled one at or below it."""
        return places == [self._means.place_of_labelled.get(class_id)]

    def _similarity_to_others(self, places: list[int]) -> float:
        """Mean similarity of some labelled classes to the nearest other one."""
        count = min(len(places), MOST_ASKED)
        cosines = (
            self._means.own[[places[nth * len(places) // count] for nth in range(count)]]
            @ self._means.own.T
        )
        cosines[:, self._isolated] = -np.inf
        cosines[:, places] = -np.inf
        return float(cosines.max(axis=1).mean())

    def _places_inside(self, class_id: int) -> list[int]:
        """Indices of the labelled classes at or below a class."""
        inside = self._graph.descendants(class_id) | {class_id}
        place_of = self._means.place_of_labelled
        return sorted(place_of[each] for each in inside & place_of.keys())

    def _taken(self, class_id: int, without: Sequence[int]) -> frozenset[int]:
        """Classes that cannot be a new parent: the class, its descendants and its ancestors."""
        graph = self._graph
        taken = graph.descendants(class_id) | {class_id}
        for parent in graph.parents(class_id):
            if parent not in without:
                taken |= graph.ancestors(parent) | {parent}
        return taken


def _highest(values: Floats, count: int) -> Integers:
    """Indices of the highest values in descending order; ties by index."""
    found = np.arange(len(values))
    if count < len(values):
        found = np.sort(np.argpartition(-values, count - 1)[:count])
    return found[np.argsort(-values[found], kind="stable")]


def _votes(graph: CategoryGraph, voter: int) -> dict[int, float]:
    """Votes of a class: for itself if it is coarse, for its parents, with decay for ancestors."""
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


MOST_TESTED = 100  # edges that are tested, spread over the graph
OF_FIRST = 3  # suggested parents of a class (K of the paper's PPN setting)
PRIOR = 2  # pseudo-count of tested edges at the claimed accuracy


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
        """Factor in [0, 1] for scores in this graph; 0 if the ranking is no better than chance."""
        if self.asked and self.first <= 2 * self.by_chance:
            return 0.0
        return min(1.0, (self.first + PRIOR) / (self.claimed + PRIOR))


def check_placements(
    means: ClassMeans,
    ranking: ParentRanking,
    check: Callable[[], None] = lambda: None,
    *,
    most: int = MOST_TESTED,
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


FEWEST_IMAGES = 3  # at or below a class whose parent is judged
FEWEST_SIBLINGS = 2  # with images below the other parent
LEAST_BETTER = 0.35  # difference of scores to the present parent (decision 83)
LEAST_TRUST = 0.7  # of a ranking that may contradict a person


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
        if score - present >= LEAST_BETTER:
            found.append(Stray(class_id, parent_id, other.class_id, score, present))
    return tuple(sorted(found, key=lambda stray: stray.present - stray.score))
