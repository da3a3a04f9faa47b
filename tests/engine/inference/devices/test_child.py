"""Trials in a child process: what it tells, and what it cannot tell any more."""

import sys
from pathlib import Path

import pytest

from engine.inference.devices.child import read_trial, try_in_child
from engine.inference.devices.reasons import Attempt

DIED = Attempt(works=False, signal=-9)


def python(code: str) -> list[str]:
    """A child that runs this code instead of the worker."""
    return [sys.executable, "-c", code]


def test_the_real_worker() -> None:
    """The program as a worker tries the CPU and says that it works."""
    trial = try_in_child("cpu", 60.0)
    assert trial.attempt.works
    assert trial.attempt.seconds > 0
    assert trial.speed == {}


def test_a_crash() -> None:
    """A child that dies is an attempt with its status, and its last words."""
    trial = try_in_child("cuda", 60.0, command=python("import sys, os; print('gone', file=sys.stderr); os._exit(134)"))
    assert trial.attempt == Attempt(works=False, signal=134, message="gone")


def test_a_child_that_hangs() -> None:
    """A child that gives no answer is ended; what it told before counts."""
    silent = python("import threading; threading.Event().wait()")
    assert try_in_child("cuda", 0.3, command=silent).attempt == Attempt(works=False, timed_out_s=0.3)


def test_no_child_at_all(tmp_path: Path) -> None:
    """A program that cannot be started is a reason, not an exception."""
    trial = try_in_child("cuda", 1.0, command=[str(tmp_path / "none")])
    assert not trial.attempt.works
    assert "cannot be started" in trial.attempt.message


@pytest.mark.parametrize(
    ("output", "attempt", "speed"),
    [
        (b"", DIED, {}),
        (b"rubbish\n[1]\n", DIED, {}),
        (b'{"event": "attempt", "works": true, "seconds": 1.5, "new": 1}\n', Attempt(works=True, seconds=1.5), {}),
        (
            b'{"event": "attempt", "works": true}\n{"event": "result", "images_per_s": 9}\n',
            Attempt(works=True),
            {"images_per_s": 9.0},
        ),
        (b'{"event": "error", "message": "no such device"}\n', Attempt(works=False, message="no such device"), {}),
        (b'{"event": "attempt", "works": true}\n{"event": "error", "message": "x"}\n', Attempt(works=True), {}),
    ],
)
def test_what_a_child_told(output: bytes, attempt: Attempt, speed: dict[str, float]) -> None:
    """The last word about the attempt counts, and rubbish does not."""
    trial = read_trial(output, DIED)
    assert (trial.attempt, trial.speed) == (attempt, speed)
