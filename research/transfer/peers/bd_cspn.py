"""BD-CSPN: prototypes rectified by confident pseudo-labels, after correcting the shift.

Source: Liu, Song, Qin: Prototype Rectification for Few-Shot Learning, ECCV 2020.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from research.transfer.task import FewShotTask, Matrix, centred, unit_rows

SCALE = 10.0
"""Epsilon of the paper: multiplies cosines before the exponential."""
CONFIDENT = 8
"""Z of the paper: pseudo-labelled images that each class takes."""
DEFAULT = "as they are, 8 of a class"
"""The paper's."""


@dataclass(frozen=True)
class Rectified:
    """Prototypes (ways, d) of length 1 and the shifted queries (q, d) of length 1."""

    prototypes: Matrix
    queries: Matrix


def predict(task: FewShotTask) -> Mapping[str, NDArray[np.int64]]:
    """Classify by cosine to the rectified prototypes.

    Returns:
        Class (q,) int64 of each query by option: whether the images are centred, and how many of
        the pseudo-labelled images of a class count.
    """
    found: dict[str, NDArray[np.int64]] = {}
    for name, features in (("as they are", task), ("centred", centred(task))):
        for most in (CONFIDENT, None):
            moved = rectified(features, most)
            count = "all" if most is None else str(most)
            found[f"{name}, {count} of a class"] = (moved.queries @ moved.prototypes.T).argmax(
                axis=1
            )
    return found


def rectified(task: FewShotTask, most: int | None = None) -> Rectified:
    """Rectify the prototypes by their most probable queries (Eq. 4 to 8).

    Args:
        task: shots and queries.
        most: pseudo-labelled queries that a class takes, the most confident ones; all when None.
    """
    shift = task.support.mean(axis=0) - task.queries.mean(axis=0)
    support, queries = unit_rows(task.support), unit_rows(task.queries + shift)
    basic = unit_rows(task.prototypes())
    chosen = _pseudo_labels(queries @ basic.T, most)
    images = np.concatenate([support, queries])
    belongs = np.concatenate([task.one_hot, chosen])
    weights = belongs * np.exp(SCALE * (images @ basic.T))
    weights /= weights.sum(axis=0, keepdims=True)
    return Rectified(unit_rows((weights.T @ images).astype(np.float32)), queries)


def _pseudo_labels(cosines: Matrix, most: int | None) -> Matrix:
    """(q, ways): 1 for the top class of a query, if among the most confident of that class."""
    best = cosines.argmax(axis=1)
    labels = np.zeros_like(cosines)
    labels[np.arange(len(best)), best] = 1
    if most is None:
        return labels
    powers = np.exp(SCALE * (cosines - cosines.max(axis=1, keepdims=True)))
    confidence = labels * (1 / powers.sum(axis=1, keepdims=True))
    ranks = np.argsort(np.argsort(-confidence, axis=0, kind="stable"), axis=0, kind="stable")
    return np.where(ranks < most, labels, np.float32(0))
