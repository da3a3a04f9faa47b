import math

import pytest

from research.transfer.estimates import MOST_DRAWS, T_95, estimate, paired_difference


def test_interval_by_hand() -> None:
    """1, 2 and 3: deviation 1, so the half width is 4.303 / sqrt(3)."""
    found = estimate([1.0, 2.0, 3.0])
    assert found.mean == 2
    assert found.half_width == pytest.approx(2.4843, abs=1e-4)


def test_quantiles_reach_as_far_as_draws() -> None:
    """One quantile for each allowed number of draws, falling towards the normal one."""
    assert len(T_95) == MOST_DRAWS - 1
    assert list(T_95) == sorted(T_95, reverse=True)
    assert T_95[8] == 2.262
    assert T_95[-1] > 1.96


def test_draws_without_a_figure_are_left_out() -> None:
    """NaN is ignored; one value has no interval; none has no mean."""
    assert estimate([0.5, math.nan, 0.5]).mean == 0.5
    assert math.isnan(estimate([0.5]).half_width)
    assert estimate([math.nan]).as_percent() == "-"
    assert estimate([0.5]).as_percent() == "50.0"


def test_paired_differences_lose_what_draws_share() -> None:
    """Common variation of draws cancels."""
    found = paired_difference([0.4, 0.6, 0.5], [0.3, 0.5, 0.4])
    assert found.as_percent(with_sign=True) == "+10.0 ± 0.0"
    assert found.is_above_zero
    assert not paired_difference([0.5, 0.3], [0.3, 0.5]).is_above_zero
