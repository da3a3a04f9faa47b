"""The log: uncaught errors, one file per process, crash detection."""

import logging
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from engine.config import log_folder
from engine.log import UNCAUGHT, ProcessKind, logging_to_file

LOGGED = (
    "import faulthandler, logging, os, sys, threading\nfrom engine.log import ProcessKind, "
    "logging_to_file\n"
)
"""Start of the programs below."""

WRITES_MUCH = """
import engine.log
engine.log.SIZE_BYTES = 20_000
with logging_to_file(ProcessKind.WORKER) as log:
    print(log.path, flush=True)
    sys.stdin.readline()
    for number in range(2_000):
        logging.getLogger("test").info("process %d line %d", os.getpid(), number)
"""


def start(program: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", LOGGED + program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=dict(os.environ),
    )


def window_log() -> str:
    return (log_folder() / "window-1.log").read_text(encoding="utf-8")


def test_what_nobody_catches_is_logged_with_its_traceback() -> None:
    """In the main thread, in another one, and in finalizers.

    Standard error has it, too.
    """
    program = """
class Leaves:
    def __del__(self):
        raise OSError("left behind")
def fail():
    raise LookupError("in the thread")
with logging_to_file(ProcessKind.COMMAND):
    Leaves()
    thread = threading.Thread(target=fail, name="reader")
    thread.start()
    thread.join()
    raise RuntimeError("in the end")
"""
    process = start(program)
    _, errors = process.communicate()
    logged = (log_folder() / "command-1.log").read_text(encoding="utf-8")
    assert process.returncode == 1
    for error in ("OSError: left behind", "LookupError: in the thread", "RuntimeError: in the end"):
        assert error in logged
        assert error in errors
    assert "CRITICAL uncaught: in the thread reader" in logged
    assert logged.count("Traceback (most recent call last)") == 3


def test_a_native_crash_is_reported_once_the_next_time() -> None:
    """Its stack is in the log; a later start reports nothing."""
    process = start("with logging_to_file(ProcessKind.WINDOW): faulthandler._sigsegv()")
    process.communicate()
    assert process.returncode != 0
    with logging_to_file(ProcessKind.WINDOW) as log:
        (crash,) = log.crashed
        assert "Fatal Python error: Segmentation fault" in crash
        assert f"process {process.pid}" in crash
    with logging_to_file(ProcessKind.WINDOW) as log:
        assert log.crashed == ()


def test_a_killed_window_is_reported_and_only_its_latest_session() -> None:
    """After SIGKILL only the mark is left."""
    with logging_to_file(ProcessKind.WINDOW):
        logging.getLogger("test").info("an earlier session")
    process = start(
        "with logging_to_file(ProcessKind.WINDOW):\n logging.getLogger('test').info('the last "
        "word')\n os.kill(os.getpid(), 9)"
    )
    process.communicate()
    with logging_to_file(ProcessKind.WINDOW) as log:
        (crash,) = log.crashed
    assert "the last word" in crash
    assert "an earlier session" not in crash


def test_a_computer_that_was_switched_off_is_no_crash() -> None:
    """The mark is older than the system's start, and no fault was logged."""
    start("with logging_to_file(ProcessKind.WINDOW): os.kill(os.getpid(), 9)").communicate()
    os.utime(log_folder() / "window-1.running", (0, 0))
    with logging_to_file(ProcessKind.WINDOW) as log:
        assert log.crashed == ()


def test_windows_side_by_side_and_clean_ends_are_no_crash() -> None:
    """The second has its own file.

    The first is no crash while it runs, nor after closing.
    """
    with (
        logging_to_file(ProcessKind.WINDOW) as first,
        logging_to_file(ProcessKind.WINDOW) as second,
    ):
        assert (first.crashed, second.crashed) == ((), ())
        assert first.path is not None
        assert second.path is not None
        assert (first.path.name, second.path.name) == ("window-1.log", "window-2.log")
    with logging_to_file(ProcessKind.WINDOW) as third:
        assert third.crashed == ()
        assert third.path == first.path


def test_an_uncaught_error_that_nobody_was_shown_is_reported_the_next_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Even if the window continued and was closed.

    Not if the user has seen it.
    """
    monkeypatch.setattr(sys, "excepthook", lambda *_error: None)
    for is_shown in (False, True):
        with logging_to_file(ProcessKind.WINDOW) as log:
            sys.excepthook(ValueError, ValueError("in a slot"), None)
            assert log.has_unread_error
            log.has_unread_error = not is_shown
        with logging_to_file(ProcessKind.WINDOW) as log:
            assert ["ValueError: in a slot" in session for session in log.faulty] == (
                [] if is_shown else [True]
            )
            assert log.crashed == ()


def test_a_window_that_cannot_start_is_reported_the_next_time() -> None:
    """The error propagates to the caller."""
    with pytest.raises(RuntimeError, match="no screen"), logging_to_file(ProcessKind.WINDOW):
        raise RuntimeError("no screen")
    with logging_to_file(ProcessKind.WINDOW) as log:
        assert "RuntimeError: no screen" in log.crashed[0]


@pytest.mark.slow
def test_processes_that_write_at_once_share_no_file() -> None:
    """Each rotates its own file, so no line is lost or mixed."""
    both = [start(WRITES_MUCH) for _ in range(2)]
    paths = [Path(process.stdout.readline().strip()) for process in both if process.stdout]
    assert {path.name for path in paths} == {"worker-1.log", "worker-2.log"}
    for process in both:
        process.communicate("go\n")
    for process, path in zip(both, paths, strict=True):
        older = [path.with_name(f"{path.name}.{number}") for number in (2, 1)]
        lines = "".join(file.read_text(encoding="utf-8") for file in (*older, path)).splitlines()
        expected = [
            f"process {process.pid} line {number}" for number in range(2_000 - len(lines), 2_000)
        ]
        assert [line.partition("test: ")[2] for line in lines] == expected
        assert all(file.stat().st_size <= 20_000 for file in (*older, path))


def test_a_folder_that_refuses_costs_the_log_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Work continues, and errors are still raised."""
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("PROTOLEAF_LOGS", str(tmp_path / "file" / "logs"))
    with logging_to_file(ProcessKind.WINDOW) as log:
        logging.getLogger("test").warning("nowhere to go")
    assert log.path is None


def test_a_full_disk_costs_lines_alone() -> None:
    """Neither lost lines nor the end of the program raise."""
    program = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))
with logging_to_file(ProcessKind.WINDOW):
    for number in range(100):
        logging.getLogger("test").info("line %d of many", number)
print("done")
"""
    process = start(program)
    assert process.communicate() == ("done\n", "")
    assert process.returncode == 0


def test_nobody_can_lead_the_log_elsewhere(tmp_path: Path) -> None:
    """A link of the log's name is not followed or changed."""
    target = tmp_path / "diary.txt"
    target.write_text("mine")
    log_folder().mkdir()
    (log_folder() / "window-1.log").symlink_to(target)
    with logging_to_file(ProcessKind.WINDOW) as log:
        logging.getLogger("test").warning("into a diary?")
    assert log.path is None
    assert target.read_text() == "mine"


def test_everything_is_as_before_afterwards() -> None:
    """Hooks, level and handlers are restored."""
    root = logging.getLogger()
    before = (
        sys.excepthook,
        threading.excepthook,
        sys.unraisablehook,
        root.level,
        list(root.handlers),
    )
    with logging_to_file(ProcessKind.WINDOW):
        assert sys.excepthook is not before[0]
        logging.getLogger(UNCAUGHT).warning("inside")
    assert before == (
        sys.excepthook,
        threading.excepthook,
        sys.unraisablehook,
        root.level,
        list(root.handlers),
    )
    assert "inside" in window_log()
