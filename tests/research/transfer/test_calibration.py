"""Chance cancels over draws, bias does not."""

import math

import numpy as np
import pytest

from engine.everyday.scores import calibration_error
from research.transfer.calibration import error_of_all_draws, gaps
from research.transfer.results import TOP1, Figures, TransferResult
from tests.support.transfer import result_of

DRAWS, IMAGES = 30, 300


def drawn_gaps(*, over_sure: float) -> tuple[list[Figures], float]:
    """Gaps of draws of images that are correct with probability score minus `over_sure`."""
    rng = np.random.default_rng(3)
    found: list[Figures] = []
    errors: list[float] = []
    for _ in range(DRAWS):
        scores = rng.uniform(0.2, 1, IMAGES).astype(np.float32)
        is_right = rng.random(IMAGES) < scores - over_sure
        found.append(gaps(scores, is_right))
        errors.append(calibration_error(scores, is_right))
    return found, float(np.mean(errors))


@pytest.mark.parametrize("over_sure", [0.0, 0.1])
def test_draws_together_tell_what_is_wrong(over_sure: float) -> None:
    """With few images a calibrated model has an error in every draw, but hardly any in all."""
    found, alone = drawn_gaps(over_sure=over_sure)
    cell = result_of("everyday", [0.5]).cell
    together = error_of_all_draws(
        TransferResult(cell, tuple({"": {TOP1: 0.5, **draw}} for draw in found))
    )
    assert together == pytest.approx(over_sure, abs=0.015)
    assert alone > together + (0.05 if over_sure == 0 else 0.01)


def test_a_result_without_gaps_tells_nothing() -> None:
    """Older results and those by project files have no gaps."""
    assert math.isnan(error_of_all_draws(result_of("everyday", [0.5, 0.6], calibration_error=0.1)))
