"""Computing threads have a lower priority than the window."""

import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from engine.priority import NICENESS, lower_thread_priority


def niceness() -> int:
    """Niceness of the calling thread."""
    return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has priorities of threads")
def test_a_thread_that_computes_has_a_lower_priority() -> None:
    """Only that thread, by at least that much; repeated calls change nothing."""
    before = niceness()
    with ThreadPoolExecutor(1, "compute", lower_thread_priority) as pool:
        found = pool.submit(niceness).result()
        pool.submit(lower_thread_priority).result()
        assert pool.submit(niceness).result() == found
    assert found == max(NICENESS, before)
    assert niceness() == before
