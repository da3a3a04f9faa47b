"""Figures of `train` and of `val` separately: photos of a shot's series inflate accuracy."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from engine.graph.codes import NO_CLASS
from research.transfer.collection import PARTS, TransferCollection
from research.transfer.draws import ShotDraw
from research.transfer.results import BALANCED, MACRO_F1, TOP1, Figures


def figure_of(name: str, part: str | None) -> str:
    """Name of a figure of one part; that of all scored images has no suffix."""
    return name if part is None else f"{name}_{part}"


def by_part(
    collection: TransferCollection,
    rows: NDArray[np.int64],
    score: Callable[[NDArray[np.bool_]], Figures],
) -> Figures:
    """Figures of all scored images, and of each part where both parts have some.

    Args:
        collection: the images.
        rows: (k,) scored rows.
        score: figures of the images in a mask (k,).
    """
    found = dict(score(np.ones(len(rows), dtype=bool)))
    is_train = collection.is_train[rows]
    if is_train.any() and not is_train.all():
        for part, chosen in zip(PARTS, (is_train, ~is_train), strict=True):
            found |= {figure_of(name, part): value for name, value in score(chosen).items()}
    return found


def scored(collection: TransferCollection, drawn: ShotDraw) -> NDArray[np.int64]:
    """Rows of the unlabelled images whose leaf is known."""
    return drawn.unlabelled[collection.class_ids[drawn.unlabelled] != NO_CLASS]


def accuracies_of(answers: NDArray[np.int64], given: NDArray[np.int64]) -> Figures:
    """Accuracy, and the means over present classes of recall and of F1.

    Args:
        answers: (k,) class ids of the scored images, k > 0.
        given: (k,) predicted class ids.
    """
    is_right = given == answers
    classes, of_class, sizes = np.unique(answers, return_inverse=True, return_counts=True)
    hits = np.bincount(of_class, weights=is_right, minlength=len(classes))
    among = np.searchsorted(classes, given[np.isin(given, classes)])
    times_given = np.bincount(among, minlength=len(classes))
    return {
        TOP1: float(is_right.mean()),
        BALANCED: float((hits / sizes).mean()),
        MACRO_F1: float((2 * hits / (sizes + times_given)).mean()),
    }
