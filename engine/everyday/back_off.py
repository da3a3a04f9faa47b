"""Roll-up of candidate probabilities to the classes above, and back-off to the safe class."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import final

import numpy as np

from engine.arrays import Flags, Floats, Integers
from engine.graph.arrays import roll_up_matrix
from engine.graph.category_graph import CategoryGraph
from engine.graph.codes import NO_CLASS

DEFAULT_BAR = 0.8
"""Threshold of a class where the project sets none. Chosen: at most one error in five."""
_ALWAYS_LONE_BAR = 0.5
"""Two classes of one level that share no leaf cannot both score more than this."""


BRANCH_POWER = np.float32(0.35)
"""Power of the geometric mean of a candidate's branches in its probability (decision 52)."""


LEAST_PROBABILITY = np.float32(1e-9)
"""Smallest probability whose logarithm is taken. Chosen: far below what changes a prediction."""


@dataclass(frozen=True)
class Policy:
    """Rules for one class: its threshold, and whether predictions stop or begin at it.

    The threshold is inherited by the classes below.
    """

    bar: float | None = None
    is_deepest: bool = False  # nothing below it is named
    is_broadest: bool = False  # nothing above it is named


def bars_in_effect(
    graph: CategoryGraph, policies: Mapping[int, Policy], class_ids: Sequence[int]
) -> dict[int, float]:
    """Bar of each class: its own, else the strictest of its parents', else `DEFAULT_BAR`."""
    bars: dict[int, float] = {}
    for class_id in graph.parents_first(class_ids):
        own = _own_bar(policies, class_id)
        above = max((bars[parent] for parent in graph.parents(class_id)), default=DEFAULT_BAR)
        bars[class_id] = above if own is None else own
    return {class_id: bars[class_id] for class_id in class_ids}


def where_bar_is_set(
    graph: CategoryGraph, policies: Mapping[int, Policy], class_id: int
) -> int | None:
    """The class whose threshold applies to a class: itself, an ancestor, or None."""
    bars = bars_in_effect(graph, policies, [class_id, *graph.ancestors(class_id)])
    while _own_bar(policies, class_id) is None:
        parents = graph.parents(class_id)
        if not parents:
            return None
        class_id = max(parents, key=bars.__getitem__)
    return class_id


def _own_bar(policies: Mapping[int, Policy], class_id: int) -> float | None:
    return policies[class_id].bar if class_id in policies else None


def too_deep(graph: CategoryGraph, policies: Mapping[int, Policy]) -> set[int]:
    """Classes below one that a person marked as the deepest allowed."""
    deepest = (class_id for class_id, policy in policies.items() if policy.is_deepest)
    return set[int]().union(*map(graph.descendants, deepest))


def too_broad(
    graph: CategoryGraph, policies: Mapping[int, Policy], broadest_level: int
) -> set[int]:
    """Classes above one that is marked as the broadest allowed, and coarse ones above a level."""
    broadest = (class_id for class_id, policy in policies.items() if policy.is_broadest)
    above = (class_id for level in graph.levels()[:broadest_level] for class_id in level)
    return set[int]().union(*map(graph.ancestors, broadest), filter(graph.children, above))


@dataclass(frozen=True)
class BackOff:
    """Roll-up table and bars for c candidates and k classes above them."""

    candidate_ids: Integers  # (c,) int64
    candidate_bars: Floats  # (c,) float32; infinite where a leaf may not be named
    coarse_ids: Integers  # (k,) int64, deepest first
    coarse_bars: Floats  # (k,) float32; infinite where a class may not be named
    coarse_levels: Integers  # (k,) int64
    # (c, k) float32, 1 where the candidate is below the class; a leaf with two paths counts once
    roll_up: Floats

    def decide(self, best: Integers, best_score: Floats, mass: Floats) -> tuple[Integers, Floats]:
        """Safe class (n,) int64, `NO_CLASS` where nothing passes, and its score (n,) float32.

        The best candidate is safe when it passes its bar; otherwise the deepest class above any
        candidate that passes, of several on one level the more probable.

        Args:
            best: (n,) position of the most probable candidate.
            best_score: (n,) its probability.
            mass: (n, k) summed probability of the candidates below each coarse class.
        """
        safe = np.full(len(best), NO_CLASS, dtype=np.int64)
        score = np.zeros(len(best), dtype=np.float32)
        if len(self.coarse_ids):
            passes = mass >= self.coarse_bars
            place = self._deepest(passes, mass)
            rows = np.flatnonzero(passes[np.arange(len(best)), place])
            safe[rows], score[rows] = self.coarse_ids[place[rows]], mass[rows, place[rows]]
        leaf = best_score >= self.candidate_bars[best]
        safe[leaf], score[leaf] = self.candidate_ids[best[leaf]], best_score[leaf]
        return safe, score

    def without_obvious(self, leaves: Floats, total: float) -> "BackOff":
        """The same rules, which name no class that most images are of anyhow.

        Args:
            leaves: (c,) leaves of the graph at or below each candidate.
            total: leaves of the graph. A class with as large a share of them as its bar asks for is
                not named.
        """
        is_obvious = leaves @ self.roll_up >= self.coarse_bars * total
        return replace(self, coarse_bars=np.where(is_obvious, np.float32(np.inf), self.coarse_bars))

    def probability_of(self, class_id: int, chances: Floats) -> float:
        """Probability of a candidate, or of all below a coarse class, by the candidates' (c,).

        0 for any other class.
        """
        coarse = np.flatnonzero(self.coarse_ids == class_id)
        if len(coarse):
            return float(chances @ self.roll_up[:, coarse[0]])
        return float(chances[self.candidate_ids == class_id].sum())

    @cached_property
    def _one_passes_on_each_level(self) -> bool:
        if self.coarse_bars.min() <= _ALWAYS_LONE_BAR:
            return False
        levels = np.unique(self.coarse_levels)
        return all(
            self.roll_up[:, self.coarse_levels == level].sum(axis=1).max(initial=0) <= 1
            for level in levels
        )

    def _deepest(self, passes: Flags, mass: Floats) -> Integers:
        if self._one_passes_on_each_level:
            return passes.argmax(axis=1)
        rank = np.where(
            passes, self.coarse_levels + np.minimum(mass, np.float32(0.999)), np.float32(-1)
        )
        return rank.argmax(axis=1)


def back_off(
    graph: CategoryGraph,
    candidate_ids: Integers,
    policies: Mapping[int, Policy],
    *,
    broadest_level: int = 0,
) -> BackOff:
    """Build the roll-up of the candidates over all their ancestors that may be named.

    Args:
        broadest_level: coarse classes above this level are not named; at 0 none is above it.
    """
    candidates = [int(class_id) for class_id in candidate_ids]
    above = set[int]().union(*map(graph.ancestors, candidates))
    hidden = too_deep(graph, policies) | too_broad(graph, policies, broadest_level)
    coarse = sorted(above - hidden, key=lambda class_id: (-graph.level(class_id), class_id))
    bars = bars_in_effect(graph, policies, [*candidates, *coarse])
    return BackOff(
        candidate_ids=candidate_ids,
        candidate_bars=np.array(
            [np.inf if c in hidden else bars[c] for c in candidates], dtype=np.float32
        ),
        coarse_ids=np.array(coarse, dtype=np.int64),
        coarse_bars=np.array([bars[c] for c in coarse], dtype=np.float32),
        coarse_levels=np.array([graph.level(c) for c in coarse], dtype=np.int64),
        roll_up=roll_up_matrix(graph, coarse, candidates),
    )


@final
@dataclass(frozen=True)
class Branches:
    """Coarse classes that have some of c candidates below them, but not all."""

    # (c, k) float32, 1 where the candidate is below the class; one with two paths counts once
    roll_up: Floats

    @staticmethod
    def telling(roll_up: Floats) -> "Branches":
        """Those among all coarse classes (c, k) that tell candidates apart."""
        return Branches(np.ascontiguousarray(roll_up[:, roll_up.sum(axis=0) < len(roll_up)]))

    def lean(self, claims: Floats) -> Floats:
        """Probabilities (n, c), each weighed by the branches of its candidate, with sums of 1."""
        if self.roll_up.shape[1] == 0:
            return claims
        sums = claims @ self.roll_up
        leaning = self.factors(np.maximum(sums, LEAST_PROBABILITY), BRANCH_POWER) * claims
        leaning /= leaning.sum(axis=1, keepdims=True)
        return leaning

    def factors(self, values: Floats, power: np.float32) -> Floats:
        """Geometric mean (n, c) of values (n, k) over each candidate's branches, to a power.

        A candidate in no branch has 1.
        """
        if self.roll_up.shape[1] == 0:
            return np.ones((len(values), len(self.roll_up)), dtype=np.float32)
        means, place = self.means
        logs = np.log(values) @ means
        logs *= power
        factors: Floats = np.exp(logs)[:, place]
        return factors

    @cached_property
    def means(self) -> tuple[Floats, Integers]:
        """Averaging matrix (k, s) from branches to s groups of siblings; group (c,)."""
        kinds, place = np.unique(self.roll_up, axis=0, return_inverse=True)
        shares = kinds / np.maximum(kinds.sum(axis=1, keepdims=True), 1)
        return np.ascontiguousarray(shares.T.astype(np.float32)), place.reshape(-1)
