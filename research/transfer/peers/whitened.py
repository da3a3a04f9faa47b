"""A peer on whitened embeddings, the preparation of the everyday model."""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from research.transfer.task import FewShotTask, Matrix, unit_rows

ALL = "all images"
LOOK_ALIKES = "look-alikes"
NEIGHBOURS = 3
"""Neighbours of an image for mutual look-alikes."""
LEAST_SHRINKAGE = 0.1
"""Least share of the mean variance in the variance of each direction."""
LEAST_VARIANCE = 1e-7
"""Summed variance below which no direction can be estimated."""
BLOCK = 2048
"""Images whose neighbours are searched at once."""


def predict_whitened(
    predict: Callable[[FewShotTask], Mapping[str, NDArray[np.int64]]], task: FewShotTask
) -> Mapping[str, NDArray[np.int64]]:
    """Classify after whitening, by how all images of the task differ and by how look-alikes differ.

    Not part of the peers' papers. Compared with the plain peer, it shows the effect of the
    preparation.

    Args:
        predict: the peer.
        task: shots and queries; unchanged where all images are equal.

    Returns:
        Class (q,) int64 of each query by kind of whitening and option of the peer.
    """
    images = np.concatenate([task.support, task.queries])
    mean = images.mean(axis=0)
    found: dict[str, NDArray[np.int64]] = {}
    for name, differences in (
        (ALL, images - mean),
        (LOOK_ALIKES, differences_of_look_alikes(images)),
    ):
        scales = whitening_by(differences)
        prepared = task
        if scales is not None:
            prepared = task.with_features(
                *(unit_rows((each - mean) @ scales) for each in (task.support, task.queries))
            )
        found |= {f"{name}, {option}": classes for option, classes in predict(prepared).items()}
    return found


def default_of(option: str) -> str:
    """Default of a whitened peer: its own default, whitened by look-alikes."""
    return f"{LOOK_ALIKES}, {option}"


def differences_of_look_alikes(images: Matrix) -> Matrix:
    """Differences (p, d) between images (n, d) that are mutual nearest neighbours, by cosine."""
    unit = unit_rows(images)
    count = min(NEIGHBOURS, len(images) - 1)
    is_near = np.zeros((len(images), len(images)), dtype=bool)
    for start in range(0, len(images), BLOCK):
        cosines = unit[start : start + BLOCK] @ unit.T
        rows = np.arange(len(cosines))
        cosines[rows, start + rows] = -np.inf
        nearest = np.argpartition(-cosines, count - 1, axis=1)[:, :count]
        is_near[start + rows[:, None], nearest] = True
    first, second = np.nonzero(np.triu(is_near & is_near.T))
    return images[first] - images[second]


def whitening_by(differences: Matrix) -> Matrix | None:
    """Whitening matrix (d, d) of differences (p, d), with shrunk covariance.

    Their covariance is shrunk towards the mean variance, the more so the fewer there are.

    Returns:
        None where all differences are zero.
    """
    count, width = differences.shape
    covariance = (differences.T @ differences).astype(np.float64) / max(1, count)
    variance, directions = np.linalg.eigh(covariance)
    variance = np.maximum(variance, 0)
    if variance.sum() < LEAST_VARIANCE:
        return None
    shrinkage = max(LEAST_SHRINKAGE, width / (count + width))
    shrunk = (1 - shrinkage) * variance + shrinkage * variance.mean()
    return (directions / np.sqrt(shrunk)).astype(np.float32)
