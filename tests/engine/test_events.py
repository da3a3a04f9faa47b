"""Estimates of the remaining time: none at first, then accurate and stable."""

from collections.abc import Iterator

import pytest

from engine.events import FIRST_ESTIMATE_S, TimeLeft

UNITS = 500
ROUND = 16
LATEST_S = 8.0


def steady(_unit: int) -> float:
    """0.1 s per unit."""
    return 0.1


def slow_start(unit: int) -> float:
    """Scanning comes first and takes longer than 20 units."""
    return 2.5 if unit == 0 else 0.1


def with_checks(unit: int) -> float:
    """Evaluations in between take as long as 16 units."""
    return 2.5 if unit == 0 else 0.03 + (0.6 if unit % ROUND == 0 else 0.0)


def slower_and_slower(unit: int) -> float:
    """Increasing load by another program."""
    return 0.05 if unit < UNITS // 2 else 0.1


def course(duration_of: object, units_a_round: int) -> Iterator[tuple[float, float, float | None]]:
    """Time, true and estimated remaining time."""
    durations = [duration_of(unit) for unit in range(UNITS)]  # type: ignore[operator]
    total_s, now_s, estimator = sum(durations), 0.0, TimeLeft(units_a_round)
    for unit, duration in enumerate(durations):
        now_s += duration
        yield now_s, total_s - now_s, estimator.estimate(unit + 1, UNITS - unit - 1, now_s)


@pytest.mark.parametrize(
    ("duration_of", "units_a_round"),
    [(steady, 1), (slow_start, 1), (with_checks, ROUND), (slower_and_slower, 1)],
)
def test_the_time_left_is_honest(duration_of: object, units_a_round: int) -> None:
    """Never more than twice the truth nor, at an even pace, less than half.

    It never jumps upwards.
    """
    estimates = [each for each in course(duration_of, units_a_round) if each[2] is not None]
    assert estimates[0][0] >= FIRST_ESTIMATE_S
    assert estimates[0][0] < LATEST_S
    before_s, before = estimates[0][0], estimates[0][2]
    for now_s, truly, left in estimates:
        assert left is not None
        assert before is not None
        assert left <= 2 * truly + 2
        if duration_of is not slower_and_slower:
            assert left >= truly / 2 - 1
            assert left <= before - (now_s - before_s) + 1.5
        before_s, before = now_s, left
    assert estimates[-1][2] == 0


def test_a_standstill_brings_the_end_no_nearer() -> None:
    """While nothing is done the estimate does not fall to zero."""
    estimator = TimeLeft()
    for unit in range(1, 51):
        before = estimator.estimate(unit, 100 - unit, unit * 0.1)
    assert before == pytest.approx(5, abs=1)
    for second in range(20):
        left = estimator.estimate(50, 50, 5.0 + second)
    assert left is not None
    assert left > 3
