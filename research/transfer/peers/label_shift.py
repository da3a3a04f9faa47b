"""Label shift: class sizes estimated from the probabilities of the queries, and corrected for.

Sources: Saerens, Latinne, Decaestecker: Adjusting the Outputs of a Classifier to New a Priori
Probabilities, Neural Computation 2002 (the EM algorithm, also known as MLLS); Alexandari, Kundaje,
Shrikumar: Maximum Likelihood with Bias-Corrected Calibration is Hard-To-Beat at Label Shift
Adaptation, ICML 2020 (the calibration before it).

Both papers calibrate on held-out images by the thousand. Here only shots are available: each in
turn is held out of the fit, where its class has another; one shot a class does not allow
calibration.
"""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from research.transfer.peers.logistic_regression import logits_of, spanned, standardised
from research.transfer.peers.tim import TEMPERATURE
from research.transfer.task import (
    FewShotTask,
    Matrix,
    centred,
    softmax,
    squared_distances,
    unit_rows,
)

STRENGTH = 1.0
"""C of the logistic regression, the default of that peer."""
FOLDS = 5
"""Folds of the shots of a class; with fewer shots each is a fold."""
ITERATIONS = 500
"""Most iterations of EM."""
TOLERANCE = 1e-6
"""EM stops where no class share moves by more."""
MOST = 4.0
"""Bound of calibrated biases and of the log scale: few correct shots have no finite optimum."""
PLAIN = "not calibrated"
SCALED = "temperature"
BIASED = "temperature and biases"
DEFAULT = f"logistic regression, {BIASED}"
"""Recommendation of Alexandari and others."""

Classify = Callable[[FewShotTask], Matrix]
"""Logits (q, ways) of the queries."""


def predict(task: FewShotTask) -> Mapping[str, NDArray[np.int64]]:
    """Classify the queries by corrected probabilities.

    Returns:
        Class (q,) int64 of each query by option: the classifier, and how it is calibrated.
    """
    shares = task.one_hot.mean(axis=0)
    even = np.full(task.ways, 1 / task.ways, dtype=np.float32)
    plain = task.with_features(unit_rows(task.support), unit_rows(task.queries))
    classifiers: tuple[tuple[str, FewShotTask, Classify, Matrix], ...] = (
        ("logistic regression", standardised(task), _by_regression, shares),
        ("nearest prototype", plain, _by_prototypes, even),
        ("nearest prototype, centred", centred(task), _by_prototypes, even),
    )
    return {
        f"{name}, {calibration}": corrected(softmax(logits), prior).argmax(axis=1)
        for name, features, classify, prior in classifiers
        for calibration, logits in _calibrated(features, classify).items()
    }


def _by_regression(task: FewShotTask) -> Matrix:
    return logits_of(spanned(task), STRENGTH)


def _by_prototypes(task: FewShotTask) -> Matrix:
    return (-TEMPERATURE / 2 * squared_distances(task.queries, task.prototypes())).astype(
        np.float32
    )


def _calibrated(task: FewShotTask, classify: Classify) -> Mapping[str, Matrix]:
    """Logits (q, ways) of the queries by calibration."""
    logits = classify(task)
    held_out = _held_out(task, classify)
    found = {PLAIN: logits}
    for name, has_biases in ((SCALED, False), (BIASED, True)):
        scale, biases = (
            (1.0, np.zeros(task.ways)) if held_out is None else calibration(*held_out, has_biases)
        )
        found[name] = (scale * logits + biases).astype(np.float32)
    return found


def _held_out(task: FewShotTask, classify: Classify) -> tuple[Matrix, NDArray[np.int64]] | None:
    """Held-out logits (h, ways) of shots and their classes (h,); None without two shots a class."""
    ranks = np.zeros(len(task.classes), dtype=np.int64)
    for each in range(task.ways):
        of_class = np.flatnonzero(task.classes == each)
        ranks[of_class] = np.arange(len(of_class))
    has_others = np.bincount(task.classes, minlength=task.ways)[task.classes] > 1
    logits, classes = [], []
    for fold in range(min(FOLDS, int(ranks.max()) + 1)):
        is_held_out = has_others & (ranks % FOLDS == fold)
        if is_held_out.any():
            rest = task.classes[~is_held_out]
            shots = FewShotTask(
                task.support[~is_held_out], rest, task.support[is_held_out], task.ways
            )
            logits.append(classify(shots))
            classes.append(task.classes[is_held_out])
    return (np.concatenate(logits), np.concatenate(classes)) if logits else None


def calibration(
    logits: Matrix, classes: NDArray[np.int64], has_biases: bool
) -> tuple[float, NDArray[np.float64]]:
    """Scale of logits (inverse temperature) and class biases of maximum likelihood.

    Args:
        logits: (h, ways).
        classes: (h,) the true ones.
        has_biases: whether biases (ways,) are fitted; else they are 0.
    """
    from scipy.optimize import minimize

    ways = logits.shape[1]
    wanted = np.eye(ways)[classes]

    def loss(values: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        scale = np.exp(values[0])
        shifted = scale * logits + values[1:]
        shifted -= shifted.max(axis=1, keepdims=True)
        logarithms = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
        of_logits = (np.exp(logarithms) - wanted) / len(classes)
        slope = scale * (of_logits * logits).sum()
        return -float((logarithms * wanted).sum()) / len(classes), np.array(
            [slope, *of_logits.sum(axis=0)]
        )

    bound = MOST if has_biases else 0.0
    bounds = [(-MOST, MOST), *[(-bound, bound)] * ways]
    found = minimize(loss, np.zeros(1 + ways), jac=True, method="L-BFGS-B", bounds=bounds).x
    return float(np.exp(found[0])), found[1:]


def corrected(probabilities: Matrix, prior: Matrix) -> Matrix:
    """Probabilities (q, ways) under the class shares that make the queries most likely, by EM.

    Args:
        probabilities: (q, ways) of each query.
        prior: (ways,) class shares that they assume; EM starts there.
    """
    likelihoods = probabilities / prior
    shares = prior
    for _ in range(ITERATIONS):
        evidence = np.maximum(likelihoods @ shares, np.float32(1e-30))
        responsibilities = likelihoods.T @ (1 / evidence) / len(probabilities)
        before, shares = shares, (shares * responsibilities).astype(np.float32)
        if np.abs(shares - before).max() < TOLERANCE:
            break
    posteriors = likelihoods * shares
    return (
        posteriors / np.maximum(posteriors.sum(axis=1, keepdims=True), np.float32(1e-30))
    ).astype(np.float32)
