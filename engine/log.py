"""The log: what went wrong in a process of the program, in files that stay on this computer.

Each process has its own file, so that no two rotate the same one: `window-1.log` for the first
window, `window-2.log` for the second. A lock file marks names in use; the system releases it when
the process dies. A full disk or a folder that refuses costs lines of the log, never the work.
"""

import faulthandler
import logging
import os
import platform
import sys
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import TracebackType
from typing import final

from filelock import FileLock, Timeout

from engine import __version__
from engine.config import log_folder
from engine.new_file import open_own, private_folder

# of one file; some thousand faults with their tracebacks (decision 57)
SIZE_BYTES = 1_000_000
OLDER_FILES = 2  # kept by rotation (decision 57)
MOST_PROCESSES = 32  # of one kind that can have a log at once
SESSION_LINES = 300  # the most that is read of one session, from its end
UNCAUGHT = "uncaught"  # logger of uncaught errors
_STARTED = f"INFO {__name__}: started:"
_RUNNING = ".running"
_CLOSED = b"closed"  # what the mark of a window holds that was closed after an error
_LOCK = ".lock"
_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
_FAULTS = (" ERROR ", " CRITICAL ", "Fatal Python error", "Windows fatal exception")

_log = logging.getLogger(__name__)


class ProcessKind(StrEnum):
    """Kinds of processes of the program."""

    WINDOW = "window"
    WORKER = "worker"
    COMMAND = "command"


@dataclass
class Log:
    """The log of this process."""

    path: Path | None = None  # its file; None where none can be written
    # latest sessions of earlier windows that ended without being closed
    crashed: tuple[str, ...] = ()
    # of those that were closed after an uncaught error whose report was not read
    faulty: tuple[str, ...] = ()
    has_unread_error: bool = False  # an uncaught error of this session whose report was not read
    has_ended_well: bool = False  # whether this process has ended without an error at the very end


@contextmanager
def logging_to_file(kind: ProcessKind) -> Iterator[Log]:
    """Log to a file within the block: log records, uncaught errors, and crashes of native code.

    Only a window leaves a mark while it runs, so that its crash is known the next time.
    """
    with ExitStack() as stack:
        try:
            log = _opened(kind, stack)
        except (OSError, RuntimeError):  # a folder that refuses; a disk without locks
            log = Log()
        if log.path is not None and kind is ProcessKind.WINDOW:
            _mark_running(log, log.path, stack)
        _catch_uncaught(log, stack)
        try:
            yield log
            log.has_ended_well = True
        except Exception as error:
            _note(log, "the program ended with an error", error)
            raise


def has_fault(session: str) -> bool:
    """Whether something went wrong in a session: an error, or a crash of native code."""
    return any(fault in session for fault in _FAULTS)


def session_text(path: Path) -> str:
    """The last session in a log: at most `SESSION_LINES` lines since the last start."""
    lines: deque[str] = deque(maxlen=SESSION_LINES)
    with suppress(OSError), path.open(encoding="utf-8", errors="replace") as file:
        for line in file:
            if _STARTED in line:
                lines.clear()
            lines.append(line)
    return "".join(lines)


def _opened(kind: ProcessKind, stack: ExitStack) -> Log:
    folder = private_folder(log_folder())
    path = _free_file(folder, kind, stack)
    ended = list(_ended_windows(path)) if kind is ProcessKind.WINDOW else []
    handler = _OwnFile(path)
    handler.setFormatter(logging.Formatter(_FORMAT))
    stack.callback(_close, handler)
    _attach(handler, stack)
    _log.info(
        "started: protoleaf %s, %s, process %d, Python %s, %s",
        __version__,
        kind,
        os.getpid(),
        platform.python_version(),
        platform.platform(),
    )
    crashed, faulty = (
        tuple(text for text, closed in ended if closed is was_closed)
        for was_closed in (False, True)
    )
    return Log(path, crashed, faulty)


def _free_file(folder: Path, kind: ProcessKind, stack: ExitStack) -> Path:
    for number in range(1, MOST_PROCESSES + 1):
        path = folder / f"{kind}-{number}.log"
        lock = FileLock(path.with_suffix(_LOCK), thread_local=False)
        with suppress(Timeout):
            lock.acquire(timeout=0)
            stack.callback(lock.release)
            return path
    raise FileExistsError(f"every log of a {kind} is taken")


def _attach(handler: logging.Handler, stack: ExitStack) -> None:
    """Log everything to the file, and warnings to standard error as without a file."""
    root = logging.getLogger()
    for each in (
        (handler,) if root.handlers or logging.lastResort is None else (handler, logging.lastResort)
    ):
        root.addHandler(each)
        stack.callback(root.removeHandler, each)
    stack.callback(root.setLevel, root.level)
    root.setLevel(logging.INFO)


def _close(handler: "_OwnFile") -> None:
    faulthandler.disable()
    with suppress(OSError):  # what a full disk did not take
        handler.close()


@final
class _OwnFile(RotatingFileHandler):
    def __init__(self, path: Path) -> None:
        super().__init__(path, maxBytes=SIZE_BYTES, backupCount=OLDER_FILES, encoding="utf-8")

    def _open(self) -> TextIOWrapper:
        """Open the file as private; a native crash writes its stack there, too."""
        stream = TextIOWrapper(open_own(Path(self.baseFilename), "ab"), "utf-8", "backslashreplace")
        faulthandler.enable(stream)
        return stream

    def doRollover(self) -> None:
        """Start the next file; go on in this one where another program has it open."""
        with suppress(OSError):
            super().doRollover()
        self.stream = self.stream or self._open()

    def handleError(self, record: logging.LogRecord) -> None:
        """Do without the line."""


def _mark_running(log: Log, path: Path, stack: ExitStack) -> None:
    mark = path.with_suffix(_RUNNING)

    def unmark() -> None:
        with suppress(OSError):
            if not log.has_unread_error:
                mark.unlink(missing_ok=True)
            elif log.has_ended_well:
                with open_own(mark, "wb") as file:
                    file.write(_CLOSED)

    with suppress(OSError):
        open_own(mark, "wb").close()
        stack.callback(unmark)


def _ended_windows(own: Path) -> Iterator[tuple[str, bool]]:
    """Sessions of ended windows that left their mark, and whether they were closed.

    A computer switched off is not a crash.
    """
    for mark in sorted(own.parent.glob(f"{ProcessKind.WINDOW}-*{_RUNNING}")):
        log = mark.with_suffix(own.suffix)
        if log != own and not _is_free(log):
            continue
        text = session_text(log)
        if has_fault(text) or mark.stat().st_mtime > _switched_on():
            yield text, mark.read_bytes() == _CLOSED
        mark.unlink()


def _is_free(log: Path) -> bool:
    try:
        with FileLock(log.with_suffix(_LOCK), timeout=0):
            return True
    except Timeout:
        return False


def _switched_on() -> float:
    import psutil  # only after a crash

    return float(psutil.boot_time())


def _catch_uncaught(log: Log, stack: ExitStack) -> None:
    before, before_threads, before_unraisable = (
        sys.excepthook,
        threading.excepthook,
        sys.unraisablehook,
    )

    def on_error(
        kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        _note(log, "in the main thread", error)
        before(kind, error, trace)

    def on_thread_error(given: threading.ExceptHookArgs) -> None:
        _note(
            log,
            f"in the thread {given.thread.name if given.thread else 'that is gone'}",
            given.exc_value,
        )
        before_threads(given)

    def on_unraisable(given: "sys.UnraisableHookArgs") -> None:
        _log.error(
            "%s: %r", given.err_msg or "ignored an error in", given.object, exc_info=given.exc_value
        )
        before_unraisable(given)

    sys.excepthook, threading.excepthook, sys.unraisablehook = (
        on_error,
        on_thread_error,
        on_unraisable,
    )
    stack.callback(setattr, sys, "excepthook", before)
    stack.callback(setattr, threading, "excepthook", before_threads)
    stack.callback(setattr, sys, "unraisablehook", before_unraisable)


def _note(log: Log, where: str, error: BaseException | None) -> None:
    if isinstance(error, Exception):  # and not Ctrl+C
        log.has_unread_error = True
        logging.getLogger(UNCAUGHT).critical("%s: %s", where, type(error).__name__, exc_info=error)
