"""The held order of cards during review."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from app.image_grid.held_order import HeldOrder, Order, sorted_places
from app.session.subsets import ImageFilter, Subset
from engine.collection.state import NO_CLASS, CollectionState, ImageStatus, changed_images
from tests.support.states import Picture, many_pictures, state_of

TO_REVIEW = ImageFilter(Subset.TO_REVIEW)
SCORES = (0.9, 0.2, 0.6, 0.4)  # least certain first: 12, 14, 13, 11


@pytest.fixture
def state() -> CollectionState:
    """Four images to review."""
    return state_of([Picture(best=3, score=score) for score in SCORES])


@pytest.fixture
def held(state: CollectionState) -> HeldOrder:
    """The cards sorted least certain first."""
    return HeldOrder.sorted_now(state, TO_REVIEW, Order.UNSURE_FIRST)


def ids(held: HeldOrder) -> list[int]:
    """Image ids in the order shown."""
    return held.state.image_ids[held.shown].tolist()


def with_labels(state: CollectionState, labels: dict[int, int]) -> CollectionState:
    """The state with other labels."""
    codes = state.label_class.copy()
    for image_id, code in labels.items():
        codes[state.position(image_id)] = code
    return replace(state, label_class=codes)


def with_best(state: CollectionState, best: Sequence[int]) -> CollectionState:
    """The state with other predictions."""
    return replace(state, best_class=np.array(best), best_score=1 - state.best_score)


def followed(held: HeldOrder, state: CollectionState, wanted: ImageFilter = TO_REVIEW) -> HeldOrder:
    """The same order for a newer state."""
    return held.followed(state, wanted, Order.UNSURE_FIRST)


def test_a_finished_card_leaves_and_an_undo_brings_it_back_to_its_place(held: HeldOrder) -> None:
    """The order of the others does not change."""
    assert ids(held) == [12, 14, 13, 11]
    labelled = followed(held, with_labels(held.state, {14: 3}))
    assert ids(labelled) == [12, 13, 11]
    assert ids(followed(labelled, with_labels(labelled.state, {14: NO_CLASS}))) == [12, 14, 13, 11]


def test_new_predictions_move_nothing_and_are_counted(held: HeldOrder) -> None:
    """Two of three cards have another prediction; the labelled one does not count."""
    labelled = followed(held, with_labels(held.state, {11: 3}))
    thought = followed(labelled, with_best(labelled.state, [4, 4, 4, 3]))
    assert ids(thought) == [12, 14, 13]
    assert (labelled.changed_predictions(TO_REVIEW), thought.changed_predictions(TO_REVIEW)) == (
        0,
        2,
    )
    anew = HeldOrder.sorted_now(thought.state, TO_REVIEW, Order.UNSURE_FIRST)
    assert (ids(anew), anew.changed_predictions(TO_REVIEW)) == ([13, 14, 12], 0)


def test_a_card_stays_in_its_class_until_it_is_sorted_anew(state: CollectionState) -> None:
    """Its prediction may change while it is being reviewed."""
    of_class = ImageFilter(class_ids=frozenset({3}))
    held = HeldOrder.sorted_now(state, of_class, Order.UNSURE_FIRST)
    thought = followed(held, with_best(state, [4, 3, 3, 3]), of_class)
    assert ids(thought) == [12, 14, 13, 11]
    assert thought.changed_predictions(of_class) == 1
    assert ids(HeldOrder.sorted_now(thought.state, of_class, Order.UNSURE_FIRST)) == [13, 14, 12]


def test_images_that_would_come_are_counted_too(state: CollectionState) -> None:
    """One card would leave the class and one image would join it: both are counted."""
    of_class = ImageFilter(class_ids=frozenset({3}))
    held = HeldOrder.sorted_now(with_best(state, [3, 3, 3, 4]), of_class, Order.UNSURE_FIRST)
    thought = followed(held, with_best(held.state, [4, 3, 3, 3]), of_class)
    assert sorted(ids(thought)) == [11, 12, 13]
    assert thought.changed_predictions(of_class) == 2


def test_an_image_that_stays_unknown_did_not_change_class(held: HeldOrder) -> None:
    """The nearest class of an unknown image is not its class, as in other counts of changes."""
    strange = replace(held.state, is_unknown=np.ones(4, dtype=bool))
    anew = HeldOrder.sorted_now(strange, TO_REVIEW, Order.UNSURE_FIRST)
    after = followed(anew, with_best(strange, [4, 4, 3, 3]))
    assert (
        after.changed_predictions(TO_REVIEW)
        == changed_images(strange, after.state).other_class
        == 0
    )
    known = followed(anew, replace(after.state, is_unknown=np.array([True, False, False, True])))
    assert (
        known.changed_predictions(TO_REVIEW)
        == changed_images(strange, known.state).other_class
        == 2
    )


def test_new_images_come_last_and_removed_ones_leave(held: HeldOrder) -> None:
    """Image 11 is removed, 15 and 16 are added; the others keep their order."""
    grown = state_of(
        [Picture(best=3, score=score) for score in (*SCORES[1:], 0.5, 0.1)], first_id=12
    )
    after = followed(held, grown)
    assert ids(after) == [12, 14, 13, 16, 15]
    assert after.changed_predictions(TO_REVIEW) == 2


def test_a_file_that_cannot_be_read_leaves_those_to_review(held: HeldOrder) -> None:
    """It is in another subset, and returns when it can be read."""
    status = held.state.status.copy()
    status[0] = ImageStatus.FAILED
    broken = followed(held, replace(held.state, status=status))
    assert ids(broken) == [12, 14, 13]
    assert ids(followed(broken, replace(broken.state, status=np.zeros_like(status)))) == [
        12,
        14,
        13,
        11,
    ]


def test_a_project_without_images(held: HeldOrder) -> None:
    """All images are removed, and others are added."""
    empty = followed(held, state_of([]))
    assert (ids(empty), empty.changed_predictions(TO_REVIEW)) == ([], 0)
    assert ids(followed(empty, state_of([Picture(best=3, score=0.5)]))) == [11]


@pytest.mark.slow
@given(
    values=st.lists(
        st.sampled_from([0.0, -0.0, 0.25, -0.25, 1.0, 2.0, 1e-30, -1e30])
        | st.floats(-2, 2, width=32)
    ),
    seed=st.integers(0, 9),
)
def test_places_are_those_of_a_stable_sort(values: list[float], seed: int) -> None:
    """Floats and integers, stable for ties, with some values moved to the end."""
    scores = np.array(values, dtype=np.float32)
    last = np.random.default_rng(seed).random(len(values)) < 0.4
    assert sorted_places(scores).tolist() == np.argsort(scores, kind="stable").tolist()
    assert sorted_places(scores, last=last).tolist() == np.lexsort((scores, last)).tolist()
    numbers = (scores * 100).clip(-1e6, 1e6).astype(np.int64)
    expected = np.lexsort((numbers, last)).tolist()
    assert sorted_places(numbers, last=last).tolist() == expected
    assert sorted_places(numbers.astype(np.int32), last=last).tolist() == expected


def test_places_of_numbers_that_are_far_apart() -> None:
    """Too far apart for packing values and positions into one integer."""
    assert sorted_places(np.array([2**40, -(2**40), 7, 7])).tolist() == [1, 2, 3, 0]


@pytest.mark.slow
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["label", "unlabel", "fail", "predict", "add"]), st.integers(0, 10**6)
        )
    ),
    st.sampled_from(list(Subset)),
)
def test_whatever_happens_the_cards_are_those_of_the_order(
    acts: list[tuple[str, int]], subset: Subset
) -> None:
    """The incremental update equals a complete computation."""
    many = many_pictures(40)
    columns: dict[str, Any] = {name: getattr(many, name)[:30] for name in ("image_ids", *_COLUMNS)}
    state = replace(many, **columns)
    wanted = ImageFilter(subset)
    held = HeldOrder.sorted_now(state, wanted, Order.UNSURE_FIRST)
    for act, number in acts:
        state = _acted(many, held.state, act, number)
        before, held = held, held.followed(state, wanted, Order.UNSURE_FIRST)
        np.testing.assert_array_equal(held.shown, held.ranked[held.is_in[held.ranked]])
        np.testing.assert_array_equal(np.flatnonzero(held.is_ranked), np.sort(held.ranked))
        stayed = np.intersect1d(before.state.image_ids[before.shown], state.image_ids[held.shown])
        assert _those(before, stayed) == _those(held, stayed)


_COLUMNS = (
    "label_class",
    "best_class",
    "best_score",
    "safe_class",
    "safe_score",
    "is_unknown",
    "status",
)


def _those(held: HeldOrder, image_ids: NDArray[np.int64]) -> list[int]:
    """The given images, in the order of the cards."""
    shown = held.state.image_ids[held.shown]
    return shown[np.isin(shown, image_ids)].tolist()


def _acted(many: CollectionState, state: CollectionState, act: str, number: int) -> CollectionState:
    count = len(state.image_ids)
    place = number % count
    if act in {"label", "unlabel"}:
        return with_labels(state, {int(state.image_ids[place]): 3 if act == "label" else NO_CLASS})
    if act == "fail":
        status = state.status.copy()
        status[place] = ImageStatus.FAILED if number % 2 else ImageStatus.READY
        return replace(state, status=status)
    if act == "predict":
        return replace(
            state,
            best_class=np.roll(state.best_class, number),
            best_score=np.roll(state.best_score, 1),
        )
    count = min(count + 1, len(many.image_ids))
    columns: dict[str, Any] = {
        name: np.append(getattr(state, name), getattr(many, name)[len(state.image_ids) : count])
        for name in _COLUMNS
    }
    return replace(state, image_ids=many.image_ids[:count], **columns)
