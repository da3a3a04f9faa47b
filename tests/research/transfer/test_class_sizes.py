from itertools import pairwise

import numpy as np
import pytest

from engine.errors import UsageError
from research.transfer.class_sizes import (
    EQUAL,
    ONE_LARGE,
    ZIPF,
    apportioned,
    check_forms,
    drawn_in_order,
    ranked,
    resampled_sizes,
)

COUNTS = np.array([900, 75, 0, 74, 60, 76, 80, 85])


def test_equal_classes() -> None:
    """All have the size of the smallest; of many classes the smallest tenth may have fewer."""
    order = ranked(EQUAL, COUNTS, np.random.default_rng(0))
    assert resampled_sizes(EQUAL, COUNTS, order).tolist() == [60, 60, 0, 60, 60, 60, 60, 60]
    many = np.array([1, *[20 + place for place in range(20)]])
    sizes = resampled_sizes(EQUAL, many, ranked(EQUAL, many, np.random.default_rng(0)))
    assert sizes.tolist() == [1, 20, *[21] * 19]


def test_zipf() -> None:
    """The class of rank r has at most N/r images, and at least one."""
    order = np.array([1, 0, 3, 5, 4, 6, 7])
    assert resampled_sizes(ZIPF, COUNTS, order).tolist() == [38, 75, 0, 25, 15, 19, 12, 11]
    scarce = np.array([2, 1, 9, 9, 9, 9, 9, 9])
    assert resampled_sizes(ZIPF, scarce, np.arange(8)).tolist() == [2, 1, 1, 1, 1, 1, 1, 1]
    assert resampled_sizes(ZIPF, scarce, np.array([2, 1, 0, 3, 4, 5, 6, 7])).tolist() == [
        2,
        1,
        9,
        2,
        2,
        2,
        1,
        1,
    ]


def test_one_large() -> None:
    """One has two thirds; where some others are small, the rest have more."""
    sizes = resampled_sizes(ONE_LARGE, COUNTS, np.array([7, 0, 1, 3, 4, 5, 6]))
    assert (sizes[7], sizes.sum() - sizes[7]) == (85, 42)
    assert sizes[[0, 1, 3, 4, 5, 6]].tolist() == [7] * 6
    sizes = resampled_sizes(ONE_LARGE, np.array([40, 2, 30, 30]), np.arange(4))
    assert sizes.tolist() == [40, 2, 9, 9]
    assert resampled_sizes(ONE_LARGE, np.full(5, 4), np.arange(5)).tolist() == [4, 1, 1, 1, 1]


@pytest.mark.parametrize(("form", "large"), [(ZIPF, {0, 5, 6, 7}), (ONE_LARGE, {0, 7})])
def test_the_largest_is_drawn_among_large_classes(form: str, large: set[int]) -> None:
    """Each of them is first in some draw; every class with images has one rank."""
    orders = [ranked(form, COUNTS, np.random.default_rng(seed)) for seed in range(60)]
    assert {int(order[0]) for order in orders} == large
    assert all(sorted(order.tolist()) == [0, 1, 3, 4, 5, 6, 7] for order in orders)
    assert len({tuple(order.tolist()) for order in orders}) > 50


def test_shares_of_a_total() -> None:
    """In proportion, at least one each, and at most the available ones; the total stays."""
    plenty = np.full(4, 100)
    assert apportioned(20, np.array([12.0, 5.0, 2.0, 1.0]), plenty).tolist() == [12, 5, 2, 1]
    assert apportioned(4, np.array([90.0, 5.0, 3.0, 2.0]), plenty).tolist() == [1, 1, 1, 1]
    assert apportioned(
        20, np.array([90.0, 5.0, 5.0, 0.0]), np.array([6, 100, 100, 100])
    ).tolist() == [6, 7, 6, 1]
    assert apportioned(20, np.array([1.0, 1.0, 1.0, 1.0]), np.array([2, 1, 0, 2])).tolist() == [
        2,
        1,
        0,
        2,
    ]


def test_labelled_in_order_of_appearance() -> None:
    """The common class comes first, each has one in the end; more labels contain fewer."""
    shares, most = np.array([90.0, 5.0, 5.0, 0.0]), np.array([30, 100, 100, 1])
    counts = [
        drawn_in_order(total, shares, most, np.random.default_rng(3)) for total in (4, 20, 60)
    ]
    assert counts[0][0] >= 3
    assert all(count.min() >= 1 for count in counts)
    assert all((more >= fewer).all() for fewer, more in pairwise(counts))
    assert counts[2].tolist()[0] == 30
    assert counts[2].sum() == 61  # and one of the missing class


def test_forms_are_known() -> None:
    """The message has the known names."""
    check_forms("one-large", "common-first")
    with pytest.raises(UsageError, match="--sizes does not accept this"):
        check_forms("huge", "equal")
    with pytest.raises(UsageError, match="--shot-sizes does not accept this"):
        check_forms("as-is", "zipf")
