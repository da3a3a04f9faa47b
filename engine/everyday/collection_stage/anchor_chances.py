"""In which part each anchor belongs to each candidate.

A shot belongs to its class alone, which takes one number; only the other anchors need a row over all candidates. With
thousands of labels on thousands of classes that is the difference between megabytes and gigabytes.
"""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from engine.everyday.collection_stage.neighbours import Links, follow
from engine.everyday.collection_stage.sharing import AnchorLabels

Matrix = NDArray[np.float32]
Positions = NDArray[np.int64]


@final
@dataclass(frozen=True)
class AnchorChances:
    """Chances of m anchors over c candidates; the rows sum to 1."""

    shot_of: Positions  # (m,) int64, the candidate that a shot belongs to; -1 for other anchors
    row_of: Positions  # (m,) int64, row in `free` of the other anchors; 0 for shots
    free: Matrix  # (f, c) float32, chances of the anchors that are no shots

    @staticmethod
    def held(labels: AnchorLabels, anchors: int, free: Matrix | None = None) -> "AnchorChances":
        """Shots are their classes'.

        Args:
            labels: which anchors are shots of which candidates.
            anchors: m.
            free: (f, c) of the others, by position; by default zeros.
        """
        shot_of = np.full(anchors, -1, dtype=np.int64)
        shot_of[labels.positions[labels.is_shot]] = labels.candidates[labels.is_shot]
        is_free = shot_of < 0
        row_of = np.where(is_free, np.cumsum(is_free) - 1, 0)
        if free is None:
            free = np.zeros((int(is_free.sum()), labels.width), dtype=np.float32)
        return AnchorChances(shot_of, row_of, free)

    @property
    def free_positions(self) -> Positions:
        """(f,) int64 positions of the anchors that are no shots."""
        return np.flatnonzero(self.shot_of < 0)

    def best(self) -> Positions:
        """(m,) int64, the likeliest candidate of each anchor."""
        best = self.shot_of.copy()
        best[self.free_positions] = self.free.argmax(axis=1)
        return best

    def at(self, positions: Positions) -> Matrix:
        """Chances (n, c) of some anchors, written out."""
        found = np.zeros((len(positions), self.free.shape[1]), dtype=np.float32)
        shots = self.shot_of[positions]
        others = np.flatnonzero(shots < 0)
        found[others] = self.free[self.row_of[positions[others]]]
        labelled = np.flatnonzero(shots >= 0)
        found[labelled, shots[labelled]] = 1
        return found

    def follow(self, links: Links) -> Matrix:
        """Sum (n, c) of the linked anchors' chances by their weights; zeros where an image has no link."""
        to_free = self.links_to_free(links)
        found = follow(to_free, self.free) if len(self.free) else self._nothing(len(links.positions))
        self.add_shots(found, links)
        return found

    def links_to_free(self, links: Links) -> Links:
        """The links that lead to rows of `free`; the weight of the others is 0."""
        weights = np.where(self.shot_of[links.positions] < 0, links.weights, np.float32(0))
        return Links(self.row_of[links.positions].astype(np.int32), weights, links.cosines)

    def add_shots(self, found: Matrix, links: Links) -> None:
        """Add to sums (n, c), in place, what the links to shots bring; it is the same in every step."""
        shots = self.shot_of[links.positions]
        rows, slots = np.nonzero(shots >= 0)
        np.add.at(found, (rows, shots[rows, slots]), links.weights[rows, slots])

    def _nothing(self, count: int) -> Matrix:
        return np.zeros((count, self.free.shape[1]), dtype=np.float32)
