"""Errors as answers show them: worked out by hand."""

import numpy as np
import pytest

from engine.everyday.scores import PRIOR_ERRORS, corrected_odds, with_error_odds


def test_answers_correct_the_odds_of_errors() -> None:
    """As many as expected change nothing; more make errors likelier, the more answers there are."""
    assert corrected_odds(2.0, 3.0, 3.0) == 2
    assert 1 < corrected_odds(1.0, 1.0, 2.0) < corrected_odds(1.0, 10.0, 20.0) < 2
    assert corrected_odds(1.0, 5.0, 0.0) == PRIOR_ERRORS / (PRIOR_ERRORS + 5)


def test_odds_of_errors_are_multiplied() -> None:
    probability, odds = np.array([[0.0, 0.5, 0.8, 1.0], [9.0, 3.0, 1.0, 9.0]], dtype=np.float32)
    assert with_error_odds(probability, odds) == pytest.approx([0, 0.25, 0.8, 1])
