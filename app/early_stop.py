"""Ctrl+C and closed standard streams during the start of the program; imports little."""

from __future__ import annotations

import atexit
import errno
import io
import os
import sys

TYPE_CHECKING = False  # known to type checkers; importing `typing` takes long
if TYPE_CHECKING:
    import signal
    from types import FrameType
else:
    import _signal as signal  # the built-in part; the module itself imports much

_STANDARD_STREAMS = (0, 1, 2)
_STOPPED = (128 + signal.SIGINT, 128 + signal.SIGTERM)
_SCRIPTS = {"protoleaf", "protoleaf.exe", "protoleaf-script.py"}


def is_start(module: str) -> bool:
    """Whether a module starts the program, rather than another program, a test or a pool process.

    A pool process loads the script that started the program, and must not install signal handlers.
    """
    processes = sys.modules.get("multiprocessing.process")
    if processes is not None and processes.current_process().name != "MainProcess":
        return False
    # Not `Path(...).name`: its module takes long to load.
    return module == "__main__" or os.path.basename(sys.argv[0]) in _SCRIPTS  # noqa: PTH119


def guard_start() -> None:
    """Handle stop signals from now on, also during imports, and reopen closed standard streams.

    The next opened file would get the number of a closed stream, and a library could print into a
    project.
    """
    end_quietly_when_stopped()
    for number in _STANDARD_STREAMS:
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stdout is None:  # None where the stream is closed
        sys.stdout = _ClosedOutput()
    if sys.stderr is None:
        sys.stderr = os.fdopen(2, "w", encoding="utf-8")
    if sys.stdin is None:
        sys.stdin = os.fdopen(0, encoding="utf-8")


def end_quietly_when_stopped() -> None:
    """End the process at once, without a traceback, on Ctrl+C and SIGTERM.

    A worker ignores Ctrl+C of the terminal: its parent gets it too, and stops it.
    """
    is_worker = sys.argv[1:2] == ["worker"]
    signal.signal(signal.SIGINT, signal.SIG_IGN if is_worker else _end)
    signal.signal(signal.SIGTERM, _end_silently if is_worker else _end)


def end_command(status: int) -> None:
    """End a command; signals from now on are ignored.

    After a stop signal, skip the interpreter's shutdown, which would wait for threads and may
    interrupt a library; exit functions of modules still run.
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
    """Closed standard output: printing raises an error instead of losing the text."""

    encoding = "utf-8"

    def write(self, _text: str, /) -> int:
        raise OSError(errno.EBADF, "standard output is closed")

    def flush(self) -> None:
        """Do nothing: there is no buffer."""

    def isatty(self) -> bool:
        return False
