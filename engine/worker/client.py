"""Client of workers: starts this program as a worker, sends requests and reads answers."""

import logging
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar, final

from engine.errors import Cancelled, FormatError, ProtoleafError
from engine.events import CancelToken
from engine.worker.protocol import Cancel, Failed, Request, Stopped, answers_to, encode, read

_log = logging.getLogger(__name__)

JOBS = "engine.jobs"
"""Module with the request handlers; the packaged program runs it as "worker"."""
# bytes at the end of what a worker wrote to standard error: room for a traceback
STDERR_KEPT = 20_000
_LOOK_S = 0.05
_MEMORY_LOOK_S = 0.2

R = TypeVar("R")


@dataclass(frozen=True)
class Done(Generic[R]):
    """The request was answered."""

    result: R


@dataclass(frozen=True)
class Died:
    """The process ended without an answer."""

    status: int  # as `subprocess.Popen.returncode` has it
    stderr: str  # the end of what it wrote there

    @property
    def last_line(self) -> str:
        lines = self.stderr.strip().splitlines()
        return lines[-1].strip() if lines else ""


@dataclass(frozen=True)
class TookTooLong:
    """The process was ended at its time limit."""


@dataclass(frozen=True)
class TookTooMuchMemory:
    """The process was ended at its memory limit."""


Ending = Done[Any] | Failed | Stopped | Died
OnEvent = Callable[[Any], None]
OnEnding = Callable[[Ending], None]


def ignore_event(_event: object) -> None:
    """A listener for callers that need only the result."""


def worker_command() -> list[str]:
    """Command that starts this program as a worker."""
    if getattr(sys, "frozen", False):
        return [sys.executable, "worker"]
    # -P: a folder "engine" in the working directory must not be imported
    return [sys.executable, "-P", "-m", JOBS]


def worker_environment() -> dict[str, str]:
    """Let the worker find the same packages as this program, wherever it is started from."""
    here = str(Path(__file__).resolve().parents[2])
    paths = os.pathsep.join(part for part in (here, os.environ.get("PYTHONPATH", "")) if part)
    return {**os.environ, "PYTHONPATH": paths, "PYTHONIOENCODING": "utf-8"}


@contextmanager
def children_without_ctrl_c() -> Iterator[None]:
    """Let processes started within the block ignore Ctrl+C from their start.

    A terminal sends it to every process; only the one started by the user handles it, and stops the
    others. On Windows they get none where they have no window of their own.
    """
    if os.name == "nt":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@dataclass(frozen=True)
class _Call:
    """A request without its answer."""

    request: Request[Any]
    on_event: OnEvent
    on_ending: OnEnding


@final
class Worker:
    """A process that answers requests. Listeners are called on a thread of the worker's, in order.

    Args:
        stays: whether it waits for more requests after an answer. Otherwise it is closed then, and
            the ending is reported when the process has ended.

    Raises:
        OSError: the process cannot be started.
    """

    def __init__(self, command: Sequence[str] = (), *, stays: bool = False) -> None:
        self._stays = stays
        self._calls: dict[int, _Call] = {}
        self._endings: list[tuple[_Call, Ending]] = []
        self._asked = 0
        self._is_accepting = True  # a request sent now will get an ending
        self._lock = threading.Lock()
        self._stderr = b""
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        with children_without_ctrl_c():
            self._process = subprocess.Popen(  # noqa: S603 (our own program)
                list(command) or worker_command(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=worker_environment(),
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
        steps = {"writer": self._write, "standard error": self._read_stderr, "reader": self._read}
        self._threads = [
            threading.Thread(target=step, name=f"worker {name}", daemon=True)
            for name, step in steps.items()
        ]
        for thread in self._threads:
            thread.start()

    @property
    def process_id(self) -> int:
        return self._process.pid if self._process.poll() is None else 0

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def send(self, request: Request[Any], on_event: OnEvent, on_ending: OnEnding) -> int:
        """Send a request; returns at once."""
        call = _Call(request, on_event, on_ending)
        with self._lock:
            self._asked += 1
            number = self._asked
            is_accepting = self._is_accepting
            if is_accepting:
                self._calls[number] = call
        if is_accepting:
            self._lines.put(encode(number, request))
        else:
            on_ending(self._death())
        return number

    def cancel(self, number: int) -> None:
        """Stop a request at its next safe point."""
        self._lines.put(encode(number, Cancel()))

    def close(self) -> None:
        """Let the worker cancel its request, and end."""
        self._lines.put(None)

    def kill(self) -> None:
        self._process.kill()

    def stop(self, grace_s: float = 0.0) -> None:
        """Close the worker, kill it after a while, and wait until every ending was reported."""
        self.close()
        if grace_s > 0:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(grace_s)
        self._process.kill()
        self.join()

    def join(self, timeout_s: float | None = None) -> bool:
        """Wait until the process has ended and every ending was reported."""
        self._threads[-1].join(timeout_s)
        return not self._threads[-1].is_alive()

    def memory_bytes(self) -> int:
        """Of the process now; 0 where unknown."""
        import psutil  # the window shows first

        try:
            return int(psutil.Process(self._process.pid).memory_info().rss)
        except psutil.Error:
            return 0

    # -- on its threads

    def _write(self) -> None:
        assert self._process.stdin is not None
        with suppress(OSError):  # it died: the reader reports it
            while (line := self._lines.get()) is not None:
                self._process.stdin.write(line)
                self._process.stdin.flush()
        with suppress(OSError):
            self._process.stdin.close()

    def _read_stderr(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self._stderr = (self._stderr + line)[-STDERR_KEPT:]
            _log.info("worker: %s", line.decode("utf-8", "replace").rstrip())
        self._process.stderr.close()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            try:
                self._on_line(line)
            except FormatError as error:
                _log.info("%s", error)
            except ProtoleafError as error:
                self._end_all(Failed.of(error))
                self.kill()
        self._process.wait()
        self._lines.put(None)
        for thread in self._threads[:-1]:
            thread.join()
        self._process.stdout.close()
        with self._lock:
            self._is_accepting = False
        self._end_all(self._death())
        for call, ending in self._endings:
            call.on_ending(ending)

    def _on_line(self, line: bytes) -> None:
        envelope = read(line)
        call = self._calls.get(envelope.number)
        if call is None:
            if envelope.kind == Failed.__name__:
                self._end_all(envelope.message(Failed))
            return
        try:
            message = envelope.message(*answers_to(call.request))
        except FormatError as error:  # a bug, which must not leave anybody waiting
            message = Failed("", f"{type(call.request).__name__}: {error}")
        if isinstance(message, call.request.result_type):
            self._end(envelope.number, Done(message))
        elif isinstance(message, Failed | Stopped):
            self._end(envelope.number, message)
        else:
            call.on_event(message)

    def _end(self, number: int, ending: Ending) -> None:
        with self._lock:
            call = self._calls.pop(number)
        if self._stays:
            call.on_ending(ending)
        else:
            self._endings.append((call, ending))
            self.close()

    def _end_all(self, ending: Ending) -> None:
        for number in list(self._calls):
            self._end(number, ending)

    def _death(self) -> Died:
        return Died(self._process.wait(), self._stderr.decode("utf-8", "replace"))


def run_in_child(
    request: Request[R],
    *,
    limit_s: float,
    memory_bytes: int = 0,
    cancel: CancelToken | None = None,
    on_event: OnEvent = ignore_event,
    command: Sequence[str] = (),
) -> Done[R] | Failed | Died | TookTooLong | TookTooMuchMemory:
    """Let a process of its own answer one request, and wait for it.

    Args:
        limit_s: the process is ended after this time.
        memory_bytes: the process is ended when it takes more; 0 for no limit.

    Raises:
        OSError: the process cannot be started.
        Cancelled: `cancel` was set.
    """
    endings: list[Ending] = []
    worker = Worker(command)
    worker.send(request, on_event, endings.append)
    try:
        early = _wait(worker, limit_s, memory_bytes, cancel or CancelToken())
    finally:
        worker.stop()
    (ending,) = endings
    if isinstance(ending, Stopped):
        raise Cancelled
    return early if early is not None and isinstance(ending, Died) else ending


def _wait(
    worker: Worker, limit_s: float, memory_bytes: int, cancel: CancelToken
) -> TookTooLong | TookTooMuchMemory | None:
    ends_at, look_at = time.monotonic() + limit_s, 0.0
    while not worker.join(_LOOK_S):
        cancel.raise_if_cancelled()
        now = time.monotonic()
        if now > ends_at:
            return TookTooLong()
        if memory_bytes and now > look_at:
            look_at = now + _MEMORY_LOOK_S
            if worker.memory_bytes() > memory_bytes:
                return TookTooMuchMemory()
    return None
