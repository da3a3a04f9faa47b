"""Ordered results of threads."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from engine.ordered_pool import in_order


def test_results_come_in_order() -> None:
    """In any order of completion; no more are started than requested."""
    begun: list[int] = []

    def numbers() -> Iterator[int]:
        for number in range(20):
            begun.append(number)
            yield number

    with ThreadPoolExecutor(4) as pool:
        results = in_order(pool, lambda number: number * number, numbers(), ahead=5)
        first = next(results)
        assert (first, len(begun)) == (0, 5)
        assert [first, *results] == [number * number for number in range(20)]


def test_an_error_ends_the_order() -> None:
    """Pending work is not started."""
    with ThreadPoolExecutor(1) as pool, pytest.raises(ZeroDivisionError):
        list(in_order(pool, lambda number: 1 // (3 - number), range(100), ahead=50))
