"""Labels of anchors and their class probabilities: a coarse label is shared among its candidates.

Only anchors that are not shots need a row over all candidates: with thousands of labels and classes
that is the difference between megabytes and gigabytes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from engine.arrays import Flags, Floats, Integers, no_integers
from engine.everyday.collection_stage.basis import CollectionBasis
from engine.everyday.collection_stage.neighbours import Links, follow

LEAST = np.float32(1e-12)
"""Smallest sum of shares that is divided by. Chosen: anything above zero does."""
LEAST_FAMILIARITY = 0.05
"""Lowest familiarity: no shots are so far off that nothing can be said."""


@dataclass(frozen=True)
class AnchorLabels:
    """Labelled anchors and the candidates that their labels allow."""

    positions: Integers  # (l,) int64 among the anchors
    labels: Integers  # (l,) int64 class ids, keys of `allowed`
    # For each label the places of the candidates that agree with it, at least one
    allowed: Mapping[int, Integers]
    width: int  # c, number of candidates

    @cached_property
    def is_shot(self) -> Flags:
        """(l,) bool: the label allows one candidate only."""
        return np.array(
            [len(self.allowed[label]) == 1 for label in self.labels.tolist()], dtype=bool
        )

    @cached_property
    def candidates(self) -> Integers:
        """(l,) int64, the first candidate that each label allows; of a shot the only one."""
        return np.array([self.allowed[label][0] for label in self.labels.tolist()], dtype=np.int64)

    def sharing(self, candidate: int) -> Integers:
        """Positions of the coarse-labelled anchors that a candidate has a share in."""
        parts = [positions for positions, allowed in self.coarse if candidate in allowed]
        return np.sort(np.concatenate([no_integers(), *parts]))

    def shot_counts(self) -> Floats:
        """(c,) float32 shots of each candidate."""
        return np.bincount(self.candidates[self.is_shot], minlength=self.width).astype(np.float32)

    def without(self, places: Integers) -> "AnchorLabels":
        return self._at(np.setdiff1d(np.arange(len(self.positions)), places))

    def share_out(self, chances: Floats, row_of: Integers) -> None:
        """Share coarse-labelled anchors out by their chances (f, c), at `row_of` (m,), in place."""
        for positions, allowed in self.coarse:
            rows = row_of[positions]
            held = chances[np.ix_(rows, allowed)] + LEAST
            chances[rows] = 0
            chances[np.ix_(rows, allowed)] = held / held.sum(axis=1, keepdims=True)

    @cached_property
    def coarse(self) -> list[tuple[Integers, Integers]]:
        """Positions of the images of each coarse label, and the candidates it allows."""
        coarse = self._at(np.flatnonzero(~self.is_shot))
        return [
            (coarse.positions[coarse.labels == label], self.allowed[label])
            for label in np.unique(coarse.labels).tolist()
        ]

    def _at(self, places: Integers) -> "AnchorLabels":
        return AnchorLabels(self.positions[places], self.labels[places], self.allowed, self.width)


@final
@dataclass(frozen=True)
class AnchorChances:
    """In which part each of m anchors belongs to each of c candidates; the rows sum to 1."""

    shot_of: Integers  # (m,) int64, the candidate that a shot belongs to; -1 for other anchors
    row_of: Integers  # (m,) int64, row in `free` of the other anchors; 0 for shots
    free: Floats  # (f, c) float32, of the anchors that are not shots

    @staticmethod
    def held(labels: AnchorLabels, anchors: int, free: Floats | None = None) -> "AnchorChances":
        """Probabilities of m anchors with the shots fixed; `free` (f, c) of the others."""
        shot_of = np.full(anchors, -1, dtype=np.int64)
        shot_of[labels.positions[labels.is_shot]] = labels.candidates[labels.is_shot]
        is_free = shot_of < 0
        row_of = np.where(is_free, np.cumsum(is_free) - 1, 0)
        if free is None:
            free = np.zeros((int(is_free.sum()), labels.width), dtype=np.float32)
        return AnchorChances(shot_of, row_of, free)

    @property
    def free_positions(self) -> Integers:
        """(f,) int64 positions of the anchors that are not shots."""
        return np.flatnonzero(self.shot_of < 0)

    def best(self) -> Integers:
        """(m,) int64, the most probable candidate of each anchor."""
        best = self.shot_of.copy()
        best[self.free_positions] = self.free.argmax(axis=1)
        return best

    def at(self, positions: Integers) -> Floats:
        """Chances (n, c) of some anchors, written out."""
        found = np.zeros((len(positions), self.free.shape[1]), dtype=np.float32)
        shots = self.shot_of[positions]
        others = np.flatnonzero(shots < 0)
        found[others] = self.free[self.row_of[positions[others]]]
        labelled = np.flatnonzero(shots >= 0)
        found[labelled, shots[labelled]] = 1
        return found

    def follow(self, links: Links) -> Floats:
        """Sum (n, c) of the linked anchors' probabilities by weight; zeros without links."""
        if len(self.free):
            found = follow(self.links_to_free(links), self.free)
        else:
            found = np.zeros((len(links.positions), self.free.shape[1]), dtype=np.float32)
        self.add_shots(found, links)
        return found

    def links_to_free(self, links: Links) -> Links:
        """The links that lead to rows of `free`; the weight of the others is 0."""
        weights = np.where(self.shot_of[links.positions] < 0, links.weights, np.float32(0))
        return Links(self.row_of[links.positions].astype(np.int32), weights, links.cosines)

    def add_shots(self, found: Floats, links: Links) -> None:
        """Add what the links to shots bring to sums (n, c), in place."""
        shots = self.shot_of[links.positions]
        rows, slots = np.nonzero(shots >= 0)
        np.add.at(found, (rows, shots[rows, slots]), links.weights[rows, slots])


def familiarity_of(basis: CollectionBasis, labels: AnchorLabels) -> float:
    """Similarity of shots to the unlabelled images, in (0, 1], low for another place.

    The mean cosine of shots with their nearest unlabelled image, as a share of that among
    unlabelled images.
    """
    is_labelled = np.zeros(len(basis.anchors), dtype=bool)
    is_labelled[labels.positions] = True
    found = basis.found.rows(basis.anchors)
    is_free = ~is_labelled[found.positions] & (found.cosines > 0)
    nearest = np.where(is_free, found.cosines, 0).max(axis=1)
    # No more than the last
    nearest = np.where(is_free.any(axis=1), nearest, np.maximum(found.cosines[:, -1], 0))
    shots, others = nearest[labels.positions[labels.is_shot]], nearest[~is_labelled]
    if len(shots) == 0 or len(others) == 0 or others.mean() <= 0:
        return 1.0
    return float(np.clip(shots.mean() / others.mean(), LEAST_FAMILIARITY, 1.0))
