"""How much is of classes without a label: worked out by hand."""

import numpy as np
import pytest

from engine.everyday.unseen import (
    PRIOR_ANSWERS,
    PRIOR_ERRORS,
    ClassesSeen,
    corrected_odds,
    miss_of,
    trust_in,
    unseen_share,
    with_error_odds,
)


def test_classes_without_a_label_have_as_many_images_as_the_others() -> None:
    """Of 10 classes 5 were seen and 40 of 100 images labelled: the other 5 have 50 of the 60 that are left."""
    assert ClassesSeen(5, 5, 40, 60).share == pytest.approx(50 / 60)
    assert ClassesSeen(10, 0, 40, 60).share == 0
    assert ClassesSeen(1, 99, 10, 10).share == 1
    assert ClassesSeen(0, 0, 0, 0).share == 0


def test_answers_correct_the_count() -> None:
    """Right proposals bring it down, and it is never more than the classes allow."""
    classes = ClassesSeen(5, 5, 40, 60)
    assert unseen_share(classes, ()) == pytest.approx(50 / 60)
    assert unseen_share(classes, (0.0,)) == pytest.approx(PRIOR_ANSWERS * 50 / 60 / (PRIOR_ANSWERS + 1))
    assert unseen_share(classes, (0.0,) * 60) < 0.3
    assert unseen_share(classes, (1.0,) * 60) == pytest.approx(50 / 60)
    assert unseen_share(classes, (0.0, 1.0)) > unseen_share(classes, (1.0, 0.0))


def test_a_miss_is_what_probabilities_did_not_expect() -> None:
    """Of 10 images 2 expected wrong."""
    assert miss_of(10, 2.0, 7) == pytest.approx(0.5)
    assert miss_of(10, 2.0, 1) == 0
    assert miss_of(1, 0.0, 5) == 1


@pytest.mark.parametrize("unseen", [0.0, 0.2, 0.5, 0.8, 1.0])
def test_the_least_similar_are_trusted_least(unseen: float) -> None:
    """And all together as much as is known to be seen."""
    similarity = np.array([0.3, 0.9, 0.1, 0.5], dtype=np.float32)
    trust = trust_in(similarity, unseen)
    assert trust.mean() == pytest.approx(1 - unseen, abs=1e-6)
    assert (np.diff(trust[np.argsort(similarity)]) >= -1e-6).all()
    assert trust.min() >= -1e-6
    assert trust.max() <= 1 + 1e-6


def test_without_similarities_all_are_trusted_alike() -> None:
    """As with classifiers that have none."""
    assert trust_in(np.full(3, np.nan, dtype=np.float32), 0.25).tolist() == [0.75] * 3
    assert len(trust_in(np.zeros(0, dtype=np.float32), 0.25)) == 0


def test_answers_correct_the_odds_of_errors() -> None:
    """As many as expected change nothing; more make errors likelier, the more answers there are."""
    assert corrected_odds(2.0, 3.0, 3.0) == 2
    assert 1 < corrected_odds(1.0, 1.0, 2.0) < corrected_odds(1.0, 10.0, 20.0) < 2
    assert corrected_odds(1.0, 5.0, 0.0) == PRIOR_ERRORS / (PRIOR_ERRORS + 5)


def test_odds_of_errors_are_multiplied() -> None:
    probability, odds = np.array([[0.0, 0.5, 0.8, 1.0], [9.0, 3.0, 1.0, 9.0]], dtype=np.float32)
    assert with_error_odds(probability, odds) == pytest.approx([0, 0.25, 0.8, 1])
