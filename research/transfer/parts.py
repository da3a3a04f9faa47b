"""Figures of the photos of `train` and of `val` apart: photos of a shot's own series flatter every method."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from engine.graph.codes import NO_CLASS
from research.transfer.collection import PARTS, TransferCollection
from research.transfer.draws import ShotDraw
from research.transfer.results import BALANCED, MACRO_F1, TOP1, Figures


def figure_of(name: str, part: str | None) -> str:
    """What a figure of one part is called; that of all scored images bears its plain name."""
    return name if part is None else f"{name}_{part}"


def by_part(
    collection: TransferCollection,
    rows: NDArray[np.int64],
    score: Callable[[NDArray[np.bool_]], Figures],
) -> Figures:
    """Figures of all scored images, and those of each part where both parts have some.

    Args:
        collection: the images.
        rows: (k,) scored ones.
        score: gives the figures of those that a mask (k,) chooses.
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
    """Share of right images, and the means over the classes that are there of recall and of F1.

    Args:
        answers: (k,) class ids of the scored images, k > 0.
        given: (k,) class ids that a method gives them.
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
