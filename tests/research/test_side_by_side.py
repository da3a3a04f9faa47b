"""Calls in processes of their own, and their cancellation."""

import threading
import time
from functools import partial

import pytest

from engine.errors import Cancelled
from engine.events import CancelToken
from research.side_by_side import run_side_by_side

CALLS = [partial(abs, -number) for number in range(2)]


@pytest.mark.slow
def test_results_come_as_calls_end() -> None:
    """In order of completion."""
    results: list[int] = []
    run_side_by_side(CALLS, units=2, workers=2, on_result=results.append)
    assert sorted(results) == [0, 1]


@pytest.mark.slow
def test_no_thread_of_a_stopped_pool_is_left() -> None:
    """Such a thread may be killed between removing a semaphore and reporting it, with a warning."""
    cancel = CancelToken()
    threads = set(threading.enumerate())
    threading.Timer(1, cancel.cancel).start()
    with pytest.raises(Cancelled):
        run_side_by_side([partial(time.sleep, 600)], units=1, cancel=cancel)
    assert {
        thread for thread in threading.enumerate() if thread not in threads and thread.is_alive()
    } == set()
