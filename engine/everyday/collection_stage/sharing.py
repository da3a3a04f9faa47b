"""What labels say of the candidates: a shot is one candidate's, a coarse label is shared out among several."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

LEAST: Final = np.float32(1e-12)
"""Smallest sum of shares that is divided by. Chosen: anything above zero does."""

Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class AnchorLabels:
    """Labelled anchors and the candidates that their labels allow."""

    positions: NDArray[np.int64]  # (l,) int64 among the anchors
    labels: NDArray[np.int64]  # (l,) int64 class ids, keys of `allowed`
    # for each label the places of the candidates that agree with it, at least one
    allowed: Mapping[int, NDArray[np.int64]]
    width: int  # c, number of candidates

    @cached_property
    def is_shot(self) -> NDArray[np.bool_]:
        """(l,) bool: the label allows one candidate only."""
        return np.array([len(self.allowed[label]) == 1 for label in self.labels.tolist()], dtype=bool)

    @cached_property
    def candidates(self) -> NDArray[np.int64]:
        """(l,) int64, the first candidate that each label allows; of a shot the only one."""
        return np.array([self.allowed[label][0] for label in self.labels.tolist()], dtype=np.int64)

    def sharing(self, candidate: int) -> NDArray[np.int64]:
        """Positions of the coarse-labelled anchors that a candidate has a share in."""
        parts = [positions for positions, allowed in self.coarse if candidate in allowed]
        return np.sort(np.concatenate([np.zeros(0, dtype=np.int64), *parts]))

    def shot_counts(self) -> Matrix:
        """(c,) float32 shots of each candidate."""
        return np.bincount(self.candidates[self.is_shot], minlength=self.width).astype(np.float32)

    def without(self, places: NDArray[np.int64]) -> "AnchorLabels":
        """All but some of them."""
        return self._at(np.setdiff1d(np.arange(len(self.positions)), places))

    def share_out(self, chances: Matrix, row_of: NDArray[np.int64]) -> None:
        """Bring the rows of coarse-labelled images into line with their labels, in place.

        Each is shared out among the candidates below its class, of any depth and by every path, in proportion to the
        chances they have.

        Args:
            chances: (f, c) float32.
            row_of: (m,) int64, row of each anchor in `chances`.
        """
        for positions, allowed in self.coarse:
            rows = row_of[positions]
            held = chances[np.ix_(rows, allowed)] + LEAST
            chances[rows] = 0
            chances[np.ix_(rows, allowed)] = held / held.sum(axis=1, keepdims=True)

    @cached_property
    def coarse(self) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Positions of the images of each coarse label, and the candidates it allows."""
        coarse = self._at(np.flatnonzero(~self.is_shot))
        return [
            (coarse.positions[coarse.labels == label], self.allowed[label])
            for label in np.unique(coarse.labels).tolist()
        ]

    def _at(self, places: NDArray[np.int64]) -> "AnchorLabels":
        return AnchorLabels(self.positions[places], self.labels[places], self.allowed, self.width)
