"""What labels say of the candidates: a shot is one candidate's, a coarse label is shared out among several."""

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
    """Labelled anchors and the candidates that their labels allow.

    Attributes:
        positions: (l,) int64 among the anchors.
        allowed: (l, c) float32, 1 for the candidates that agree with the label, at least one in each row.
    """

    positions: NDArray[np.int64]
    allowed: Matrix

    @cached_property
    def is_shot(self) -> NDArray[np.bool_]:
        """(l,) bool: the label allows one candidate only."""
        return self.allowed.sum(axis=1) == 1

    def shot_counts(self) -> Matrix:
        """(c,) float32 shots of each candidate."""
        return self.allowed[self.is_shot].sum(axis=0)

    def without(self, places: NDArray[np.int64]) -> "AnchorLabels":
        """All but some of them."""
        kept = np.setdiff1d(np.arange(len(self.positions)), places)
        return AnchorLabels(self.positions[kept], self.allowed[kept])

    def hold(self, chances: Matrix) -> None:
        """Bring the labelled rows of chances (m, c) into line with the labels, in place.

        A shot belongs to its class and stays there. A coarse-labelled image is shared out among the candidates below
        its class, of any depth and by every path, in proportion to the chances they have.
        """
        shots, coarse = self._shots, self._coarse
        chances[shots.positions] = shots.allowed
        if len(coarse.positions):
            held = (chances[coarse.positions] + LEAST) * coarse.allowed
            chances[coarse.positions] = held / held.sum(axis=1, keepdims=True)

    @cached_property
    def _shots(self) -> "AnchorLabels":
        return AnchorLabels(self.positions[self.is_shot], self.allowed[self.is_shot])

    @cached_property
    def _coarse(self) -> "AnchorLabels":
        return AnchorLabels(self.positions[~self.is_shot], self.allowed[~self.is_shot])
