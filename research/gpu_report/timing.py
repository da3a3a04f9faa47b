"""Rates as medians of rounds after a warm-up, with the GPU's work finished before each look at the clock."""

import statistics
import time
from collections.abc import Callable

WARM_UP = 1


def no_wait() -> None:
    """The CPU has finished when a call returns."""


def median_s(
    work: Callable[[], object], rounds: int, finish: Callable[[], None] = no_wait
) -> float:
    """Median seconds of so many calls after one that does not count.

    Args:
        work: what is timed.
        rounds: at least 3.
        finish: waits for what a GPU still computes.
    """
    taken: list[float] = []
    for number in range(WARM_UP + max(3, rounds)):
        finish()
        started_s = time.perf_counter()
        work()
        finish()
        if number >= WARM_UP:
            taken.append(time.perf_counter() - started_s)
    return statistics.median(taken)
