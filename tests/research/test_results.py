"""Test results: mean, interval, and invalid values."""

import pytest

from engine.errors import InputError
from research.results import TestResult

RESULT = TestResult(
    "ppn+", "pure", "WS-Small-Pure", 5, 1, (0.2, 0.4, 0.6, 0.8), {"side": 32, "lambda": None}
)


def test_mean_and_interval_by_hand() -> None:
    """The half width is 1.96 standard errors.

    Deviations of 0.3, 0.1, 0.1 and 0.3 from 0.5: variance 0.2 / 3, standard error sqrt(0.2 / 12) =
    0.1291.
    """
    assert RESULT.mean == pytest.approx(0.5)
    assert RESULT.interval == pytest.approx(1.96 * 0.1290994, abs=1e-6)


@pytest.mark.parametrize("accuracies", [(0.5,), (0.5, 1.5)])
def test_what_is_no_result(accuracies: tuple[float, ...]) -> None:
    """One task has no spread; a share is at most 1."""
    with pytest.raises(InputError, match=r"too short|no share"):
        TestResult("ppn", "pure", "WS-Small-Pure", 5, 1, accuracies, {})
