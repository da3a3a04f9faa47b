"""Branches of the graph: the classes above the candidates of a model that tell candidates apart."""

from dataclasses import dataclass
from functools import cached_property
from typing import Final, final

import numpy as np

from engine.everyday.blocks import Floats, Integers

POWER: Final = np.float32(0.35)
"""Power of the geometric mean of the branches above a candidate in its probability (decision 52)."""
LEAST: Final = np.float32(1e-9)
"""Smallest probability of which a logarithm is taken. Chosen: far below what changes a prediction."""


@final
@dataclass(frozen=True)
class Branches:
    """The classes that some of c candidates lie below, and not all."""

    roll_up: Floats  # (c, k) float32, 1 where the candidate is below the class; a candidate on two paths counts once

    @staticmethod
    def telling(roll_up: Floats) -> "Branches":
        """Those among all coarse classes (c, k) that tell candidates apart."""
        return Branches(np.ascontiguousarray(roll_up[:, roll_up.sum(axis=0) < len(roll_up)]))

    def lean(self, claims: Floats) -> Floats:
        """Probabilities (n, c), each weighed by the branches of its candidate, with sums of 1."""
        if self.roll_up.shape[1] == 0:
            return claims
        sums = claims @ self.roll_up
        leaning = self.factors(np.maximum(sums, LEAST), POWER) * claims
        leaning /= leaning.sum(axis=1, keepdims=True)
        return leaning

    def factors(self, values: Floats, power: np.float32) -> Floats:
        """Geometric mean (n, c) of positive values (n, k) over the branches of each candidate, to a power.

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
        """(k, s) from values of branches to their means above s groups of siblings; each candidate's group (c,)."""
        kinds, place = np.unique(self.roll_up, axis=0, return_inverse=True)
        shares = kinds / np.maximum(kinds.sum(axis=1, keepdims=True), 1)
        return np.ascontiguousarray(shares.T.astype(np.float32)), place.reshape(-1)
