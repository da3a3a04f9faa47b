"""Child processes: Ctrl+C, and ending with the parent."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from engine.events import CancelToken
from engine.worker.client import children_without_ctrl_c
from engine.worker.limits import ParentWatch

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")

IS_DEAF = "import signal; print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ()))"


def test_children_do_not_hear_ctrl_c() -> None:
    """A terminal sends it to all processes; only the parent handles it."""
    program = [sys.executable, "-c", IS_DEAF]
    with children_without_ctrl_c():
        inside = subprocess.run(program, capture_output=True, text=True, check=True).stdout
    outside = subprocess.run(program, capture_output=True, text=True, check=True).stdout
    assert (inside.strip(), outside.strip()) == ("True", "False")


def test_the_parent_hears_it_all_the_same() -> None:
    """Ctrl+C while children are started is deferred, not lost."""
    received: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _frame: received.append(number))
    try:
        with children_without_ctrl_c():
            os.kill(os.getpid(), signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
    assert received == [signal.SIGINT]


def test_one_thread_watches_all_requests() -> None:
    """Starting a thread per request could fail without memory."""
    watch = ParentWatch()
    before = threading.active_count()
    for _ in range(3):
        with watch.over(CancelToken()):
            assert threading.active_count() == before


def test_a_process_ends_although_a_request_hangs() -> None:
    """The end of standard input sets the cancel token."""
    lines = (
        (
            "import threading; from engine.events import CancelToken; from engine.worker.limits "
            "import ParentWatch"
        ),
        "watch, token = ParentWatch(), CancelToken()",
        "with watch.over(CancelToken()): pass",
        "with watch.over(token): token.cancel(); threading.Event().wait()",
    )
    done = subprocess.run([sys.executable, "-c", "\n".join(lines)], timeout=60, check=False)
    assert done.returncode == 1
