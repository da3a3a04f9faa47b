"""LaplacianShot: neighbouring unlabelled images should get the same class.

Source: Ziko, Dolz, Granger, Ben Ayed: Laplacian Regularized Few-Shot Learning, ICML 2020.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from research.transfer.peers.bd_cspn import rectified
from research.transfer.task import (
    FewShotTask,
    Matrix,
    centred,
    softmax,
    squared_distances,
    unit_rows,
)

LAMBDAS = (0.1, 0.3, 0.5, 0.7, 0.8, 1.0, 1.2, 1.5)
"""Weights of the Laplacian term that the paper chooses among."""
NEIGHBOURS = 3
STEPS = 20
TOLERANCE = 1e-6
DEFAULT = "centred, rectified, lambda = 1"
"""The paper's preparation, and a medium value of its tuned lambdas."""


def predict(task: FewShotTask) -> Mapping[str, NDArray[np.int64]]:
    """Classify the queries together, from class means and from rectified ones.

    Returns:
        Class (q,) int64 of each query by option: whether the images are centred, whether the
        prototypes are rectified as in BD-CSPN, and lambda.
    """
    plain = task.with_features(unit_rows(task.support), unit_rows(task.queries))
    found: dict[str, NDArray[np.int64]] = {}
    for name, features in (("length 1", plain), ("centred", centred(task))):
        affinity = nearest_neighbours(features.queries)
        moved = rectified(features)
        starts = {"means": features.prototypes(), "rectified": moved.prototypes}
        for start, prototypes in starts.items():
            queries = moved.queries if start == "rectified" else features.queries
            unary = squared_distances(queries, prototypes)
            for lambda_ in LAMBDAS:
                assignments = bound_updates(unary, affinity, lambda_)
                found[f"{name}, {start}, lambda = {lambda_:g}"] = assignments.argmax(axis=1)
    return found


def nearest_neighbours(queries: Matrix) -> NDArray[np.int64]:
    """Positions (q, k) of each query's nearest other queries."""
    distances = squared_distances(queries, queries)
    np.fill_diagonal(distances, np.inf)
    count = min(NEIGHBOURS, len(queries) - 1)
    return np.argpartition(distances, count - 1, axis=1)[:, :count]


def bound_updates(unary: Matrix, neighbours: NDArray[np.int64], lambda_: float) -> Matrix:
    """Lower the energy by the paper's Eq. 12 until it converges.

    Args:
        unary: (q, c) squared distances to prototypes.
        neighbours: (q, k) whose affinity to the query is 1.
        lambda_: weight of the Laplacian term.

    Returns:
        (q, c) soft assignments.
    """
    assignments, before = softmax(-unary), np.inf
    for step in range(STEPS):
        assignments = softmax(lambda_ * assignments[neighbours].sum(axis=1) - unary)
        energy = _energy(assignments, unary, neighbours, lambda_)
        if step > 1 and abs(energy - before) <= TOLERANCE * abs(before):
            break
        before = energy
    return assignments


def _energy(
    assignments: Matrix, unary: Matrix, neighbours: NDArray[np.int64], lambda_: float
) -> float:
    agreement = lambda_ * assignments[neighbours].sum(axis=1)
    entropy = np.log(np.maximum(assignments, np.float32(1e-20)))
    return float((assignments * (entropy + unary - agreement)).sum())
