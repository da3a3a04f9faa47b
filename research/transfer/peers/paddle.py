"""PADDLE: the fewest classes that explain the queries, with learned class sizes.

Source: Martin, Boudiaf, Chouzenoux, Pesquet, Ben Ayed: Towards Practical Few-Shot Query Sets:
Transductive Minimum Description Length Inference, NeurIPS 2022.

The authors' code divides each feature by its range over the queries: squared distances are then 20
to 40, and need no scale. One option does so. With the hundreds of queries and 50 classes of a
collection, distances are then too small relative to the class sizes, and most classes vanish; so
the other options scale distances of embeddings of length 1, which the authors' code does not have.
The weight of class sizes is 75 there, for its 75 queries, and the number of queries here, as in the
paper.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from research.transfer.task import (
    FewShotTask,
    Matrix,
    centred,
    softmax,
    squared_distances,
    unit_rows,
)

SCALES = (60.0, 240.0, 960.0)
"""Factors of squared distances of embeddings of length 1."""
STEPS = 30
"""Rounds of assignments and means; the 100 of the authors' code change little."""
PUBLISHED = "ranges of 1"
DEFAULT = "length 1, scale 240"
"""The middle one: the published value is far worse on collections."""


def predict(task: FewShotTask) -> Mapping[str, NDArray[np.int64]]:
    """Assign the queries, with the paper's weight of the class sizes: the number of queries.

    Returns:
        Class (q,) int64 of each query by option: how embeddings are prepared, and the scale of
        distances.
    """
    plain = task.with_features(unit_rows(task.support), unit_rows(task.queries))
    ranges = np.ptp(task.queries, axis=0)
    ranges[ranges == 0] = 1
    published = task.with_features(task.support / ranges, task.queries / ranges)
    return {PUBLISHED: assigned(published, 1.0).argmax(axis=1)} | {
        f"{name}, scale {scale:g}": assigned(features, scale).argmax(axis=1)
        for name, features in (("length 1", plain), ("centred", centred(task)))
        for scale in SCALES
    }


def assigned(task: FewShotTask, scale: float) -> Matrix:
    """Assignments (q, ways), alternating with class sizes and class means (Algorithm 1).

    Args:
        task: shots and queries.
        scale: of squared distances.
    """
    centres, one_hot = task.prototypes(), task.one_hot
    sizes = np.full(task.ways, 1 / task.ways, dtype=np.float32)
    for _ in range(STEPS):
        assignments = assigned_once(squared_distances(task.queries, centres), sizes, scale)
        sizes = assignments.mean(axis=0)
        totals = one_hot.sum(axis=0) + assignments.sum(axis=0)
        centres = (
            (one_hot.T @ task.support + assignments.T @ task.queries) / totals[:, None]
        ).astype(np.float32)
    return assignments


def assigned_once(distances: Matrix, sizes: Matrix, scale: float) -> Matrix:
    """Softmax (q, ways) of nearness and of the logarithm of the class sizes (ways,).

    Args:
        distances: (q, ways) squared.
        sizes: (ways,) shares of the queries.
        scale: of the distances.
    """
    return softmax(
        (np.log(np.maximum(sizes, np.float32(1e-30))) - scale / 2 * distances).astype(np.float32)
    )
