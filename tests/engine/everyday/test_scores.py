"""Where shares lie that were counted on a few images."""

import pytest

from engine.everyday.scores import gain_interval, share_interval


def test_an_interval_of_a_share_is_wide_for_few_and_narrow_for_many() -> None:
    """Figures of Wilson's interval for 9 of 10 and 90 of 100, as textbooks give them."""
    assert share_interval(9, 10) == pytest.approx((0.596, 0.982), abs=1e-3)
    assert share_interval(90, 100) == pytest.approx((0.826, 0.945), abs=1e-3)
    assert share_interval(0, 0) == (0.0, 1.0)


def test_a_gain_counts_the_images_that_differ() -> None:
    """Worked out by hand for 98 images of which 12 are won and 4 are lost.

    8 of 100, give or take.
    """
    low, high = gain_interval(98, 12, 4)
    spread = 1.96 * (17 - 0.64) ** 0.5 / 100
    assert (low, high) == pytest.approx((0.08 - spread, 0.08 + spread))
    assert gain_interval(98, 4, 12) == pytest.approx((-high, -low))
    assert gain_interval(0, 0, 0)[0] < 0 < gain_interval(0, 0, 0)[1]
