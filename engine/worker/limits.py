"""Resource limits of processes that run untrusted files, and their end with the parent."""

import faulthandler
import os
import queue
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar, final

import psutil

from engine.errors import ModelError
from engine.events import CancelToken
from engine.texts import Message
from engine.worker.client import Died, Done, TookTooLong, TookTooMuchMemory, run_in_child
from engine.worker.protocol import Failed, Request

R = TypeVar("R")

INSPECTION_S = 60.0
TRIAL_S = 240.0
MOST_FILE_BYTES = 2**31 - 1  # what a protocol buffer may hold; external data counts too
SHARE_OF_MEMORY = 0.5
LEAST_MEMORY = 2**30
MOST_MEMORY = 16 * 2**30
STATUS = Path("/proc/self/status")  # Linux only: what the kernel knows of this process
_PROGRAM_BYTES = 2**29  # what the program takes itself, generously
_LONGEST_WORDS = 200
_LONGEST_REASON = 1_000
_REMEDY = "use another file"


@dataclass(frozen=True)
class Limits:
    """The limits of examining or trying a file."""

    seconds: float  # of wall time
    memory_bytes: int  # beyond what the program itself needs
    file_bytes: int  # size of the file with its external data

    @property
    def for_trial(self) -> "Limits":
        return replace(self, seconds=max(self.seconds, TRIAL_S))


def usual_limits() -> Limits:
    """Limits that fit this computer."""
    half = int(psutil.virtual_memory().total * SHARE_OF_MEMORY)
    return Limits(
        INSPECTION_S, min(max(half, LEAST_MEMORY), MOST_MEMORY), min(MOST_FILE_BYTES, half)
    )


def apply_limits(limits: Limits) -> None:
    """Let the operating system hold this process to limits; where it cannot, its parent watches it.

    Libraries should be loaded before: their memory does not count.
    """
    if sys.platform == "win32":
        return
    import resource

    information = psutil.Process().memory_info()
    # Private memory, not the address space: libraries reserve far more of that than they ever use.
    _lower(
        resource.RLIMIT_DATA,
        int(getattr(information, "data", information.vms)) + limits.memory_bytes,
    )
    _lower(
        resource.RLIMIT_CPU,
        int(psutil.Process().cpu_times().user + limits.seconds * (os.cpu_count() or 1)) + 1,
    )
    _lower(resource.RLIMIT_CORE, 0)


def _lower(kind: int, wanted: int) -> None:
    import resource

    _, hard = resource.getrlimit(kind)
    allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(kind, (allowed, allowed))


def ending_text(return_code: int) -> str:
    """How a process ended, in words."""
    if return_code >= 0:
        return Message("it ended with status {status}", {"status": return_code})
    try:
        return Message(
            "the system ended it with {signal}", {"signal": signal.Signals(-return_code).name}
        )
    except ValueError:
        return Message("the system ended it with signal {number}", {"number": -return_code})


def peak_memory_bytes() -> int:
    """Peak memory of this process."""
    if sys.platform == "win32":
        return int(getattr(psutil.Process().memory_info(), "peak_wset", 0))
    if STATUS.exists():  # getrusage on Linux includes the parent process
        return int(STATUS.read_text(encoding="ascii").partition("VmHWM:")[2].split()[0]) * 1024
    import resource

    return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def call_child(
    request: Request[R],
    limits: Limits,
    *,
    cancel: CancelToken | None = None,
    command: Sequence[str] = (),
) -> R:
    """Let a child process, by default a worker, process an untrusted file within limits.

    Raises:
        ModelError: the error of the child, or that it crashed, took too long, or too much memory.
        Cancelled: `cancel` was set.
    """
    memory_bytes = limits.memory_bytes + _PROGRAM_BYTES
    try:
        ending = run_in_child(
            request,
            limit_s=limits.seconds,
            memory_bytes=memory_bytes,
            cancel=cancel,
            command=command,
        )
    except OSError as error:
        raise ModelError(
            "the file cannot be examined: no process can be started", found=str(error)
        ) from error
    match ending:
        case Done(result):
            return result
        case Failed(message) if message:
            raise ModelError(_shown(message))
        case TookTooLong():
            within = "an answer within {limit:g} s"
            raise ModelError(
                "the model takes too long", expected=within, remedy=_REMEDY, limit=limits.seconds
            )
        case TookTooMuchMemory():
            raise too_much_memory(limits.memory_bytes)
    raise ModelError(
        "the model crashed the process that examined it", found=_last_words(ending), remedy=_REMEDY
    )


def _last_words(ending: Failed | Died) -> str:
    if isinstance(ending, Failed):
        return ending.traceback.strip().splitlines()[-1][:_LONGEST_WORDS]
    words = ending.last_line[:_LONGEST_WORDS]
    how = ending_text(ending.status)
    return Message("{how} ({words})", {"how": how, "words": words}) if words else how


def _shown(reason: str) -> str:
    """A reason for display: shortened, and unprintable characters replaced."""
    plain = "".join(
        letter if letter.isprintable() else "�" for letter in reason[: _LONGEST_REASON + 1]
    )
    return plain if len(plain) <= _LONGEST_REASON else f"{plain[: _LONGEST_REASON - 1]}…"


def too_much_memory(limit_bytes: int) -> ModelError:
    """The error of a model that takes more memory than allowed."""
    return ModelError(
        "the model needs too much memory",
        expected="at most {limit:,.0f} MB",
        remedy=_REMEDY,
        limit=limit_bytes / 2**20,
    )


@final
class ParentWatch:
    """Ends this process with its parent, although a request hangs; one thread for all requests.

    It starts with the process:

    Without memory a thread may fail to start, and its starter waits for ever.
    """

    def __init__(self) -> None:
        self._begun: queue.SimpleQueue[tuple[CancelToken, threading.Event]] = queue.SimpleQueue()
        threading.Thread(target=self._watch, name="parent watch", daemon=True).start()

    @contextmanager
    def over(self, cancel: CancelToken) -> Iterator[None]:
        """Watch during one request, and cancel its token, as the end of standard input does."""
        is_over = threading.Event()
        self._begun.put((cancel, is_over))
        try:
            yield
        finally:
            is_over.set()
            cancel.cancel()

    def _watch(self) -> None:
        while True:
            cancel, is_over = self._begun.get()
            cancel.wait()
            if not is_over.is_set():
                os._exit(1)


@contextmanager
def ends_with_parent(cancel: CancelToken, limit_s: float = 0.0) -> Iterator[None]:
    """End this process, with all that hangs in it, with its parent.

    Args:
        cancel: set by the end of standard input, that is by the end of the parent.
        limit_s: also after this time; 0 for no limit. It needs no Python thread, which hanging code
            may block.
    """
    if limit_s > 0:
        faulthandler.dump_traceback_later(limit_s, exit=True, file=2)
    try:
        with ParentWatch().over(cancel):
            yield
    finally:
        if limit_s > 0:
            faulthandler.cancel_dump_traceback_later()
