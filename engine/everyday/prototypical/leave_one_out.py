"""Leave-one-shot-out: how far a labelled image would be from every prototype had it not been a shot.

Prototypes are linear in the shots once the edge weights are held fixed, so taking one shot away is a matter of inner
products (`shot_removal`): no prototype is computed anew. The image that is held out is measured by one view, as any
image is classified, even where its part of the prototype is the mean over several. With one parent this is exact; with
several parents the attention weights are those with the shot still there, a second-order difference. The weights of a
class's parents must sum to one (softmax).

A coarse class whose only own image is held out counts as one without a prototype. A refit would give it the mean over
its descendants' images; only held-out coarse labels see the difference, and they have no say in lambda.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.everyday.blocks import in_blocks
from engine.everyday.prototypical.prototypes import PrototypeTable
from engine.everyday.prototypical.shot_removal import ChangedDistances, ShotRemoval
from engine.everyday.shots import Shots

BLOCK_SHOTS: Final = 128
"""Shots measured at a time by a core. Chosen: their products with 10,000 classes take 5 MB each."""

Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class HeldOutDistances:
    """Squared distances of n held-out shots to c candidates, as a quadratic in lambda (Eq. 6).

    ||e - P||² = lambda² own + 2 lambda (1 - lambda) cross + (1 - lambda)² propagated.
    """

    own: Matrix  # (n, c) float32, squared distance to the initial prototype without the shot
    propagated: Matrix  # (n, c) float32, squared distance to the propagated prototype without the shot
    cross: Matrix  # (n, c) float32, inner product of the two differences
    shots_left: NDArray[np.int64]  # (n, c) int64, images of the candidate's own that remain
    has_parents: NDArray[np.bool_]  # (n, c) bool, whether anything is propagated to the candidate

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


def held_out_distances(
    shots: Shots, table: PrototypeTable, candidates: NDArray[np.int64], held: NDArray[np.int64]
) -> HeldOutDistances:
    """Distances of shots to every candidate class, each shot with itself taken away.

    Needs h x c numbers a few times over, and nothing that grows with the largest number of parents: shots of one class
    are in the same prototypes, so what their removal changes is laid out once for all of them.

    Args:
        table: prototypes of the shots and the weights of their edges (Eq. 5).
        candidates: (c,) positions of the classes to measure against.
        held: (h,) positions of the shots to hold out, one at a time.
    """
    removal = ShotRemoval(table, candidates)
    sizes = removal.sizes[candidates]
    shape = (len(held), len(candidates))
    found = HeldOutDistances(
        np.empty(shape, dtype=np.float32),
        np.empty(shape, dtype=np.float32),
        np.empty(shape, dtype=np.float32),
        np.broadcast_to(sizes, shape).copy(),
        np.broadcast_to(removal.has_parents, shape).copy(),
    )
    order = np.argsort(shots.class_ids[held], kind="stable")

    def work(part: slice) -> None:
        rows = order[part]
        products = removal.products(shots, held[rows])
        found.own[rows], found.propagated[rows], found.cross[rows] = products.distances()
        labels = shots.class_ids[held[rows]]
        starts = np.flatnonzero(np.diff(labels, prepend=labels[0] - 1))
        for start, stop in zip(starts, [*starts[1:], len(rows)], strict=True):
            same = slice(int(start), int(stop))
            _put(found, rows[same], removal.without(products.rows(same), int(held[rows[start]])))

    in_blocks(len(held), work, BLOCK_SHOTS)
    return found


def _put(found: HeldOutDistances, rows: NDArray[np.int64], changed: ChangedDistances) -> None:
    """Write what the removal of shots (r,) of one class changes."""
    at = np.ix_(rows, changed.places)
    found.own[at], found.propagated[at], found.cross[at] = changed.own, changed.propagated, changed.cross
    found.shots_left[at] -= changed.is_member
    found.has_parents[at] = changed.has_parents


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
