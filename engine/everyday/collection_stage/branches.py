"""What branches say of the candidates in them: images are mistaken for siblings more often than for strangers.

Chances know nothing of the graph, so the sum of a branch's candidates is less sure than it is right. Each candidate's
probability is therefore multiplied by that of the branches it lies in, to a small power. A coarse class stays the sum
of the leaves below it.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

BRANCH_POWER: Final = np.float32(0.35)
"""Power of the geometric mean of the classes above a candidate (decision 54)."""
LEAST: Final = np.float32(1e-9)
"""Smallest sum of which a logarithm is taken. Chosen: far below what changes a prediction."""

Matrix = NDArray[np.float32]


@final
@dataclass(frozen=True)
class Branches:
    """The classes that some of the candidates lie below, and not all."""

    roll_up: Matrix  # (c, k) float32, 1 where the candidate is below the class; a candidate on two paths counts once

    @staticmethod
    def telling(roll_up: Matrix) -> "Branches":
        """Those among all coarse classes (c, k) that tell candidates apart."""
        return Branches(np.ascontiguousarray(roll_up[:, roll_up.sum(axis=0) < len(roll_up)]))

    def lean(self, claims: Matrix) -> Matrix:
        """Probabilities (n, c) of claims (n, c), each weighed by the branches of its candidate, with sums of 1."""
        if self.roll_up.shape[1] == 0:
            return claims
        means, place = self.means
        sums = claims @ self.roll_up
        np.log(np.maximum(sums, LEAST), out=sums)
        leaning = (np.exp(sums @ means)[:, place] * claims).astype(np.float32)
        leaning /= leaning.sum(axis=1, keepdims=True)
        return leaning

    @cached_property
    def means(self) -> tuple[Matrix, NDArray[np.int64]]:
        """(k, s) and (c,): what takes logarithms of sums to those of the means above, once for all siblings together.

        Siblings have the same classes above them, so there are fewer groups than candidates: s of them, and the place
        of each candidate's own.
        """
        kinds, place = np.unique(self.roll_up, axis=0, return_inverse=True)
        shares = BRANCH_POWER * kinds / np.maximum(kinds.sum(axis=1, keepdims=True), 1)
        return np.ascontiguousarray(shares.T.astype(np.float32)), place.reshape(-1)
