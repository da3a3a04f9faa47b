"""Folded images next to each other, and as one card: array operations."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.image_grid.folded import FoldedCards, ShownImages, together
from engine.collection.folding.folds import Folds
from engine.collection.folding.partitions import ALONE

IDS = np.arange(10, 20)


def folds(
    groups: list[int], seconds: list[int] | None = None, sharpness: list[float] | None = None
) -> Folds:
    """Folds of ten images; with times, the first image represents its fold."""
    given_groups = np.array(groups)
    return Folds(
        IDS,
        given_groups,
        given_groups,
        given_groups,
        np.array(sharpness or [np.nan] * 10, dtype=np.float32),
        np.array(seconds or list(range(10))),
        given_groups,
    )


MADE = folds([0, ALONE, 1, 0, ALONE, 1, 0, ALONE, ALONE, ALONE])


def test_a_fold_stands_where_its_first_image_stands() -> None:
    """By time, image 0 represents its fold, wherever the others are in the order."""
    ranked = np.array([6, 1, 0, 5, 2, 3, 4], dtype=np.int32)
    assert together(ranked, IDS, MADE).tolist() == [1, 0, 3, 6, 2, 5, 4]
    assert together(ranked, IDS, MADE, keeps_first=True).tolist() == [6, 0, 3, 1, 5, 2, 4]


def test_the_sharpest_one_stands_for_a_fold_once_all_are_known() -> None:
    known = folds(MADE.groups.tolist(), sharpness=[1, 0, 2, 5, 0, 9, 3, 0, 0, 0])
    assert together(np.arange(7, dtype=np.int32), IDS, known).tolist() == [1, 3, 6, 0, 4, 5, 2]
    half = folds(MADE.groups.tolist(), sharpness=[1, 0, 2, np.nan, 0, 9, 3, 0, 0, 0])
    assert together(np.arange(7, dtype=np.int32), IDS, half).tolist() == [0, 3, 6, 1, 4, 5, 2]


def test_cards_by_hand() -> None:
    """Three cards for six images; the unfolded one has a card for each image."""
    shown, groups = np.array([1, 0, 3, 6, 2, 5], dtype=np.int32), np.array([ALONE, 0, 0, 0, 1, 1])
    cards = FoldedCards.of(shown, groups)
    assert cards.positions.tolist() == [1, 0, 2]
    assert [cards.under(card).tolist() for card in range(3)] == [[1], [0, 3, 6], [2, 5]]
    unfolded = FoldedCards.of(shown, groups, {0})
    assert unfolded.positions.tolist() == [1, 0, 3, 6, 2]
    assert unfolded.turns.tolist() == [0, 0, 1, 2, 0, 1]
    assert unfolded.sizes.tolist() == [1, 3, 3, 3, 2, 2]


@pytest.mark.slow
@given(st.permutations(range(10)), st.lists(st.integers(ALONE, 3), min_size=10, max_size=10))
def test_no_image_is_lost_and_every_fold_is_one_card(order: list[int], groups: list[int]) -> None:
    made = folds(groups)
    ranked = together(np.array(order, dtype=np.int32), IDS, made)
    assert sorted(ranked.tolist()) == list(range(10))
    cards = FoldedCards.of(ranked, made.of(IDS[ranked]))
    expected = len({group for group in groups if group != ALONE}) + groups.count(ALONE)
    assert len(cards.positions) == expected
    assert (
        np.concatenate([cards.under(card) for card in range(expected)]).tolist() == ranked.tolist()
    )


def test_single_images_are_cards_of_their_own() -> None:
    shown = np.arange(4, dtype=np.int32)
    plain, counted = FoldedCards.of_single(shown), FoldedCards.of(shown, np.full(4, ALONE))
    assert plain.positions.tolist() == counted.positions.tolist() == [0, 1, 2, 3]
    assert plain.sizes.tolist() == counted.sizes.tolist()


def test_rows_are_found_near_and_far() -> None:
    """From any starting row; also where several or no images have a card."""
    listed = np.arange(0, 2000, 2)
    shown = ShownImages(listed, np.random.default_rng(0).permutation(1000)[:900].astype(np.int32))
    ids = shown.at(slice(None)).tolist()
    for near in (0, 450, 899, 5000):
        for row in (0, 1, 449, 450, 898, 899):
            assert shown.rows_of((ids[row],), near).tolist() == [row]
    assert shown.rows_of((ids[7], ids[3], 1, 5000)).tolist() == [3, 7]
    assert shown.rows_of((1,)).tolist() == shown.rows_of(()).tolist() == []
    absent = np.setdiff1d(listed, ids)
    assert shown.rows_of((int(absent[0]),), 450).tolist() == []
