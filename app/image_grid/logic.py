"""Which images the grid shows and in what order. No Qt."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from app.class_tree.logic import Shelf
from engine.collection.state import NO_CLASS, UNKNOWN, CollectionState, ImageStatus


class Order(StrEnum):
    """How images follow each other."""

    UNSURE_FIRST = "unsure_first"
    SUREST_FIRST = "surest_first"
    CLASS = "class"
    ADDED = "added"


@dataclass(frozen=True)
class ImageFilter:
    """What to show.

    Attributes:
        shelf: a view of the whole collection.
        class_ids: a class and all below it; None for every class.
    """

    shelf: Shelf = Shelf.ALL
    class_ids: frozenset[int] | None = None


def shown_class(state: CollectionState) -> NDArray[np.int64]:
    """(n,) the class each card stands for: the person's, else the likeliest; `NO_CLASS` where unknown."""
    predicted = np.where(state.is_unknown, NO_CLASS, state.best_class)
    return np.where(state.label_class != NO_CLASS, state.label_class, predicted)


def fitting(state: CollectionState, wanted: ImageFilter) -> NDArray[np.bool_]:
    """(n,) which images a filter lets through."""
    is_unlabelled = state.label_class == NO_CLASS
    has_failed = state.status == ImageStatus.FAILED
    shelves: dict[Shelf, Callable[[], NDArray[np.bool_]]] = {
        Shelf.ALL: lambda: np.ones(len(state.image_ids), dtype=bool),
        Shelf.TO_REVIEW: lambda: is_unlabelled & ~has_failed,
        Shelf.LABELLED: lambda: ~is_unlabelled,
        Shelf.UNKNOWN: lambda: (is_unlabelled & state.is_unknown) | (state.label_class == UNKNOWN),
        Shelf.FAILED: lambda: has_failed,
    }
    fits = shelves[wanted.shelf]()
    if wanted.class_ids is not None:
        fits &= np.isin(shown_class(state), np.fromiter(wanted.class_ids, dtype=np.int64))
    return fits


def positions(state: CollectionState, wanted: ImageFilter, order: Order) -> NDArray[np.int64]:
    """Positions in the state of the images to show, in order; a person's own images come first within a class."""
    chosen = np.flatnonzero(fitting(state, wanted))
    if order is Order.ADDED or len(chosen) == 0:
        return chosen
    score = np.where(state.status[chosen] == ImageStatus.READY, state.best_score[chosen], np.float32(2))
    if order is Order.CLASS:
        is_predicted = state.label_class[chosen] == NO_CLASS
        return chosen[np.lexsort((-score, is_predicted, shown_class(state)[chosen]))]
    is_labelled = state.label_class[chosen] != NO_CLASS
    ranked = score if order is Order.UNSURE_FIRST else -np.where(score > 1, -1, score)
    return chosen[np.lexsort((ranked, is_labelled))]
