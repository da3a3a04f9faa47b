"""Filters and orders of images, with expected values worked out by hand."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from app.image_grid.held_order import HeldOrder, Order
from app.session.subsets import ImageFilter, Subset, fitting, shown_class
from engine.collection.state import NO_CLASS, UNKNOWN, CollectionState, ImageStatus
from tests.support.states import Picture, state_of

GULL, SEAL = 4, 6


def positions(state: CollectionState, wanted: ImageFilter, order: Order) -> NDArray[np.int32]:
    """Positions of the shown images, in order."""
    return HeldOrder.sorted_now(state, wanted, order).shown


PICTURES = (
    Picture(label=GULL, best=GULL, score=0.99),  # 0
    Picture(best=GULL, score=0.9, safe=GULL, safe_score=0.9),  # 1
    Picture(best=SEAL, score=0.4),  # 2
    Picture(best=GULL, score=0.6, is_unknown=True),  # 3
    Picture(label=UNKNOWN, best=SEAL, score=0.7),  # 4
    Picture(status=ImageStatus.WAITING),  # 5
    Picture(status=ImageStatus.FAILED),  # 6
    Picture(label=SEAL, best=GULL, score=0.3),  # 7
)


@pytest.fixture
def state() -> CollectionState:
    """Eight images, one of each kind."""
    return state_of(PICTURES)


@pytest.mark.parametrize(
    ("subset", "places"),
    [
        (Subset.ALL, range(8)),
        (Subset.TO_REVIEW, (1, 2, 3, 5)),
        (Subset.LABELLED, (0, 4, 7)),
        (Subset.UNKNOWN, (3, 4)),
        (Subset.FAILED, (6,)),
    ],
)
def test_a_subset_holds_its_images(
    subset: Subset, places: tuple[int, ...], state: CollectionState
) -> None:
    """Exactly the images of the subset."""
    assert np.flatnonzero(fitting(state, ImageFilter(subset))).tolist() == list(places)


def test_a_card_stands_for_the_persons_word_first(state: CollectionState) -> None:
    """A label precedes a prediction; an unknown image has no class."""
    assert shown_class(state).tolist() == [
        GULL,
        GULL,
        SEAL,
        NO_CLASS,
        UNKNOWN,
        NO_CLASS,
        NO_CLASS,
        SEAL,
    ]


def test_a_class_shows_what_stands_for_it(state: CollectionState) -> None:
    """Labelled and predicted images of a branch, also combined with a subset."""
    assert positions(state, ImageFilter(class_ids=frozenset({GULL})), Order.ADDED).tolist() == [
        0,
        1,
    ]
    both = ImageFilter(Subset.TO_REVIEW, frozenset({GULL, SEAL}))
    assert positions(state, both, Order.ADDED).tolist() == [1, 2]
    assert positions(state, ImageFilter(class_ids=frozenset()), Order.ADDED).tolist() == []


@pytest.mark.parametrize(
    ("order", "places"),
    [
        (Order.ADDED, [0, 1, 2, 3, 4, 5, 6, 7]),
        (Order.UNSURE_FIRST, [3, 2, 1, 5, 6, 7, 4, 0]),
        (Order.SUREST_FIRST, [1, 2, 3, 5, 6, 0, 4, 7]),
    ],
)
def test_orders(order: Order, places: list[int], state: CollectionState) -> None:
    """Decided images come last; images without a score are last within their kind.

    The unknown image is the least certain, although its score is not the lowest.
    """
    assert positions(state, ImageFilter(), order).tolist() == places


@pytest.mark.parametrize(
    ("ranks", "places"),
    [
        ([3, 1, 0, 2, 3, 3, 3, 3], [2, 1, 3, 5, 6, 0, 4, 7]),
        (None, [3, 2, 1, 5, 6, 7, 4, 0]),
    ],
)
def test_what_teaches_most_comes_first(
    ranks: list[int] | None, places: list[int], state: CollectionState
) -> None:
    """Images are sorted by rank, decided ones last; without ranks by least certainty."""
    known = replace(state, teach_rank=None if ranks is None else np.array(ranks, dtype=np.int32))
    assert positions(known, ImageFilter(), Order.TEACH_FIRST).tolist() == places


def test_by_class_the_persons_own_images_come_first(state: CollectionState) -> None:
    """Gulls first, labelled before predicted ones; then seals."""
    found = positions(state, ImageFilter(class_ids=frozenset({GULL, SEAL})), Order.CLASS).tolist()
    assert found == [0, 1, 7, 2]


def test_equal_scores_keep_the_order_in_which_they_were_added() -> None:
    """Ties are sorted stably in every order."""
    state = state_of([Picture(best=GULL, score=0.5)] * 5)
    for order in Order:
        assert positions(state, ImageFilter(), order).tolist() == [0, 1, 2, 3, 4]
