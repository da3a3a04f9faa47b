"""Logistic regression on the shots' embeddings, with several strengths of regularisation."""

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from research.transfer.task import FewShotTask, Matrix

if TYPE_CHECKING:
    from sklearn.linear_model import LogisticRegression

STRENGTHS = {"plain": (10.0, 100.0, 1e3, 1e4), "standardised": (0.01, 0.1, 1.0, 10.0)}
"""C of scikit-learn, the inverse of the regularisation; standardised embeddings are longer."""
DEFAULT = "standardised, C = 1"
"""Scikit-learn's default strength, on embeddings prepared as in its guide."""
ITERATIONS = 500


def predict(task: FewShotTask) -> Mapping[str, NDArray[np.int64]]:
    """Fit each option to the shots and classify the queries.

    Returns:
        Class (q,) int64 of each query by option. Standardising takes the mean and spread of all
        images of the task.
    """
    features = {"plain": spanned(task), "standardised": spanned(standardised(task))}
    return {
        f"{name}, C = {strength:g}": fitted(features[name], strength)
        for name, strengths in STRENGTHS.items()
        for strength in strengths
    }


def standardised(task: FewShotTask) -> FewShotTask:
    """The task standardised: each feature has mean 0 and deviation 1 over all its images."""
    images = np.concatenate([task.support, task.queries])
    mean, spread = images.mean(axis=0), np.maximum(images.std(axis=0), np.float32(1e-6))

    def standardise(vectors: Matrix) -> Matrix:
        return ((vectors - mean) / spread).astype(np.float32)

    return task.with_features(standardise(task.support), standardise(task.queries))


def spanned(task: FewShotTask) -> FewShotTask:
    """The task in coordinates of the span of the shots, where these are fewer than features.

    Weights of minimal norm are in that space, so the fit is the same, in a fraction of the time.
    """
    if len(task.support) >= task.support.shape[1]:
        return task
    basis = np.linalg.qr(task.support.T)[0]
    return task.with_features(task.support @ basis, task.queries @ basis)


def fitted(task: FewShotTask, strength: float, iterations: int = ITERATIONS) -> NDArray[np.int64]:
    """Class (q,) of each query by a fit to the shots.

    Args:
        task: shots and queries.
        strength: C.
        iterations: after which the fit stops, converged or not.
    """
    return np.asarray(_model(task, strength, iterations).predict(task.queries), dtype=np.int64)


def logits_of(task: FewShotTask, strength: float) -> Matrix:
    """Logits (q, ways) of each query by a fit to the shots, normalised.

    Args:
        task: shots and queries.
        strength: C.
    """
    return np.asarray(
        _model(task, strength, ITERATIONS).predict_log_proba(task.queries), dtype=np.float32
    )


def _model(task: FewShotTask, strength: float, iterations: int) -> "LogisticRegression":
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=strength, max_iter=iterations)
    with warnings.catch_warnings():
        # Few shots a class, or not converged: both are expected.
        warnings.simplefilter("ignore", UserWarning)
        model.fit(task.support, task.classes)
    return model
