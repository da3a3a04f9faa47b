"""The worker's client, with well-behaved and misbehaving children."""

import os
import sys
import time
from pathlib import Path

import psutil
import pytest

import engine.jobs as program
from engine.errors import Cancelled
from engine.events import CancelToken
from engine.jobs import Embedder, handlers
from engine.runtime.devices.child import Speed, TryDevice
from engine.runtime.devices.reasons import Attempt
from engine.worker.client import (
    JOBS,
    Died,
    Done,
    Ending,
    TookTooLong,
    TookTooMuchMemory,
    Worker,
    ignore_event,
    run_in_child,
    worker_command,
)
from engine.worker.protocol import Failed, Request, Stopped
from tests.support.scripted_workers import scripted_command

WAIT_S = 60
TRIAL = TryDevice("cpu")


def python(code: str) -> list[str]:
    """A child that runs this code after a request."""
    return [sys.executable, "-S", "-c", f"import os, sys, time; sys.stdin.readline(); {code}"]


def test_the_command_starts_what_answers() -> None:
    """Job names of the client: each has a module and a handler for every request."""
    assert program.__name__ == JOBS
    assert callable(program.main)
    assert worker_command()[-1] == JOBS
    requests = {each for each in _below(Request) if each.__module__.startswith("engine.")}
    assert requests == set(handlers(Embedder()))


def _below(kind: type) -> set[type]:
    return set(kind.__subclasses__()).union(*map(_below, kind.__subclasses__()))


def test_the_packaged_program_is_its_own_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Packaged, there is no Python to run a module."""
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert worker_command() == [sys.executable, "worker"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="priorities are classes there")
def test_a_worker_gives_way() -> None:
    """Workers run with a lower priority than the window."""
    worker = Worker(stays=True)
    deadline_s = time.monotonic() + WAIT_S
    while (niceness := psutil.Process(worker.process_id).nice()) == psutil.Process().nice():
        assert time.monotonic() < deadline_s
        time.sleep(0.01)
    worker.stop()
    assert niceness > psutil.Process().nice()


def test_events_come_before_the_result() -> None:
    """Events are typed and in order."""
    events: list[object] = []
    ending = run_in_child(
        TRIAL,
        limit_s=WAIT_S,
        on_event=events.append,
        command=scripted_command([Attempt(works=True), Speed()]),
    )
    assert (events, ending) == ([Attempt(works=True)], Done(Speed()))


def test_a_failure_comes_back() -> None:
    """A failure has its traceback."""
    assert run_in_child(
        TRIAL, limit_s=WAIT_S, command=scripted_command([Failed("no", "Tr")])
    ) == Failed("no", "Tr")


def test_an_answer_of_another_kind_leaves_nobody_waiting() -> None:
    """A result of a wrong type, as of a bug, fails the request."""
    ending = run_in_child(TRIAL, limit_s=WAIT_S, command=scripted_command([TRIAL]))
    assert isinstance(ending, Failed)
    assert "found TryDevice" in ending.traceback


def test_a_death_keeps_the_last_words() -> None:
    """Exit status and standard error are reported."""
    ending = run_in_child(
        TRIAL,
        limit_s=WAIT_S,
        command=python("sys.stderr.write('first\\nlast words\\n'); os._exit(7)"),
    )
    assert ending == Died(7, "first\nlast words\n")
    assert isinstance(ending, Died)
    assert ending.last_line == "last words"


def test_a_child_that_takes_too_long_is_ended() -> None:
    """A timeout ends it."""
    assert run_in_child(TRIAL, limit_s=0.2, command=python("time.sleep(60)")) == TookTooLong()


@pytest.mark.slow
def test_a_child_that_takes_too_much_memory_is_ended() -> None:
    """Where the system has no limit, the parent measures."""
    greedy = python("x = bytearray(b'x' * 200_000_000); time.sleep(60)")
    assert (
        run_in_child(TRIAL, limit_s=WAIT_S, memory_bytes=100_000_000, command=greedy)
        == TookTooMuchMemory()
    )


def test_a_cancel_ends_the_child_at_once() -> None:
    """Without waiting for its work."""
    cancel, started_s = CancelToken(), time.monotonic()
    with pytest.raises(Cancelled):
        run_in_child(
            TRIAL,
            limit_s=WAIT_S,
            cancel=cancel,
            on_event=lambda _event: cancel.cancel(),
            command=scripted_command([Attempt(works=True), "wait for a word"]),
        )
    assert time.monotonic() - started_s < WAIT_S


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    """It raises OSError, which callers translate."""
    with pytest.raises(OSError, match="none"):
        run_in_child(TRIAL, limit_s=WAIT_S, command=[str(tmp_path / "none")])


def test_another_version_is_a_sentence_and_the_child_is_ended() -> None:
    """A version mismatch, as after an update, is reported and ends the child."""
    command = scripted_command([Speed(), "wait for a word"])
    command[4] = command[4].replace('"version": "', '"version": "other ')
    ending = run_in_child(TRIAL, limit_s=WAIT_S, command=command)
    assert isinstance(ending, Failed)
    assert "updated while it was running" in ending.message


def test_a_worker_that_stays_answers_again() -> None:
    """One process answers many requests, also after a cancelled one."""
    endings: list[Ending] = []
    worker = Worker(
        scripted_command([Speed()], ["wait"], [Speed({"images_per_s": 1.0})]), stays=True
    )
    process_id = worker.process_id
    for is_cancelled in (False, True, False):
        number = worker.send(TRIAL, ignore_event, endings.append)
        if is_cancelled:
            worker.cancel(number)
    worker.close()
    assert worker.join(WAIT_S)
    assert endings == [Done(Speed()), Stopped(), Done(Speed({"images_per_s": 1.0}))]
    assert process_id > 0
    assert worker.process_id == 0


def test_a_worker_that_is_gone_says_so_at_once() -> None:
    """Later requests report how it ended."""
    worker = Worker(python("os._exit(3)"), stays=True)
    endings: list[Ending] = []
    worker.send(TRIAL, ignore_event, endings.append)
    assert worker.join(WAIT_S)
    worker.send(TRIAL, ignore_event, endings.append)
    assert endings == [Died(3, ""), Died(3, "")]
    assert not worker.is_alive


def test_a_request_that_comes_while_the_last_endings_are_reported_has_an_ending() -> None:
    """A request sent by a listener while the process ends fails as well."""
    worker = Worker(python("os._exit(3)"), stays=True)
    endings: list[Ending] = []

    def ask_again(ending: Ending) -> None:
        endings.append(ending)
        worker.send(TRIAL, ignore_event, endings.append)

    worker.send(TRIAL, ignore_event, ask_again)
    assert worker.join(WAIT_S)
    assert endings == [Died(3, ""), Died(3, "")]


@pytest.mark.slow
def test_the_worker_finds_our_packages_from_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder "engine" in the current directory is not imported."""
    (tmp_path / "engine").mkdir()
    (tmp_path / "engine" / "__init__.py").write_text("raise SystemExit('not ours')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    events: list[object] = []
    assert run_in_child(TRIAL, limit_s=WAIT_S, on_event=events.append) == Done(Speed())
    assert [event.works for event in events if isinstance(event, Attempt)] == [True]


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("name", ["SIGKILL", "SIGSEGV", "SIGABRT"])
def test_a_signal_is_a_status(name: str) -> None:
    """A signal is a negative status, as in Python."""
    import signal

    ending = run_in_child(
        TRIAL, limit_s=WAIT_S, command=python(f"import signal; os.kill(os.getpid(), signal.{name})")
    )
    assert isinstance(ending, Died)
    assert ending.status == -signal.Signals[name]
