"""Ridge regression of classes on the embeddings of shots: a discriminative classifier.

Least squares with one target a class (Hastie, Tibshirani and Friedman, 2009, section 4.2). The
prediction of each shot by the others has a closed form, so the temperature needs no second fit.
Ours, not the paper's.
"""

import numpy as np

from engine.arrays import Doubles, Flags, Floats, Integers
from engine.everyday.prototypical.classification import LinearClassifier

PENALTY = 0.3
"""On the weights, for embeddings of length 1: the more shots, the less it counts."""
TEMPERATURE = 1 / 18  # expected before any shot was left out
SPREAD = 0.3  # standard deviation of the temperature's logarithm beforehand
FACTORS = np.geomspace(0.25, 4, 41)
"""On the temperature that are tried. Chosen: in steps of 7%."""


def ridge_classifier(
    shots: Floats, classes: Integers, width: int, *, has_copies: Flags
) -> LinearClassifier:
    """Fit the regression, and its temperature by leaving out each shot.

    Args:
        shots: (n, d) float32 embeddings of length 1.
        classes: (n,) int64 places of their candidates.
        width: number of candidates c; one without a shot has a logit of 0, that of an image that is
            like none.
        has_copies: (n,) bool, shots that are not evidence when left out, since a copy remains.

    Returns:
        Weights (c, d) and offsets (c,) of logits whose softmax (Eq. 2) are probabilities.
    """
    counts = np.bincount(classes, minlength=width)
    known = np.flatnonzero(counts)
    if len(known) < 2:  # noqa: PLR2004 (one class has nothing to differ from)
        return _scaled(np.zeros((width, shots.shape[1])), np.zeros(width), 1.0)
    weights = len(shots) / len(known) / counts[classes]
    mean = weights @ shots / len(shots)
    centred = (shots - mean).astype(np.float64)
    rows, basis = _rotated(centred)
    targets = np.zeros((len(shots), width))
    targets[:, known] = -1 / len(known)
    targets[np.arange(len(shots)), classes] += 1
    penalised = (rows.T * weights) @ rows + PENALTY * np.eye(rows.shape[1])
    inverse = np.linalg.inv(penalised)
    solution = inverse @ ((rows.T * weights) @ targets)
    leverage = weights * np.einsum("nr,nr->n", rows @ inverse, rows)
    left_out = (rows @ solution - leverage[:, None] * targets) / (1 - leverage)[:, None]
    tested = (counts[classes] > 1) & ~has_copies
    slope = _slope(left_out[tested][:, known], np.searchsorted(known, classes[tested]))
    plane = solution.T @ basis
    return _scaled(plane, -plane @ mean, slope)


def _rotated(rows: Doubles) -> tuple[Doubles, Doubles]:
    """The same rows (n, r) in an orthonormal basis (r, d) of their space, where that is smaller."""
    if len(rows) >= rows.shape[1]:
        return rows, np.eye(rows.shape[1])
    columns, corner = np.linalg.qr(rows.T)
    return corner.T, columns.T


def _slope(predictions: Doubles, classes: Integers) -> float:
    """Inverse temperature by the likelihood of left-out shots of classes (k,), given (k, c)."""
    own = np.arange(len(classes)), classes
    found = []
    for factor in FACTORS:
        logits = factor / TEMPERATURE * predictions
        top = logits.max(axis=1, initial=-np.inf)
        likelihood = logits[own] - top - np.log(np.exp(logits - top[:, None]).sum(axis=1))
        found.append(likelihood.sum() - 0.5 * (np.log(factor) / SPREAD) ** 2)
    return float(FACTORS[int(np.argmax(found))]) / TEMPERATURE


def _scaled(plane: Doubles, offsets: Doubles, slope: float) -> LinearClassifier:
    narrow = np.zeros(len(offsets), dtype=np.float32)
    weights = (slope * plane).astype(np.float32)
    return LinearClassifier(weights, (slope * offsets).astype(np.float32), narrow, 1 / slope)
