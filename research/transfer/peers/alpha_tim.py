"""Alpha-TIM: mutual information as in TIM, by an entropy that does not force even class sizes.

Source: Veilleux, Boudiaf, Piantanida, Ben Ayed: Realistic Evaluation of Transductive Few-Shot
Learning, NeurIPS 2021.

Embeddings have length 1, as in the authors' code: with their own length, a temperature of 15 would
saturate the softmax. The centred option is ours. The cross-entropy is Shannon's there, too.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from research.transfer.peers.tim import TEMPERATURE, probabilities_of
from research.transfer.task import FewShotTask, Matrix, centred, unit_rows

ALPHAS = (1.1, 2.0, 4.0, 7.0)
"""Orders of the entropy; Shannon's is the limit at 1. The authors take 2 for 1 shot and 7 for 5."""
STEPS = 100
"""Steps of Adam."""
STEP = 1e-3
"""Ten times the paper's rate of Adam for a tenth of its 1,000 steps; results hardly differ."""
DECAYS = (0.9, 0.999)
"""Decay rates of Adam, as published."""
SMALLEST = 1e-8
"""Adam's epsilon."""
DEFAULT = "length 1, alpha = 2"
"""The paper's preparation, and its order for 1 shot."""


def predict(task: FewShotTask) -> Mapping[str, NDArray[np.int64]]:
    """Classify the queries by the fitted weights.

    Returns:
        Class (q,) int64 of each query by option: whether the images are centred, and alpha.
    """
    plain = task.with_features(unit_rows(task.support), unit_rows(task.queries))
    return {
        f"{name}, alpha = {alpha:g}": _classified(features, alpha)
        for name, features in (("length 1", plain), ("centred", centred(task)))
        for alpha in ALPHAS
    }


def _classified(task: FewShotTask, alpha: float) -> NDArray[np.int64]:
    """Optimise by Adam from the class means."""
    weights = task.prototypes()
    mean, square = np.zeros_like(weights), np.zeros_like(weights)
    slow, slower = DECAYS
    for step in range(1, STEPS + 1):
        gradient = objective(task, weights, alpha)[1]
        mean = slow * mean + (1 - slow) * gradient
        square = slower * square + (1 - slower) * gradient**2
        scale = np.sqrt(square / (1 - slower**step)) + SMALLEST
        weights = (weights - STEP * mean / (1 - slow**step) / scale).astype(np.float32)
    return probabilities_of(task.queries, weights).argmax(axis=1)


def objective(task: FewShotTask, weights: Matrix, alpha: float) -> tuple[float, Matrix]:
    """Cross-entropy of shots minus alpha mutual information of queries, equal weights (Eq. 7).

    Args:
        task: shots and queries.
        weights: (ways, d).
        alpha: order of both entropies, not 1.

    Returns:
        The value, and its gradient (ways, d).
    """
    of_support, of_queries = (
        probabilities_of(task.support, weights),
        probabilities_of(task.queries, weights),
    )
    shares = of_queries.mean(axis=0)
    certain = of_queries ** np.float32(alpha - 1)  # a power of each probability less one
    own = np.take_along_axis(of_support, task.classes[:, None], axis=1)
    cross_entropy = -np.log(np.maximum(own, 1e-30)).mean()
    information = ((certain * of_queries).sum(axis=1).mean() - (shares**alpha).sum()) / (alpha - 1)

    wanted = np.float32(alpha / (alpha - 1) / len(task.queries)) * (
        shares ** np.float32(alpha - 1) - certain
    )
    of_logits = of_queries * (wanted - (of_queries * wanted).sum(axis=1, keepdims=True))
    gradient = _pulled(of_logits, task.queries, weights)
    gradient += _pulled(
        (of_support - task.one_hot) / np.float32(len(task.support)), task.support, weights
    )
    return float(cross_entropy - information), gradient


def _pulled(of_logits: Matrix, images: Matrix, weights: Matrix) -> Matrix:
    """Gradient (ways, d) of the weights from that of the logits (tempered squared distances)."""
    return np.float32(TEMPERATURE) * (
        of_logits.T @ images - of_logits.sum(axis=0)[:, None] * weights
    )
