"""TIM: class weights that make predictions of unlabelled images confident and balanced.

Source: Boudiaf, Ziko, Rony, Dolz, Piantanida, Ben Ayed: Transductive Information Maximization For
Few-Shot Learning, NeurIPS 2020; the alternating direction method (TIM-ADM), which the paper finds
as accurate as gradient descent.
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

TEMPERATURE = 15.0
CROSS_ENTROPY = 0.1
"""Lambda: weight of the shots' cross-entropy."""
CONDITIONAL_ENTROPY = 0.1
"""Alpha: weight of each query's entropy."""
STEPS = 150
DEFAULT = "length 1"
"""The paper's."""


def predict(task: FewShotTask) -> Mapping[str, NDArray[np.int64]]:
    """Classify the queries by the fitted weights.

    Returns:
        Class (q,) int64 of each query by option: whether the images are centred.
    """
    plain = task.with_features(unit_rows(task.support), unit_rows(task.queries))
    return {
        name: _classified(features)
        for name, features in (("length 1", plain), ("centred", centred(task)))
    }


def _classified(task: FewShotTask) -> NDArray[np.int64]:
    weights = task.prototypes()
    for _ in range(STEPS):
        weights = _updated(task, weights)
    return probabilities_of(task.queries, weights).argmax(axis=1)


def _updated(task: FewShotTask, weights: Matrix) -> Matrix:
    """One round of the paper's Proposition 1: the latent assignments, then the weights."""
    of_support, of_queries = (
        probabilities_of(task.support, weights),
        probabilities_of(task.queries, weights),
    )
    latent = latent_assignments(of_queries)
    shares = (CROSS_ENTROPY / (1 + CONDITIONAL_ENTROPY), len(task.support) / len(task.queries))
    parts = ((task.support, task.one_hot, of_support), (task.queries, latent, of_queries))
    sums, totals = np.zeros_like(weights), np.zeros((len(weights), 1), dtype=np.float32)
    for share, (images, wanted, given) in zip(shares, parts, strict=True):
        sums += share * ((wanted - given).T @ images + given.sum(axis=0)[:, None] * weights)
        totals += share * wanted.sum(axis=0)[:, None]
    return (sums / np.maximum(totals, np.float32(1e-12))).astype(np.float32)


def latent_assignments(probabilities: Matrix) -> Matrix:
    """Sharper probabilities (q, c) that reduce classes with many images (Eq. 6)."""
    powers = probabilities ** np.float32(1 + CONDITIONAL_ENTROPY)
    held = powers / np.sqrt(np.maximum(powers.sum(axis=0, keepdims=True), np.float32(1e-12)))
    return (held / np.maximum(held.sum(axis=1, keepdims=True), np.float32(1e-30))).astype(
        np.float32
    )


def probabilities_of(images: Matrix, weights: Matrix) -> Matrix:
    """Softmax (n, ways) of tempered half squared distances to the weights (ways, d)."""
    return softmax((-TEMPERATURE / 2 * squared_distances(images, weights)).astype(np.float32))
