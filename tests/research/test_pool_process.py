"""Processes of a pool end with their parent."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")

POOL = """
import multiprocessing, os, sys, time
from concurrent.futures import ProcessPoolExecutor
from research.pool_process import end_pool_process_with_parent

def work():
    print("at work", os.getpid(), flush=True)
    time.sleep(60)

if __name__ == "__main__":
    pool = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), \
end_pool_process_with_parent)
    pool.submit(work).result()
"""


def test_processes_of_a_pool_end_with_their_parent(tmp_path: Path) -> None:
    """Also where the parent was killed: their output is closed."""
    script = tmp_path / "pool.py"
    script.write_text(POOL, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, script], stdout=subprocess.PIPE, env=environment
    ) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline().startswith(b"at work")
        parent.kill()
        assert parent.stdout.read() == b""
