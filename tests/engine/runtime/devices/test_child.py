"""Trials in a child process: what it tells, and what it cannot tell any more."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from engine.runtime.devices.child import Speed, TryDevice, try_in_child
from engine.runtime.devices.reasons import Attempt
from engine.worker.protocol import Failed, encode
from tests.support.scripted_workers import Step, scripted_command

WAIT_S = 60

HUNG_WORKER = """
import socket, sys
from engine import jobs as worker
from engine.runtime.devices import child

def hang(device):
    tested = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    tested.sendall(b"hangs")
    {hang}

child.try_device = hang
sys.exit(worker.main())
"""
"""The worker with a driver that hangs until the test closes their connection."""
HANGS = "tested.recv(1)"
HANGS_WITH_LOCK = """import ctypes
    libc = ctypes.PyDLL("kernel32" if sys.platform == "win32" else None)
    (libc.Sleep if sys.platform == "win32" else libc.sleep)(600_000)"""
"""A `PyDLL` keeps the interpreter's lock: no other Python thread runs."""
PARENT = """
import sys
from engine.runtime.devices.child import try_in_child
try_in_child("cuda", 600.0, command=sys.argv[1:])
"""


def python(code: str) -> list[str]:
    """A child that runs this code instead of the worker."""
    return [sys.executable, "-c", code]


@pytest.mark.slow
def test_the_real_worker() -> None:
    """The program as a worker tries the CPU and says that it works."""
    trial = try_in_child("cpu", 60.0)
    assert trial.attempt.works
    assert trial.attempt.seconds > 0
    assert trial.speed == {}


def test_a_crash() -> None:
    """A child that dies is an attempt with its status, and its last words."""
    trial = try_in_child(
        "cuda",
        60.0,
        command=python("import sys, os; print('gone', file=sys.stderr); os._exit(134)"),
    )
    assert trial.attempt == Attempt(works=False, signal=134, message="gone")


def test_a_child_that_hangs() -> None:
    """A child that gives no answer is ended; what it reported before counts."""
    silent = python("import threading; threading.Event().wait()")
    assert try_in_child("cuda", 0.3, command=silent).attempt == Attempt(
        works=False, timed_out_s=0.3
    )


def test_no_child_at_all(tmp_path: Path) -> None:
    """A program that cannot be started is a reason, not an exception."""
    trial = try_in_child("cuda", 1.0, command=[str(tmp_path / "none")])
    assert not trial.attempt.works
    assert "cannot be started" in trial.attempt.message


@pytest.mark.parametrize(
    ("steps", "attempt", "speed"),
    [
        (["die"], Attempt(works=False), {}),
        ([Attempt(works=True, seconds=1.5), "die"], Attempt(works=True, seconds=1.5), {}),
        (
            [Attempt(works=True), Speed({"images_per_s": 9.0})],
            Attempt(works=True),
            {"images_per_s": 9.0},
        ),
        ([Failed("no such device")], Attempt(works=False, message="no such device"), {}),
        ([Failed("", "Traceback\nKeyError: 7")], Attempt(works=False, message="KeyError: 7"), {}),
        ([Attempt(works=True), Failed("x")], Attempt(works=True), {}),
        (
            [Speed()],
            Attempt(works=False, message="the trial process said nothing about the device"),
            {},
        ),
    ],
)
def test_what_a_child_reports(steps: list[Step], attempt: Attempt, speed: dict[str, float]) -> None:
    """What it reported about the attempt counts, however it ended."""
    trial = try_in_child("cuda", WAIT_S, command=scripted_command(steps))
    assert (trial.attempt, trial.speed) == (attempt, speed)


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """Where a child that hangs calls."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(WAIT_S)
        yield listener


def hung_worker(listener: socket.socket, hang: str) -> list[str]:
    """The command of a worker that hangs in a trial."""
    return [*python(HUNG_WORKER.format(hang=hang)), str(listener.getsockname()[1])]


def wait_for_end(listener: socket.socket, process: subprocess.Popen[bytes]) -> None:
    """Kill the process once the child that hangs has called, and see that child end.

    Fails when it lives on.
    """
    call, _ = listener.accept()
    with call:
        call.settimeout(WAIT_S)
        assert call.recv(16) == b"hangs"
        process.kill()
        with suppress(ConnectionResetError):
            assert call.recv(16) == b""


@pytest.mark.slow
def test_a_child_that_hangs_ends_with_its_parent(listener: socket.socket) -> None:
    """Whoever tries a device may be killed: the trial does not go on for good."""
    with subprocess.Popen([*python(PARENT), *hung_worker(listener, HANGS)]) as parent:
        try:
            wait_for_end(listener, parent)
        finally:
            parent.kill()


@pytest.mark.slow
def test_a_child_that_lets_no_thread_run_ends_by_itself(listener: socket.socket) -> None:
    """A driver may hang with the interpreter's lock.

    Nothing in the child hears that the parent is gone.
    """
    command = hung_worker(listener, HANGS_WITH_LOCK)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
        try:
            assert child.stdin is not None
            child.stdin.write(encode(1, TryDevice("cuda", end_s=0.3)))
            child.stdin.flush()
            assert child.wait(WAIT_S) == 1
        finally:
            child.kill()
