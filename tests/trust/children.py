"""Child processes that a trial may crash, hang, kill or starve.

Children come from a fork server, a clean process with one thread that has loaded the engine's light
modules, so they start in milliseconds. Each child leads its own process group, has its own caches,
home and temporary folder, and writes its output into a file.
"""

import contextlib
import multiprocessing
import os
import resource
import signal
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from engine.cli.commands import COMMANDS
from engine.config import BACKBONES_VARIABLE, BACKUPS_VARIABLE, CACHE_VARIABLE

PRELOADED = (
    "engine.cli.main",
    *(f"engine.cli.{place.partition(':')[0]}" for place, _ in COMMANDS.values()),
    "tests.trust.activities",
    "tests.trust.survivor",
)
HANG_S = 60.0
_OUTPUT = "output.txt"
_NOT_KNOWN = 255  # status of multiprocessing if the fork server lost it
_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(list(PRELOADED))
_starting = threading.Lock()
_KILOBYTE = 1024


@dataclass(frozen=True)
class Place:
    """The folder of one trial.

    Attributes:
        folder: of everything in the trial.
    """

    folder: Path

    @property
    def desk(self) -> Path:
        """Folder of the project file, without other files."""
        return self.folder / "desk"

    @property
    def project(self) -> Path:
        """The project file."""
        return self.desk / "shapes.protoleaf"

    @property
    def caches(self) -> Path:
        """Caches of embeddings and models."""
        return self.folder / "cache"

    @property
    def temporary(self) -> Path:
        """Temporary files of the children."""
        return self.folder / "tmp"

    @property
    def home(self) -> Path:
        """Home of the children."""
        return self.folder / "home"

    @property
    def exports(self) -> Path:
        """Exports; each is complete, or hidden."""
        return self.folder / "exports"

    @property
    def log(self) -> Path:
        """Acknowledgements."""
        return self.folder / "acknowledged.jsonl"

    def output(self) -> str:
        """Standard output and standard error of the last child."""
        path = self.folder / _OUTPUT
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


@dataclass(frozen=True)
class Ending:
    """How a child ended.

    Attributes:
        answer: returned value; None without one.
        error: traceback of an exception; "" for none.
        is_hang: whether it was killed after a timeout.
        exit_code: of the process; negative for a signal.
        peak_bytes: peak memory; 0 if unknown.
        has_answered: whether its function returned or raised.
    """

    answer: Any
    error: str
    is_hang: bool
    exit_code: int | None
    peak_bytes: int
    has_answered: bool = False

    @property
    def is_crash(self) -> bool:
        """Whether the process died by itself; an unknown status after an answer does not count."""
        is_status_unknown = self.exit_code == _NOT_KNOWN and self.has_answered
        return not self.is_hang and self.exit_code != 0 and not is_status_unknown


class Child:
    """A running child.

    Args:
        place: its folders.
        work: a module-level function; runs in the child.
        arguments: plain values for it.
    """

    def __init__(self, place: Place, work: Callable[..., Any], *arguments: Any) -> None:
        self._pipe, far = _context.Pipe()
        self._process = _context.Process(target=_inside, args=(far, place, work, arguments))
        with _starting:
            self._process.start()
        far.close()

    @property
    def process_id(self) -> int:
        """Of the child without its own children."""
        return self._process.pid or 0

    @property
    def is_alive(self) -> bool:
        """Whether it is running."""
        return self._process.is_alive()

    def ended_within(self, seconds: float) -> bool:
        """Wait for its end with a timeout."""
        return bool(wait([self._process.sentinel], timeout=seconds))

    def kill(self) -> int:
        """Kill its process group with SIGKILL; return the peak memory."""
        peak = _peak_of(self._process.pid or 0)
        _kill_group(self._process.pid or 0)
        self._process.join()
        return peak

    def ending(self, limit_s: float = HANG_S) -> Ending:
        """Wait for its answer and end; kill it after a timeout."""
        message: tuple[Any, str, int] = (None, "", 0)
        has_answered = False
        is_hang = not self._pipe.poll(limit_s)
        if is_hang:
            peak = self.kill()
            return Ending(None, "", is_hang=True, exit_code=self._process.exitcode, peak_bytes=peak)
        with contextlib.suppress(EOFError, OSError):
            message = self._pipe.recv()
            has_answered = True
        if not self.ended_within(limit_s):
            self.kill()
            is_hang = True
        self._process.join()
        _kill_group(self._process.pid or 0)
        self._pipe.close()
        return Ending(
            *message[:2],
            is_hang=is_hang,
            exit_code=self._process.exitcode,
            peak_bytes=message[2],
            has_answered=has_answered,
        )


def run_apart(
    place: Place, work: Callable[..., Any], *arguments: Any, limit_s: float = HANG_S
) -> Ending:
    """Run a function in a child and wait for it.

    Args:
        place: its folders.
        work: a module-level function.
        arguments: plain values for it.
        limit_s: timeout in seconds, after which it is killed.
    """
    return Child(place, work, *arguments).ending(limit_s)


def own_peak_bytes() -> int:
    """Peak memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _KILOBYTE


def _inside(
    pipe: Connection, place: Place, work: Callable[..., Any], arguments: tuple[Any, ...]
) -> None:
    os.setsid()
    settle(place)
    _speak_into(place.folder / _OUTPUT)
    try:
        answer, error = work(*arguments), ""
    except BaseException:  # noqa: BLE001 (recorded)
        answer, error = None, traceback.format_exc()
    with contextlib.suppress(BrokenPipeError):
        pipe.send((answer, error, own_peak_bytes()))


def settle(place: Place) -> None:
    """Use a place for caches, home and temporary files of this process."""
    for folder in (place.temporary, place.home, place.caches):
        folder.mkdir(parents=True, exist_ok=True)
    variables = {
        CACHE_VARIABLE: place.caches,
        BACKBONES_VARIABLE: place.home / "backbones",
        "HOME": place.home,
    }
    variables[BACKUPS_VARIABLE] = place.home / "backups"
    variables |= {
        name: place.home / name.lower()
        for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME")
    }
    os.environ.update({name: str(path) for name, path in variables.items()})
    os.environ.update(TMPDIR=str(place.temporary), ORT_DISABLE_TELEMETRY="1")
    tempfile.tempdir = None


def _speak_into(path: Path) -> None:
    speech = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for descriptor in (1, 2):
        os.dup2(speech, descriptor)
    os.close(speech)
    sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: PTH123, SIM115 (never closed)


def _kill_group(pid: int) -> None:
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(pid, signal.SIGKILL)


def _peak_of(pid: int) -> int:
    with contextlib.suppress(OSError, ValueError):
        for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * _KILOBYTE
    return 0
