"""The start of a process: signals during imports, and closed standard streams."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and numbered streams of POSIX")

LOADING = """
import select, sys
sys.argv = ["protoleaf", *{words!r}]
from app.early_stop import guard_start
guard_start()
print("loading", flush=True)
while not select.select([sys.stdin], [], [], 0.02)[0]:
    pass
"""
"""A program that waits in short steps.

Python handles a signal between them, so that one at the start of a wait is not lost.
"""


def stopped(number: signal.Signals, *words: str) -> tuple[int, str]:
    """Status and standard error of a process stopped during its imports."""
    program = [sys.executable, "-c", LOADING.format(words=words)]
    with subprocess.Popen(program, stdin=-1, stdout=-1, stderr=-1, text=True) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.readline()
        child.send_signal(number)
        if number is signal.SIGINT and words == ("worker",):
            child.stdin.close()
        messages = child.stderr.read()
        return child.wait(), messages


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stop_while_loading_is_one_line(number: signal.Signals, status: int) -> None:
    """There is no traceback of an interrupted import, and the exit status is the usual one."""
    assert stopped(number, "check") == (status, "protoleaf: stopped\n")


@pytest.mark.slow
def test_a_worker_says_nothing() -> None:
    """Ctrl+C in a terminal reaches it, too; its parent stops it and reports."""
    assert stopped(signal.SIGTERM, "worker") == (143, "")
    assert stopped(signal.SIGINT, "worker") == (0, "")


ENDING = """
import os, signal, sys
from app.early_stop import end_command
signal.signal(signal.SIGTERM, signal.default_int_handler)
status = int(sys.argv[1])
try:
    exec("os.kill(os.getpid(), signal.SIGTERM)" if status else "")
except KeyboardInterrupt:
    pass
end_command(status)
os.kill(os.getpid(), signal.SIGTERM)
print("done")
sys.exit(status)
"""


def ended(status: int, folder: Path) -> tuple[int, str, str]:
    """Status, output and standard error of a process that is stopped after a command."""
    (folder / "ending.py").write_text(ENDING, encoding="utf-8")
    places = f"{folder}{os.pathsep}{Path(__file__).parents[2]}"
    command = [sys.executable, "-m", "ending", str(status)]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": places},
    )
    return done.returncode, done.stdout, done.stderr


def test_the_end_of_a_command(tmp_path: Path) -> None:
    """A signal after the work changes nothing; after one in time the status is that of the signal.

    A module run by `python -m` would die of Ctrl+C if it arrived in generated code, such as a
    dataclass's.
    """
    assert ended(0, tmp_path) == (0, "done\n", "")
    assert ended(143, tmp_path) == (143, "", "")


FROZEN = """
import multiprocessing, runpy, sys

def help_and_end():
    print(sys.argv[1:])
    sys.exit()

sys.frozen, multiprocessing.freeze_support = True, help_and_end
runpy.run_module("app", run_name="__main__")
"""
"""The runtime hook of PyInstaller, which also starts child processes of multiprocessing."""


def test_the_packaged_program_is_a_process_of_pythons_own_when_it_is_started_as_one(
    tmp_path: Path,
) -> None:
    """Its arguments are not options of the program, and no window opens."""
    words = ["-B", "-c", "from multiprocessing.resource_tracker import main;main(5)"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(
        [sys.executable, "-c", FROZEN, *words],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
        cwd=tmp_path,
    )
    assert (done.stdout, done.stderr) == (f"{words}\n", "")


POOL = """
import multiprocessing, signal
from app.early_stop import guard_start, is_start
if is_start("app.__main__"):
    guard_start()

def handler():
    return getattr(signal.getsignal(signal.SIGTERM), "__name__", "SIG_DFL")

if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(signal.getsignal(signal.SIGTERM).__name__, pool.apply(handler))
"""


def test_a_process_of_a_pool_is_no_start(tmp_path: Path) -> None:
    """It loads the main script, and must not handle a signal in its place."""
    script = tmp_path / "protoleaf"
    script.write_text(POOL, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(
        [sys.executable, script],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
        cwd=tmp_path,
    )
    assert done.stdout.split() == ["_end", "SIG_DFL"]


def shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a shell line; `$P` is the program."""
    environment = {**os.environ, "P": f"{sys.executable} -m app"}
    return subprocess.run(
        ["bash", "-c", line],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        cwd=folder,
    )


@pytest.mark.slow
def test_closed_streams(tmp_path: Path) -> None:
    """Output that cannot be printed is an error of one line; a closed standard error is ignored."""
    repository = Path(__file__).parents[2]
    done = shell(f"export PYTHONPATH={repository}; $P --version >&-", tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "cannot be printed" in done.stderr
    done = shell(f"export PYTHONPATH={repository}; $P --version 2>&-; $P --version <&-", tmp_path)
    assert (done.returncode, done.stdout.count("\n"), done.stderr) == (0, 2, "")


@pytest.mark.slow
def test_a_reader_that_has_gone(tmp_path: Path) -> None:
    """As with `head`: no message, and the exit status of a broken pipe."""
    repository = Path(__file__).parents[2]
    line = f"export PYTHONPATH={repository}; {{ $P --version; echo $? >&2; }} | true"
    assert shell(line, tmp_path).stderr == "141\n"
