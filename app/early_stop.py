"""From the first moment on Ctrl+C ends the program quietly, and closed streams harm nothing; imports little."""

from __future__ import annotations

import atexit
import errno
import io
import os
import sys

TYPE_CHECKING = False  # a word that type checkers know; `typing` itself takes long to load
if TYPE_CHECKING:
    import signal
    from types import FrameType
else:
    import _signal as signal  # what is built in; the module itself loads much

_STANDARD_STREAMS = (0, 1, 2)
_STOPPED = (128 + signal.SIGINT, 128 + signal.SIGTERM)
_SCRIPTS = {"protoleaf", "protoleaf.exe", "protoleaf-script.py"}


def is_start(module: str) -> bool:
    """Whether a module is loaded to start the program, not by another program, a test, or a process of a pool.

    Such a process loads the script that started the program, and must not answer a stop in its place.
    """
    processes = sys.modules.get("multiprocessing.process")
    if processes is not None and processes.current_process().name != "MainProcess":
        return False
    return module == "__main__" or os.path.basename(sys.argv[0]) in _SCRIPTS  # noqa: PTH119 (imports nothing)


def guard_start() -> None:
    """Begin a process: one that is stopped while modules are still loaded ends with one line and the usual status.

    Where a standard stream is closed, the next file that is opened would get its number, and what a library prints
    would be written into a project; so closed ones lead nowhere.
    """
    end_quietly_when_stopped()
    for number in _STANDARD_STREAMS:
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stdout is None:  # so it is where it was closed
        sys.stdout = _ClosedOutput()
    if sys.stderr is None:
        sys.stderr = os.fdopen(2, "w", encoding="utf-8")
    if sys.stdin is None:
        sys.stdin = os.fdopen(0, encoding="utf-8")


def end_quietly_when_stopped() -> None:
    """Let Ctrl+C and a polite kill end the process at once, without a traceback.

    A worker hears Ctrl+C in a terminal as whoever started it does, who asks it to stop and speaks for it.
    """
    is_worker = sys.argv[1:2] == ["worker"]
    signal.signal(signal.SIGINT, signal.SIG_IGN if is_worker else _end)
    signal.signal(signal.SIGTERM, _end_silently if is_worker else _end)


def end_command(status: int) -> None:
    """End a command: what it did is done, so a stop that comes now changes nothing.

    After one that was stopped nothing is left to the interpreter's own end, which would wait for threads, and which
    takes an interruption that a library saw for its own; what modules do at the end is done, so nothing is left behind.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    if status in _STOPPED:
        atexit._run_exitfuncs()  # noqa: SLF001 (the interpreter calls the same at its end)
        _flush()
        os._exit(status)


def _flush() -> None:
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        return


def _end(number: int, _frame: FrameType | None) -> None:
    _write_line(b"protoleaf: stopped\n")
    os._exit(128 + number)


def _end_silently(number: int, _frame: FrameType | None) -> None:
    os._exit(128 + number)


def _write_line(line: bytes) -> None:
    try:
        os.write(2, line)
    except OSError:
        return


class _ClosedOutput(io.TextIOBase):
    """Standard output that is closed: a command that has something to print says so instead of losing it."""

    encoding = "utf-8"

    def write(self, _text: str, /) -> int:
        """Refuse, as the system does."""
        raise OSError(errno.EBADF, "standard output is closed")

    def flush(self) -> None:
        """Nothing waits to be written."""

    def isatty(self) -> bool:
        return False
