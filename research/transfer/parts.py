"""Figures of the photos of `train` and of `val` apart: photos of a shot's own series flatter every method."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from engine.graph.codes import NO_CLASS
from research.transfer.collection import PARTS, TransferCollection
from research.transfer.draws import ShotDraw
from research.transfer.results import Figures


def figure_of(name: str, part: str | None) -> str:
    """What a figure of one part is called; that of all scored images bears its plain name."""
    return name if part is None else f"{name}_{part}"


def by_part(
    collection: TransferCollection, rows: NDArray[np.int64], score: Callable[[NDArray[np.bool_]], Figures]
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
