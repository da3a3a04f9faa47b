"""Processes that are started by another one: who hears Ctrl+C, and who ends with whom."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from engine.worker.client import children_without_ctrl_c

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")

IS_DEAF = "import signal; print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ()))"
POOL = """
import multiprocessing, os, sys, time
from concurrent.futures import ProcessPoolExecutor
from engine.worker.limits import end_pool_process_with_parent

def work():
    print("at work", os.getpid(), flush=True)
    time.sleep(60)

if __name__ == "__main__":
    pool = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), end_pool_process_with_parent)
    pool.submit(work).result()
"""


def test_children_do_not_hear_ctrl_c() -> None:
    """A terminal sends it to every process; only the one that the person started answers."""
    program = [sys.executable, "-c", IS_DEAF]
    with children_without_ctrl_c():
        inside = subprocess.run(program, capture_output=True, text=True, check=True).stdout
    outside = subprocess.run(program, capture_output=True, text=True, check=True).stdout
    assert (inside.strip(), outside.strip()) == ("True", "False")


def test_the_parent_hears_it_all_the_same() -> None:
    """One that comes while children are started is late, not lost."""
    heard: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _frame: heard.append(number))
    try:
        with children_without_ctrl_c():
            os.kill(os.getpid(), signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
    assert heard == [signal.SIGINT]


def test_processes_of_a_pool_end_with_their_parent(tmp_path: Path) -> None:
    """Also where it was killed, and could tell them nothing: their output ends."""
    script = tmp_path / "pool.py"
    script.write_text(POOL, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, env=environment) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline().startswith(b"at work")
        parent.kill()
        assert parent.stdout.read() == b""
