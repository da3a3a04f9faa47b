"""Distances of prototypes along the edges of the category graph."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.errors import InputError


@dataclass(frozen=True)
class Nearness:
    """Distances between prototypes, in the unit of the space they were measured in.

    Attributes:
        child_to_parent: mean distance over the edges of the graph.
        random_pairs: mean distance of two different classes drawn at random from the levels that an
            edge joins.
        spread: level to mean distance of two different classes of that level; levels with one class
            are left out.
    """

    child_to_parent: float
    random_pairs: float
    spread: Mapping[int, float]

    @property
    def ratio(self) -> float:
        """Below 1 where children are closer to their parents than other classes of these levels."""
        return self.child_to_parent / self.random_pairs


def nearness(
    vectors: NDArray[np.floating], edge_index: NDArray[np.int64], levels: NDArray[np.int64]
) -> Nearness:
    """Measure the distance of children to their parents.

    The mean over random pairs is the expectation over all pairs of the two levels, without
    sampling.

    Args:
        vectors: (C, d) prototypes or their places in a figure, any unit.
        edge_index: (2, E) int64, row 0 parent, row 1 child.
        levels: (C,) int64.

    Returns:
        Euclidean distances in the unit of the vectors.

    Raises:
        InputError: there is no edge, or all vectors are equal.
    """
    if edge_index.shape[1] == 0:
        raise InputError(
            "the category graph has no edge", remedy="take classes that have a parent among them"
        )
    distances = _distances(np.asarray(vectors, dtype=np.float64))
    parents, children = edge_index
    pairs = np.stack([levels[parents], levels[children]])
    joined, counts = np.unique(pairs, axis=1, return_counts=True)
    expected = [_mean_between(distances, levels, int(one), int(other)) for one, other in joined.T]
    random_pairs = float(np.average(expected, weights=counts))
    if random_pairs == 0:
        raise InputError("all prototypes are equal", remedy="train the model before drawing it")
    return Nearness(
        child_to_parent=float(distances[parents, children].mean()),
        random_pairs=random_pairs,
        spread={
            int(level): _mean_between(distances, levels, int(level), int(level))
            for level, count in zip(*np.unique(levels, return_counts=True), strict=True)
            if count > 1
        },
    )


def _distances(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    # Row by row: as exact for equal vectors as for distant ones, without (C, C, d) in memory.
    return np.stack([np.linalg.norm(vectors - vector, axis=1) for vector in vectors])


def _mean_between(
    distances: NDArray[np.float64], levels: NDArray[np.int64], one: int, other: int
) -> float:
    """Mean distance of a class of one level and a different class of the other."""
    block = distances[np.ix_(levels == one, levels == other)]
    # A class is no pair with itself; it adds 0 to the sum.
    pairs = block.size - (len(block) if one == other else 0)
    return float(block.sum() / pairs)
