"""Which of the chosen images "Accept" labels, and how many errors it announces."""

import numpy as np
import pytest

from app.workspace.bulk import Acceptable, acceptable
from engine.collection.state import UNKNOWN, CollectionState, ImageStatus
from tests.support.states import Picture, many_pictures, state_of

GULL, TERN = 3, 5
SURE = Picture(best=GULL, score=0.95)


def accepted(state: CollectionState, threshold: float = 0.8) -> Acceptable:
    """What accepting all images of a state would do."""
    return acceptable(state, state.image_ids.tolist(), threshold)


def test_images_above_the_threshold_are_grouped_by_class() -> None:
    """Three of four pass 80%: 5%, 10% and 15% of an error make 0.3 in all."""
    guesses = [SURE, Picture(best=TERN, score=0.9), Picture(best=GULL, score=0.85), Picture(best=TERN, score=0.79)]
    groups, expected_errors, _ = accepted(state_of(guesses))
    assert groups == {GULL: [11, 13], TERN: [12]}
    assert expected_errors == pytest.approx(0.3)


@pytest.mark.parametrize(
    "other",
    [
        Picture(best=GULL, score=0.95, is_unknown=True),
        Picture(best=GULL, score=0.95, label=TERN),
        Picture(best=GULL, score=0.95, label=GULL),
        Picture(best=GULL, score=0.95, label=UNKNOWN),
        Picture(best=GULL, score=0.95, status=ImageStatus.FAILED),
        Picture(best=GULL, score=0.95, status=ImageStatus.WAITING),
        Picture(),
    ],
)
def test_only_guesses_are_accepted(other: Picture) -> None:
    """What a person said stays; nothing is said of images that are unknown or without a prediction."""
    done = accepted(state_of([other, SURE, other]))
    assert done.groups == {GULL: [12]}
    assert done.image_count == 1
    assert done.expected_errors == pytest.approx(0.05)


def test_images_that_are_gone_or_not_chosen_are_passed_over() -> None:
    """Ids of removed images are no error, also in a project that has become empty."""
    state = state_of([SURE] * 4)
    assert acceptable(state, (99, 14, 12, 1), 0.5).groups == {GULL: [14, 12]}
    assert acceptable(state, (), 0.5) == ({}, 0.0, 0)
    assert acceptable(state_of([]), (11, 12), 0.5) == ({}, 0.0, 0)


def test_images_that_may_show_none_of_the_classes_are_counted_and_can_be_included() -> None:
    """Two of them pass the threshold; with them there are three, and their errors count."""
    far = Picture(best=GULL, score=0.9, is_unknown=True)
    state = state_of([SURE, far, far, Picture(best=GULL, score=0.5, is_unknown=True)])
    assert accepted(state).unknown_count == 2
    with_them = acceptable(state, state.image_ids.tolist(), 0.8, with_unknown=True)
    assert (with_them.groups, with_them.unknown_count) == ({GULL: [11, 12, 13]}, 2)
    assert with_them.expected_errors == pytest.approx(0.25)


def test_a_higher_threshold_accepts_fewer_images_and_errors() -> None:
    """Of 100,000 images each is accepted once, and the errors are those of the scores."""
    state = many_pictures(100_000)
    low, high = accepted(state, 0.5), accepted(state, 0.9)
    assert low.image_count == int((state.best_score > 0.5).sum())
    assert high.image_count < low.image_count
    assert high.expected_errors < low.expected_errors
    scores = state.best_score[state.best_score > 0.9].astype(np.float64)
    assert high.expected_errors == pytest.approx(float((1 - scores).sum()))
    assert sorted(image_id for group in low.groups.values() for image_id in group) == sorted(
        state.image_ids[state.best_score > 0.5].tolist()
    )
