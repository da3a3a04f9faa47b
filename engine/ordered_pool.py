"""Results of threads in the order of their inputs, with few inputs in progress."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_order(
    pool: Executor, work: Callable[[Item], Result], items: Iterable[Item], *, ahead: int
) -> Iterator[Result]:
    """Results of a pool in the order of the items, of which at most `ahead` are under way.

    Items are consumed as needed, on the caller's thread; pending work is cancelled when the caller
    stops.
    """
    running: deque[Future[Result]] = deque()
    try:
        for item in items:
            running.append(pool.submit(work, item))
            if len(running) >= ahead:
                yield running.popleft().result()
        while running:
            yield running.popleft().result()
    finally:
        for future in running:
            future.cancel()
