"""iLPC: labels are propagated, queries with the cleanest pseudo-labels become shots, iteratively.

Source: Lazarou, Stathaki, Avrithis: Iterative Label Cleaning for Transductive and Semi-Supervised
Few-Shot Learning, ICCV 2021.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from research.transfer.peers.label_propagation import cosines_of, normalised_affinity, spread
from research.transfer.peers.pt_map import power_transformed
from research.transfer.task import FewShotTask, Matrix, softmax

NEIGHBOURS = 15
"""Neighbours of an image in the graph."""
ALPHA = 0.8
"""Share of a label that comes from neighbours."""
SHARPNESS = 3
"""Tau: power of the propagated labels before balancing."""
ROUNDS = 5
"""Rounds until a class of even size is used up: the paper takes 3 of its 15 queries in each."""
MOST_ROUNDS = 10
"""Most rounds; remaining queries keep their last pseudo-label."""
EPOCHS = 20
"""Epochs of the classifier: two cycles."""
CYCLE = 10
"""Epochs in which the learning rate falls; then it restarts."""
RATES = (4.0, 0.4)
"""Learning rates at start and end of a cycle."""
SCALE = 10.0
"""Scale of the classifier's cosines."""
SINKHORN_ROUNDS = 100
"""Enough to find the top class."""
DEFAULT = "even shares"
"""The paper's."""


def predict(task: FewShotTask) -> Mapping[str, NDArray[np.int64]]:
    """Clean the queries' labels until every query is a shot.

    Returns:
        Class (q,) int64 of each query by option: with the same share of the queries for each class,
        as the paper has it, and with free shares.
    """
    task = power_transformed(task)
    affinity = normalised_affinity(cosines_of(task), NEIGHBOURS)
    return {
        name: _cleaned(task, affinity, is_even=name == DEFAULT) for name in (DEFAULT, "free shares")
    }


def _cleaned(task: FewShotTask, affinity: Any, *, is_even: bool) -> NDArray[np.int64]:
    images = np.concatenate([task.support, task.queries])
    classes = np.concatenate([task.classes, np.full(len(task.queries), -1)])
    is_shot = classes >= 0
    most = -(-len(task.queries) // (task.ways * ROUNDS))
    for _ in range(MOST_ROUNDS):
        waiting = np.flatnonzero(~is_shot)
        if not len(waiting):
            break
        start = np.where(is_shot[:, None], np.eye(task.ways)[classes], 0)
        reached = spread(affinity, start, ALPHA)[waiting]
        classes[waiting] = (evened(reached) if is_even else reached).argmax(axis=1)
        losses = mean_losses(images, classes, is_shot)[waiting]
        is_shot[waiting[cleanest(losses, classes[waiting], most)]] = True
    return classes[len(task.support) :]


def evened(reached: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sinkhorn's algorithm: rows (q, ways) sum to the certainty of a query, columns are equal."""
    labels = reached / np.maximum(reached.sum(axis=1, keepdims=True), 1e-300)
    ways = labels.shape[1]
    entropy = -(labels * np.log(np.maximum(labels, 1e-300))).sum(axis=1)
    sure = np.maximum(1 - entropy / np.log(ways), 1e-6)
    plan = np.maximum(labels, 1e-12) ** SHARPNESS
    for _ in range(SINKHORN_ROUNDS):
        plan *= (sure / plan.sum(axis=1))[:, None]
        plan *= sure.sum() / ways / plan.sum(axis=0)
    return plan


def mean_losses(images: Matrix, classes: NDArray[np.int64], is_shot: NDArray[np.bool_]) -> Matrix:
    """Mean cross-entropy (n,) of each image while a linear classifier learns in two cycles.

    Clean labels are learned early and stay; wrong ones are learned late and lost when the rate
    rises.

    Args:
        images: (n, d) of length 1.
        classes: (n,) labels and pseudo-labels.
        is_shot: (n,) whether the label is certain: the classifier starts from the means of these.
    """
    one_hot = np.eye(classes.max() + 1, dtype=np.float32)[classes]
    counts = np.maximum(one_hot.sum(axis=0), 1)[:, None]
    certain = one_hot * is_shot[:, None]
    weights = (certain.T @ images / np.maximum(certain.sum(axis=0), 1)[:, None]).astype(np.float32)
    losses = np.zeros(len(images), dtype=np.float32)
    high, low = RATES
    for epoch in range(EPOCHS):
        given = softmax((SCALE * images @ weights.T).astype(np.float32))
        losses -= np.log(
            np.maximum(np.take_along_axis(given, classes[:, None], axis=1)[:, 0], np.float32(1e-30))
        )
        rate = high + (low - high) * (epoch % CYCLE) / (CYCLE - 1)
        weights += np.float32(rate / SCALE) * ((one_hot - given).T @ images / counts)
    return (losses / EPOCHS).astype(np.float32)


def cleanest(losses: Matrix, classes: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Positions of at most `most` images of each class with the smallest losses."""
    order = np.lexsort((losses, classes))
    starts = np.searchsorted(classes[order], classes[order], side="left")
    return order[np.arange(len(order)) - starts < most]
