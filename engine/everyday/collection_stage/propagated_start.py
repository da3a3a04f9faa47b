"""Propagated prototypes (Eq. 3, 4 and 6) in another space than the backbone's, with the attention found in that one.

Prototypes are linear in the shots once the edge weights (Eq. 5) are known, so any embedding of the same shots will do.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.everyday.prototypical.prototypes import PrototypeTable
from engine.everyday.prototypical.tuning import lambda_for

Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class LinearPrototypes:
    """The recipe of a table's prototypes."""

    table: PrototypeTable  # for membership, edges and their weights
    shrinkage: float  # for lambda; 0 where propagation did not pay

    def final(self, vectors: Matrix, kept: NDArray[np.bool_]) -> Matrix:
        """Prototypes (C, d) of the shots that are kept.

        Args:
            vectors: (n, d) float32, the shots in any space.
            kept: (n,) bool.
        """
        table, members = self.table, self.table.membership
        stays = kept[members.image_positions]
        images, classes = members.image_positions[stays], members.class_positions[stays]
        counts = np.bincount(classes, minlength=len(table.class_ids))
        initial = np.zeros((len(table.class_ids), vectors.shape[1]), dtype=np.float32)
        np.add.at(initial, classes, vectors[images])
        initial /= np.maximum(counts, 1).astype(np.float32)[:, None]
        propagated, weight = self._propagated(initial, counts)
        keep = np.where(weight > 0, lambda_for(counts.astype(np.int64), self.shrinkage), np.float32(1))[:, None]
        return (keep * initial + (1 - keep) * propagated).astype(np.float32)

    def _propagated(self, initial: Matrix, counts: NDArray[np.int64]) -> tuple[Matrix, Matrix]:
        """Weighted mean over the parents that have images (Eq. 4), and the sum of the weights."""
        parents, children = self.table.edges
        weights = np.where(counts[parents] > 0, self.table.edge_weights, 0).astype(np.float32)
        total = np.bincount(children, weights=weights, minlength=len(initial)).astype(np.float32)
        sums = np.zeros_like(initial)
        np.add.at(sums, children, weights[:, None] * initial[parents])
        return (sums / np.maximum(total, np.float32(1e-6))[:, None]).astype(np.float32), total
