"""Sampling for an audit: random, without replacement, with predictions."""

from collections import Counter

import numpy as np
import pytest

from engine.collection.state import NO_CLASS, CollectionState, ImageStatus
from engine.errors import InputError
from engine.evaluation.audit.draw import (
    FEWEST_OF_STRATUM,
    DrawnAudit,
    draw_audit,
    next_size,
    population_of,
)
from tests.support.states import Picture, many_pictures, state_of


def drawn_of(
    state: CollectionState, size: int, *, is_stratified: bool = False, seed: int = 0
) -> DrawnAudit:
    return draw_audit(state, size, is_stratified=is_stratified, random=np.random.default_rng(seed))


def test_only_unlabelled_images_with_a_prediction_are_drawn() -> None:
    ready = Picture(best=5, score=0.8)
    waiting, labelled = Picture(status=ImageStatus.WAITING), Picture(label=5, best=5, score=0.8)
    failed = Picture(best=5, score=0.8, status=ImageStatus.FAILED)
    state = state_of([labelled, ready, waiting, failed, ready])
    assert state.image_ids[population_of(state)].tolist() == [12, 15]
    drawn = drawn_of(state, 20)
    assert ({item.image_id for item in drawn.items}, drawn.size, drawn.population) == (
        {12, 15},
        2,
        2,
    )
    with pytest.raises(InputError, match="nothing to check"):
        drawn_of(state_of([labelled, waiting]), 20)


def test_what_is_claimed_is_remembered() -> None:
    """An unknown image has no predicted class.

    An uncertain one has no safe class.
    """
    sure = Picture(best=5, score=0.75, safe=3, safe_score=0.875)
    state = state_of(
        [sure, Picture(best=5, score=0.5), Picture(best=5, score=0.25, is_unknown=True)]
    )
    items = {item.image_id: item for item in drawn_of(state, 20).items}
    claims = [
        (items[each].class_id, items[each].score, items[each].safe_class_id)
        for each in (11, 12, 13)
    ]
    assert claims == [(5, 0.75, 3), (5, 0.5, None), (None, 0.25, None)]
    assert (items[11].safe_score, items[11].stratum, items[11].stratum_size) == (0.875, 0, 3)


def test_the_largest_audit_is_drawn_at_once_so_that_it_can_grow() -> None:
    """Two hundred distinct images in order, dependent on the seed only."""
    state = many_pictures(1_000)
    drawn = drawn_of(state, 20)
    assert (len({item.image_id for item in drawn.items}), drawn.size, drawn.population) == (
        200,
        20,
        1_000,
    )
    assert [item.place for item in drawn.items] == list(range(200))
    assert drawn_of(state, 20) == drawn
    assert drawn_of(state, 20, seed=1) != drawn
    assert [next_size(size) for size in (20, 50, 77, 200)] == [50, 100, 100, 200]


def test_every_image_has_the_same_chance() -> None:
    """Each of ten images is first about 60 times of 600."""
    state, random = many_pictures(10), np.random.default_rng(3)
    firsts = Counter(draw_audit(state, 20, random=random).items[0].image_id for _ in range(600))
    assert len(firsts) == 10
    assert max(firsts.values()) < 100


def test_strata_are_the_large_safe_classes_and_get_some_images_each() -> None:
    """Of 600 uncertain images, 300 gulls, 8 auks and small classes, at least three each."""
    counts = {NO_CLASS: 600, 5: 300, 6: 8, 7: 2, 8: 1}
    pictures = [
        Picture(best=5, score=0.9, safe=safe, safe_score=0.9)
        for safe, count in counts.items()
        for _ in range(count)
    ]
    state = state_of(pictures)
    drawn = drawn_of(state, 20, is_stratified=True)
    assert sorted({(item.stratum, item.stratum_size) for item in drawn.items}) == [
        (0, 600),
        (1, 300),
        (2, 11),
    ]
    asked = Counter(item.stratum for item in drawn.items[: drawn.size])
    assert asked == {0: 11, 1: 6, 2: FEWEST_OF_STRATUM}
    of_safe = {None: 0, 5: 1, 6: 2, 7: 2, 8: 2}
    assert all(item.stratum == of_safe[item.safe_class_id] for item in drawn.items)
    assert len({item.image_id for item in drawn.items}) == len(drawn.items)
    grown = Counter(item.stratum for item in drawn.items)
    assert grown[0] / 600 == pytest.approx(grown[1] / 300, abs=0.01)


def test_a_small_population_is_drawn_whole() -> None:
    drawn = drawn_of(many_pictures(30), 50, is_stratified=True)
    assert (len(drawn.items), drawn.size, drawn.population) == (30, 30, 30)
