"""Logistic regression with coarse labels, by the summed probability of the leaves below.

Source: Cour, Sapp, Taskar: Learning from Partial Labels, JMLR 2011, for labels that name several
classes; the marginal likelihood is that of Jin and Ghahramani: Learning with Multiple Labels,
NeurIPS 2002.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from research.transfer.peers.logistic_regression import standardised
from research.transfer.task import FewShotTask, Matrix, softmax

STRENGTHS = {"plain": (100.0, 1e3), "standardised": (1.0,)}
"""C as scikit-learn has it, the inverse of the regularisation."""
WEIGHTS = {"coarse labels as shots": False, "coarse labels as the shots below": True}
"""Whether the images of a coarse class count together as the shots below it, by option."""
ITERATIONS = 150
"""Iterations of L-BFGS, after which predictions stay the same."""
DEFAULT = "standardised, C = 1, coarse labels as shots, even"
"""Default of logistic regression without coarse labels, with the sources' likelihood, evened."""


def predict(task: FewShotTask) -> Mapping[str, NDArray[np.int64]]:
    """Fit each option to shots and coarse labels and classify the queries.

    Returns:
        Class (q,) int64 of each query by option: preparation and C; whether an image with a coarse
        label counts as much as a shot, or all those of a coarse class as much as the shots below
        it; and whether classes are evened out, so that classes below coarse labels, which have more
        images, are not favoured.
    """
    features = {"plain": task, "standardised": standardised(task)}
    found: dict[str, NDArray[np.int64]] = {}
    for name, strengths in STRENGTHS.items():
        for strength in strengths:
            for weight, is_even in WEIGHTS.items():
                weights = fitted_weights(features[name], strength, is_even=is_even)
                given = softmax(_logits(features[name].queries, weights).astype(np.float32))
                option = f"{name}, C = {strength:g}, {weight}"
                found[option] = given.argmax(axis=1)
                found[f"{option}, even"] = (
                    given / np.maximum(given.sum(axis=0), np.float32(1e-30))
                ).argmax(axis=1)
    return found


def fitted_weights(
    task: FewShotTask, strength: float, *, is_even: bool = False
) -> NDArray[np.float64]:
    """Weights (ways, d + 1), the last of them the intercept, of the highest likelihood.

    Every image has candidate classes: one for a shot, the leaves below for a coarse label. Its
    likelihood is the sum of their probabilities.

    Args:
        task: shots, and queries with coarse labels if there are some.
        strength: C.
        is_even: whether all images of a coarse class together count at most as the shots below it.
    """
    from scipy.optimize import minimize

    images, is_open = task.support, task.one_hot > 0
    counts = np.ones(len(images))
    if task.coarse is not None:
        images = np.concatenate([images, task.queries[task.coarse.positions]])
        is_open = np.concatenate([is_open, task.coarse.leaves])
        weights = (
            even_counts(task.coarse.leaves, task.classes)
            if is_even
            else np.ones(len(task.coarse.leaves))
        )
        counts = np.concatenate([counts, weights])
    images = images.astype(np.float64)
    shape = (task.ways, images.shape[1] + 1)

    def loss(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        weights = flat.reshape(shape)
        values, of_logits = marginal_losses(_logits(images, weights), is_open)
        of_logits *= counts[:, None]
        gradient = np.concatenate([of_logits.T @ images, of_logits.sum(axis=0)[:, None]], axis=1)
        gradient[:, :-1] += weights[:, :-1] / strength
        return float(counts @ values) + float((weights[:, :-1] ** 2).sum()) / (
            2 * strength
        ), gradient.ravel()

    found = minimize(
        loss, np.zeros(shape).ravel(), jac=True, method="L-BFGS-B", options={"maxiter": ITERATIONS}
    )
    return np.asarray(found.x, dtype=np.float64).reshape(shape)


def even_counts(leaves: NDArray[np.bool_], classes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Weight (m,) of each coarse label, at most 1: the shots below it over its labels."""
    _, group, sizes = np.unique(leaves, axis=0, return_inverse=True, return_counts=True)
    shots = leaves @ np.bincount(classes, minlength=leaves.shape[1])
    return np.minimum(1.0, shots / sizes[group])


def marginal_losses(
    logits: NDArray[np.float64], is_open: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Minus the logarithm of the probability of all candidate classes together, and its gradient.

    Args:
        logits: (n, ways).
        is_open: (n, ways), at least one in each row.

    Returns:
        Values (n,), and their gradients (n, ways).
    """
    shifted = logits - logits.max(axis=1, keepdims=True)
    powers = np.exp(shifted)
    probabilities = powers / powers.sum(axis=1, keepdims=True)
    left = np.where(is_open, logits, -np.inf)
    highest = left.max(axis=1, keepdims=True)
    open_powers = np.exp(left - highest)
    totals = open_powers.sum(axis=1, keepdims=True)
    value = np.log(powers.sum(axis=1)) + logits.max(axis=1) - np.log(totals[:, 0]) - highest[:, 0]
    return value, probabilities - open_powers / totals


def _logits(
    images: Matrix | NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    return np.asarray(images @ weights[:, :-1].T + weights[:, -1], dtype=np.float64)
