"""Median times of rounds after a warm-up, with the GPU synchronised before each clock reading."""

import statistics
import time
from collections.abc import Callable

WARM_UP = 1


def no_wait() -> None:
    """For the CPU: a call is finished when it returns."""


def median_s(
    work: Callable[[], object], rounds: int, finish: Callable[[], None] = no_wait
) -> float:
    """Median seconds of calls after a warm-up call.

    Args:
        work: the timed call.
        rounds: at least 3.
        finish: synchronises the GPU.
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
