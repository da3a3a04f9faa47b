"""PT-MAP: power-transformed embeddings, then class matching by optimal transport.

Source: Hu, Gripon, Pateux: Leveraging the Feature Distribution in Transfer-based Few-Shot Learning,
2020.
"""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from research.transfer.task import FewShotTask, Matrix, softmax, squared_distances, unit_rows

POWER = 0.5
"""Beta of the power transform."""
SHARPNESS = 10.0
"""Lambda of the transport."""
STEP = 0.2
"""Alpha: step of a class centre towards its images in an epoch."""
EPOCHS = 20
SMALLEST = 1e-6
SINKHORN_ROUNDS = 1000
DEFAULT = "equal shares"
"""The paper's."""


def predict(task: FewShotTask) -> Mapping[str, NDArray[np.int64]]:
    """Match all queries with the classes.

    Returns:
        Class (q,) int64 of each query by option: with the same share of the queries for each class,
        as the paper has it, and without that constraint, which an imbalanced collection violates.
    """
    task = power_transformed(task)
    return {"equal shares": _matched(task, transport), "free shares": _matched(task, nearest)}


def _matched(task: FewShotTask, plan_for: Callable[[Matrix], Matrix]) -> NDArray[np.int64]:
    centres, one_hot = task.prototypes(), task.one_hot
    for _ in range(EPOCHS):
        plan = plan_for(squared_distances(task.queries, centres))
        totals = one_hot.sum(axis=0) + plan.sum(axis=0)
        means = (one_hot.T @ task.support + plan.T @ task.queries) / totals[:, None]
        centres = (centres + STEP * (means - centres)).astype(np.float32)
    return plan_for(squared_distances(task.queries, centres)).argmax(axis=1)


def power_transformed(task: FewShotTask) -> FewShotTask:
    """Power transform, length 1, shots and queries centred separately, and length 1 again.

    The paper's embeddings come out of a ReLU; the sign is kept for those that do not.
    """

    def transform(vectors: Matrix) -> Matrix:
        return unit_rows((np.sign(vectors) * np.abs(vectors) ** POWER).astype(np.float32))

    def centre(vectors: Matrix) -> Matrix:
        return unit_rows(vectors - vectors.mean(axis=0))

    return task.with_features(centre(transform(task.support)), centre(transform(task.queries)))


def nearest(costs: Matrix) -> Matrix:
    """The plan (q, c) whose rows sum to 1, without constraints on columns."""
    return softmax((-SHARPNESS * costs).astype(np.float32))


def transport(costs: Matrix) -> Matrix:
    """Sinkhorn's algorithm: rows sum to 1, columns have equal sums.

    Args:
        costs: (q, c) squared distances.

    Returns:
        (q, c) float32 plan.
    """
    rows, columns = costs.shape
    plan = np.exp(-SHARPNESS * costs.astype(np.float64))
    plan /= plan.sum()
    sums = np.zeros(rows)
    for _ in range(SINKHORN_ROUNDS):
        found = plan.sum(axis=1)
        if np.abs(sums - found).max() <= SMALLEST:
            break
        sums = found
        plan *= (1 / np.maximum(sums, 1e-300))[:, None]
        plan *= (rows / columns / np.maximum(plan.sum(axis=0), 1e-300))[None, :]
    return plan.astype(np.float32)
