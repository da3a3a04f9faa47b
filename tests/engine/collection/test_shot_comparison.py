"""Accuracy differences on equal labels and their intervals, computed by hand."""

from math import sqrt

import pytest

from engine.collection.backbone_change import ShotComparison


def test_interval_of_a_paired_difference() -> None:
    """Of 20 labels 6 gained and 1 lost: with half a shot each the middle is (6.5 - 1.5) / 22."""
    comparison = ShotComparison(0.5, 0.75, 20, gained=6, lost=1)
    spread = sqrt(8 - 25 / 22) / 22
    assert comparison.interval == pytest.approx((5 / 22 - 1.96 * spread, 5 / 22 + 1.96 * spread))
    assert comparison.may_be_chance  # 0.227 - 0.233 < 0


def test_many_labels_leave_no_doubt() -> None:
    """Equal shares of ten times as many labels are significant."""
    comparison = ShotComparison(0.5, 0.75, 200, gained=60, lost=10)
    assert comparison.interval is not None
    assert comparison.interval[0] > 0
    assert not comparison.may_be_chance


def test_no_difference_is_no_chance() -> None:
    """No change, or equal gains and losses, is no difference."""
    assert not ShotComparison(0.5, 0.5, 20, gained=0, lost=0).may_be_chance
    assert not ShotComparison(0.5, 0.5, 20, gained=3, lost=3).may_be_chance


def test_other_shots_cannot_be_paired() -> None:
    """Unpaired shots have no interval."""
    comparison = ShotComparison(0.5, 0.6, 20)
    assert comparison.interval is None
    assert not comparison.may_be_chance
    assert ShotComparison(None, None, 0, gained=0, lost=0).interval is None


def test_a_difference_counts_only_beyond_chance() -> None:
    """Better, worse or about as good; unpaired models are not compared."""
    better = ShotComparison(0.5, 0.7, 200, gained=50, lost=10)
    assert (better.is_better, better.is_worse) == (True, False)
    worse = ShotComparison(0.7, 0.5, 200, gained=10, lost=50)
    assert (worse.is_better, worse.is_worse) == (False, True)
    doubtful = ShotComparison(0.5, 0.51, 200, gained=4, lost=2)
    assert (doubtful.is_better, doubtful.is_worse) == (False, False)
    unpaired = ShotComparison(0.5, 0.7, 200)
    assert (unpaired.is_better, unpaired.is_worse) == (False, False)
