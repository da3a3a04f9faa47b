"""Ctrl+C in a terminal during parallel training: all processes get it, one reports."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.few_shot_data import colour_data, write_data

pytestmark = pytest.mark.skipif(os.name != "posix", reason="groups of processes of POSIX")

PROTOLEAF = """
import sys, threading
from app.__main__ import main
from research.grid import run

def do_cell(*_given):
    sys.stdout.write("at work\\n")
    sys.stdout.flush()
    threading.Event().wait(600)

do_cell.__module__ = run.__name__
run.do_cell = do_cell
if __name__ == "__main__":
    sys.exit(main())
"""
"""The script that starts the program, with long trainings.

Processes of a pool load it, too.
"""
ENDS_WITHIN_S = 30


@pytest.mark.slow
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_one_line_and_nobody_left(number: signal.Signals, status: int, tmp_path: Path) -> None:
    """Standard output closes only when all processes have ended."""
    script, data = tmp_path / "protoleaf", write_data(colour_data(), tmp_path / "colours")
    script.write_text(PROTOLEAF, encoding="utf-8")
    words = [
        "experiment",
        "table",
        str(data),
        "--runs",
        str(tmp_path / "runs"),
        "--results",
        str(tmp_path / "results"),
    ]
    words += ["--workers", "2", "--validation", "5"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    with subprocess.Popen(
        [sys.executable, script, *words],
        stdout=-1,
        stderr=-1,
        text=True,
        env=environment,
        start_new_session=True,
    ) as command:
        try:
            assert command.stdout is not None
            assert [command.stdout.readline() for _ in range(2)] == ["at work\n"] * 2
            os.killpg(command.pid, number)
            output, errors = command.communicate(timeout=ENDS_WITHIN_S)
        finally:
            if command.poll() is None:
                os.killpg(command.pid, signal.SIGKILL)
    assert (command.returncode, output) == (status, "")
    assert (
        errors
        == "protoleaf: stopped; what was finished is kept; run the same command again to resume\n"
    )
