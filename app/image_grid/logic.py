"""In what order the grid shows images. No Qt."""

from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from app.session.subsets import shown_class
from engine.collection.state import NO_CLASS, CollectionState, ImageStatus


class Order(StrEnum):
    """How images follow each other."""

    UNSURE_FIRST = "unsure_first"
    SUREST_FIRST = "surest_first"
    CLASS = "class"
    ADDED = "added"
    TEACH_FIRST = "teach_first"


def in_order(state: CollectionState, chosen: NDArray[np.int64], order: Order) -> NDArray[np.int64]:
    """Positions of images, sorted; a person's own images come first within a class.

    An unknown image is the least sure of all: its score only says which class it would be if it were one of them. While
    nobody knows yet what to label first, the least sure stand in for it.
    """
    if order is Order.ADDED or len(chosen) == 0:
        return chosen
    known = np.where(state.is_unknown[chosen], np.float32(0), state.best_score[chosen])
    score = np.where(state.status[chosen] == ImageStatus.READY, known, np.float32(2))
    if order is Order.CLASS:
        is_predicted = state.label_class[chosen] == NO_CLASS
        return chosen[np.lexsort((-score, is_predicted, shown_class(state)[chosen]))]
    is_labelled = state.label_class[chosen] != NO_CLASS
    if order is Order.TEACH_FIRST and state.teach_rank is not None:
        return chosen[np.lexsort((state.teach_rank[chosen], is_labelled))]
    ranked = -np.where(score > 1, -1, score) if order is Order.SUREST_FIRST else score
    return chosen[np.lexsort((ranked, is_labelled))]
