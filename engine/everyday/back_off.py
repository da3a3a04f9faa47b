"""Back-off: from scores of leaves to the deepest class that is sure enough."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.graph.ancestry import parents_first
from engine.graph.arrays import roll_up_matrix
from engine.graph.category_graph import CategoryGraph
from engine.graph.codes import NO_CLASS

DEFAULT_BAR: Final = 0.8
"""Chance from which a class counts as sure where the project sets no bar. Chosen: one error in five at most."""
_ALWAYS_LONE_BAR: Final = 0.5
"""Two classes of one level that share no leaf cannot both score more than this."""


@dataclass(frozen=True)
class Policy:
    """A person's rule for a class and what is below it: its bar, and whether to stop there."""

    bar: float | None = None
    is_deepest: bool = False


def bars_in_effect(graph: CategoryGraph, policies: Mapping[int, Policy], class_ids: Sequence[int]) -> dict[int, float]:
    """Bar of each class: its own, else the strictest of its parents', else `DEFAULT_BAR`."""
    bars: dict[int, float] = {}
    for class_id in parents_first(graph, class_ids):
        own = _own_bar(policies, class_id)
        above = max((bars[parent] for parent in graph.parents(class_id)), default=DEFAULT_BAR)
        bars[class_id] = above if own is None else own
    return {class_id: bars[class_id] for class_id in class_ids}


def where_bar_is_set(graph: CategoryGraph, policies: Mapping[int, Policy], class_id: int) -> int | None:
    """The class whose bar is in effect on a class: itself or one above it; None where none sets any."""
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
    below: set[int] = set()
    for class_id, policy in policies.items():
        if policy.is_deepest:
            below |= graph.descendants(class_id)
    return below


@dataclass(frozen=True)
class BackOff:
    """Roll-up table and bars for c candidates and k classes above them."""

    candidate_ids: NDArray[np.int64]  # (c,) int64
    candidate_bars: NDArray[np.float32]  # (c,) float32; infinite where a leaf may not be named
    coarse_ids: NDArray[np.int64]  # (k,) int64, deepest first
    coarse_bars: NDArray[np.float32]  # (k,) float32
    coarse_levels: NDArray[np.int64]  # (k,) int64
    # (c, k) float32, 1 where the candidate is below the class; a leaf reachable twice counts once
    roll_up: NDArray[np.float32]

    def decide(
        self, best: NDArray[np.int64], best_score: NDArray[np.float32], mass: NDArray[np.float32]
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Safe class and its score for n images.

        The likeliest candidate is safe when it passes its bar. Otherwise the deepest class above any candidate that
        passes; of several on one level the likelier.

        Args:
            best: (n,) position of the likeliest candidate.
            best_score: (n,) its probability.
            mass: (n, k) summed probability of the candidates below each coarse class.

        Returns:
            Class ids (n,) int64, `NO_CLASS` where nothing passes, and scores (n,) float32.
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

    def probability_of(self, class_id: int, chances: NDArray[np.float32]) -> float:
        """Probability of a candidate, or of all below a coarse class, by those of the candidates (c,); else 0."""
        coarse = np.flatnonzero(self.coarse_ids == class_id)
        if len(coarse):
            return float(chances @ self.roll_up[:, coarse[0]])
        return float(chances[self.candidate_ids == class_id].sum())

    @cached_property
    def _one_passes_on_each_level(self) -> bool:
        if self.coarse_bars.min() <= _ALWAYS_LONE_BAR:
            return False
        levels = np.unique(self.coarse_levels)
        return all(self.roll_up[:, self.coarse_levels == level].sum(axis=1).max(initial=0) <= 1 for level in levels)

    def _deepest(self, passes: NDArray[np.bool_], mass: NDArray[np.float32]) -> NDArray[np.int64]:
        if self._one_passes_on_each_level:
            return passes.argmax(axis=1)
        rank = np.where(passes, self.coarse_levels + np.minimum(mass, np.float32(0.999)), np.float32(-1))
        return rank.argmax(axis=1)


def back_off(graph: CategoryGraph, candidate_ids: NDArray[np.int64], policies: Mapping[int, Policy]) -> BackOff:
    """Lay out the roll-up of the candidates over all their ancestors."""
    candidates = [int(class_id) for class_id in candidate_ids]
    above: set[int] = set()
    for class_id in candidates:
        above |= graph.ancestors(class_id)
    hidden = too_deep(graph, policies)
    coarse = sorted(above - hidden, key=lambda class_id: (-graph.level(class_id), class_id))
    bars = bars_in_effect(graph, policies, [*candidates, *coarse])
    return BackOff(
        candidate_ids=candidate_ids,
        candidate_bars=np.array([np.inf if c in hidden else bars[c] for c in candidates], dtype=np.float32),
        coarse_ids=np.array(coarse, dtype=np.int64),
        coarse_bars=np.array([bars[c] for c in coarse], dtype=np.float32),
        coarse_levels=np.array([graph.level(c) for c in coarse], dtype=np.int64),
        roll_up=_roll_up(graph, coarse, candidates),
    )


def _roll_up(graph: CategoryGraph, coarse: Sequence[int], candidates: Sequence[int]) -> NDArray[np.float32]:
    if not coarse:
        return np.zeros((len(candidates), 0), dtype=np.float32)
    return roll_up_matrix(graph, coarse, candidates)
