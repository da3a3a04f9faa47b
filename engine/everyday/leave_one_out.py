"""Leave-one-shot-out: how far a labelled image would be from every prototype had it not been a shot.

Prototypes are linear in the shots once the edge weights are held fixed, so taking one shot away is a matter of inner
products: no prototype is computed anew. The image that is held out is measured by one view, as any image is classified,
even where its part of the prototype is the mean over several. With one parent this is exact; with several parents the
attention weights are those with the shot still there, a second-order difference. The weights of a class's parents must
sum to one (softmax).

A coarse class whose only own image is held out counts as one without a prototype. A refit would give it the mean over
its descendants' images; only held-out coarse labels see the difference, and they have no say in lambda.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.everyday.shots import Membership, Shots

Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class HeldOutDistances:
    """Squared distances of n held-out shots to c candidates, as a quadratic in lambda (Eq. 6).

    ||e - P||² = lambda² own + 2 lambda (1 - lambda) cross + (1 - lambda)² propagated.

    Attributes:
        own: (n, c) float32, squared distance to the initial prototype without the shot.
        propagated: (n, c) float32, squared distance to the propagated prototype without the shot.
        cross: (n, c) float32, inner product of the two differences.
        shots_left: (n, c) int64, images of the candidate's own that remain.
        has_parents: (n, c) bool, whether anything is propagated to the candidate.
    """

    own: Matrix
    propagated: Matrix
    cross: Matrix
    shots_left: NDArray[np.int64]
    has_parents: NDArray[np.bool_]

    def rows(self, chosen: NDArray[np.int64]) -> "HeldOutDistances":
        """The distances of some of the shots only."""
        return HeldOutDistances(*(array[chosen] for array in vars(self).values()))

    def at(self, lambda_: Matrix) -> Matrix:
        """Squared distances (n, c) at given lambdas (n, c); infinite where a candidate has no prototype left."""
        keep = np.where(self.has_parents, lambda_, np.float32(1.0))
        keep = np.where(self.shots_left > 0, keep, np.float32(0.0))
        rest = 1 - keep
        squared = keep * keep * self.own + 2 * keep * rest * self.cross + rest * rest * self.propagated
        missing = (self.shots_left == 0) & ~self.has_parents
        return np.where(missing, np.float32(np.inf), squared)


def membership_matrix(membership: Membership, image_count: int, class_count: int) -> Matrix:
    """Row-normalised (class_count, image_count) matrix of Eq. 3: prototypes = matrix @ embeddings."""
    matrix = np.zeros((class_count, image_count), dtype=np.float32)
    matrix[membership.class_positions, membership.image_positions] = 1
    totals = matrix.sum(axis=1, keepdims=True)
    return matrix / np.maximum(totals, 1)


def held_out_distances(
    shots: Shots,
    rows: Matrix,
    propagation: Matrix,
    candidates: NDArray[np.int64],
) -> HeldOutDistances:
    """Distances of every shot to every candidate class with that shot taken away.

    Args:
        shots: n shots.
        rows: (C, n) float32, `membership_matrix` of the C classes.
        propagation: (C, C) float32, edge weights (Eq. 5) from column class to row class (Eq. 4).
        candidates: (c,) positions of the classes to measure against.
    """
    solver = _HeldOutProducts(shots, rows)
    parents = _parent_table(propagation[candidates])
    own = solver.distance(candidates, candidates)
    weights, weight_total = solver.usable_weights(parents)
    cross = np.zeros_like(own)
    propagated = np.zeros_like(own)
    for slot, parent in enumerate(parents.positions.T):
        share = weights[:, :, slot]
        cross += share * solver.distance(candidates, parent)
        for other_slot, other in enumerate(parents.positions.T):
            propagated += share * weights[:, :, other_slot] * solver.distance(parent, other)
    left = np.rint(solver.images_left(candidates)).astype(np.int64)
    return HeldOutDistances(own, propagated, cross, left, weight_total > 0)


def with_fresh_neighbours(
    distances: HeldOutDistances,
    shots: Shots,
    prototypes: Matrix,
    *,
    class_positions: NDArray[np.int64],
    places: NDArray[np.int64],
    count: int,
) -> HeldOutDistances:
    """Choose the stand-in parents of each shot's own class anew, from its prototype without the shot.

    In the PPN setting a class's parents are its nearest prototypes. Chosen with the shot still there they lie near the
    shot, and every held-out shot would look easier than a new image. The parents count evenly here: attention over
    look-alikes is nearly even.

    Args:
        distances: of `held_out_distances` over c candidates.
        shots: the n shots.
        prototypes: (C, d) float32, initial prototypes of all classes with images.
        class_positions: (n,) int64 in [0, C), each shot's own class.
        places: (n,) int64 in [0, c), the same class among the candidates; negative where it is none.
        count: parents of a class; all other classes where there are fewer.
    """
    count = min(count, len(prototypes) - 1)
    if count < 1:
        return distances
    rows = np.flatnonzero(places >= 0)
    rows = rows[distances.shots_left[rows, places[rows]] > 0]
    own, place = class_positions[rows], places[rows]
    seen, left = shots.as_classified[rows], distances.shots_left[rows, place][:, None]
    without = prototypes[own] + (prototypes[own] - shots.embeddings[rows]) / left
    apart = (prototypes**2).sum(axis=1)[None, :] - 2 * without @ prototypes.T
    apart[np.arange(len(rows)), own] = np.inf
    propagated = prototypes[np.argsort(apart, axis=1)[:, :count]].mean(axis=1)
    fresh = HeldOutDistances(*(array.copy() for array in vars(distances).values()))
    fresh.propagated[rows, place] = ((seen - propagated) ** 2).sum(axis=1)
    fresh.cross[rows, place] = ((seen - without) * (seen - propagated)).sum(axis=1)
    return fresh


@dataclass(frozen=True)
class _ParentTable:
    """Up to k parents of each of c candidates: `positions` (c, k) and `weights` (c, k), padded with weight zero."""

    positions: NDArray[np.int64]
    weights: Matrix


def _parent_table(propagation: Matrix) -> _ParentTable:
    most = max(1, int((propagation > 0).sum(axis=1).max(initial=0)))
    order = np.argsort(-propagation, axis=1, kind="stable")[:, :most]
    return _ParentTable(order.astype(np.int64), np.take_along_axis(propagation, order, axis=1))


class _HeldOutProducts:
    """Inner products of (image - prototype without its shot) for any pair of prototypes.

    With u a membership row and a = u[i], the row without shot i is (u - a 1_i) / (1 - a). Products of shots with other
    shots are never needed, only with prototypes: memory grows with the shots, not with their square.
    """

    def __init__(self, shots: Shots, rows: Matrix) -> None:
        self._rows = rows
        prototypes, seen = rows @ shots.embeddings, shots.as_classified
        self._squared = np.einsum("nd,nd->n", shots.embeddings, shots.embeddings)
        self._seen_squared = np.einsum("nd,nd->n", seen, seen)
        self._seen_to_own = np.einsum("nd,nd->n", seen, shots.embeddings)
        self._to_shots = prototypes @ shots.embeddings.T
        self._to_seen = self._to_shots if seen is shots.embeddings else prototypes @ seen.T
        self._between = prototypes @ prototypes.T
        self._sizes = (rows > 0).sum(axis=1)

    def images_left(self, classes: NDArray[np.int64]) -> Matrix:
        """Images (n, c) that remain in each class when the shot is gone."""
        return (self._sizes[classes][None, :] - (self._rows[classes].T > 0)).astype(np.float32)

    def usable_weights(self, parents: _ParentTable) -> tuple[Matrix, Matrix]:
        """Edge weights (n, c, k) over the parents that still have a prototype, rescaled to the same sum."""
        left = self.images_left(parents.positions.ravel())
        alive = left.reshape(self._rows.shape[1], *parents.positions.shape) > 0
        weights = np.where(alive, parents.weights[None], np.float32(0))
        total = weights.sum(axis=2)
        full = parents.weights.sum(axis=1)[None]
        scale = np.divide(full, total, out=np.zeros_like(total), where=total > 0)
        return (weights * scale[:, :, None]).astype(np.float32), total

    def distance(self, left: NDArray[np.int64], right: NDArray[np.int64]) -> Matrix:
        """Inner products (n, c) of (image - left prototype) and (image - right prototype), both without its shot."""
        share_left, share_right = self._rows[left].T, self._rows[right].T
        keep_left = np.maximum(1 - share_left, np.float32(1e-6))
        keep_right = np.maximum(1 - share_right, np.float32(1e-6))
        own, seen_to_own = self._squared[:, None], self._seen_to_own[:, None]
        to_left = (self._to_seen[left].T - share_left * seen_to_own) / keep_left
        to_right = (self._to_seen[right].T - share_right * seen_to_own) / keep_right
        both = self._between[left, right][None, :]
        both = both - share_left * self._to_shots[right].T - share_right * self._to_shots[left].T
        both = (both + share_left * share_right * own) / (keep_left * keep_right)
        return (self._seen_squared[:, None] - to_left - to_right + both).astype(np.float32)
