"""Child processes that a trial may crash, hang, kill or starve without harm to the instrument.

Children come from a fork server: a clean process with one thread that has the engine's light modules loaded, so that a
child starts in milliseconds. Each child leads its own process group, has its own caches, home and temporary folder, and
writes what it says into a file.
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
from typing import Any, Final

from engine.cli.commands import COMMANDS
from engine.config import BACKBONES_VARIABLE, BACKUPS_VARIABLE, CACHE_VARIABLE

PRELOADED: Final = (
    "engine.cli.main",
    *(f"engine.cli.{place.partition(':')[0]}" for place, _ in COMMANDS.values()),
    "tests.trust.activities",
    "tests.trust.survivor",
)
HANG_S: Final = 60.0
_OUTPUT: Final = "output.txt"
_NOT_KNOWN: Final = 255  # multiprocessing's word for a status that the fork server lost
_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(list(PRELOADED))
_starting = threading.Lock()
_KILOBYTE: Final = 1024


@dataclass(frozen=True)
class Place:
    """The folder of one trial.

    Attributes:
        folder: everything of the trial lies in it.
    """

    folder: Path

    @property
    def desk(self) -> Path:
        """Folder of the project file: nothing else may appear in it."""
        return self.folder / "desk"

    @property
    def project(self) -> Path:
        """The project file."""
        return self.desk / "shapes.protoleaf"

    @property
    def caches(self) -> Path:
        """Where embeddings and models are kept."""
        return self.folder / "cache"

    @property
    def temporary(self) -> Path:
        """The children's folder of temporary files."""
        return self.folder / "tmp"

    @property
    def home(self) -> Path:
        """The children's home."""
        return self.folder / "home"

    @property
    def exports(self) -> Path:
        """Where exports are written; each in it is whole, or hidden."""
        return self.folder / "exports"

    @property
    def log(self) -> Path:
        """Where acknowledgements are written."""
        return self.folder / "acknowledged.jsonl"

    def output(self) -> str:
        """What the latest child wrote to standard output and standard error."""
        path = self.folder / _OUTPUT
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


@dataclass(frozen=True)
class Ending:
    """How a child ended.

    Attributes:
        answer: what its work returned; None when it did not come to that.
        error: the traceback of what its work raised; "" when it raised nothing.
        is_hang: whether it had to be killed because it took too long.
        exit_code: of the process; negative for a signal.
        peak_bytes: most memory it had; 0 when nobody could ask.
        has_answered: whether its work came to its end, well or not.
    """

    answer: Any
    error: str
    is_hang: bool
    exit_code: int | None
    peak_bytes: int
    has_answered: bool = False

    @property
    def is_crash(self) -> bool:
        """Whether it died by itself; what the fork server could not tell about one that has answered is no death."""
        is_status_unknown = self.exit_code == _NOT_KNOWN and self.has_answered
        return not self.is_hang and self.exit_code != 0 and not is_status_unknown


class Child:
    """A running child.

    Args:
        place: its folders.
        work: a function of a module; runs in the child.
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
        """Of the child alone, without its own children."""
        return self._process.pid or 0

    @property
    def is_alive(self) -> bool:
        """Whether it still runs."""
        return self._process.is_alive()

    def ended_within(self, seconds: float) -> bool:
        """Wait for its end, at most so long."""
        return bool(wait([self._process.sentinel], timeout=seconds))

    def kill(self) -> int:
        """Kill it and all its own children with SIGKILL; returns the memory it had at most."""
        peak = _peak_of(self._process.pid or 0)
        _kill_group(self._process.pid or 0)
        self._process.join()
        return peak

    def ending(self, limit_s: float = HANG_S) -> Ending:
        """Wait for its answer and its end; kill it when it takes too long."""
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
    """Run a function in a child of its own and wait for it.

    Args:
        place: its folders.
        work: a function of a module.
        arguments: plain values for it.
        limit_s: after that many seconds it counts as hanging and is killed.
    """
    return Child(place, work, *arguments).ending(limit_s)


def own_peak_bytes() -> int:
    """Most memory that this process had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _KILOBYTE


def _inside(
    pipe: Connection, place: Place, work: Callable[..., Any], arguments: tuple[Any, ...]
) -> None:
    os.setsid()
    settle(place)
    _speak_into(place.folder / _OUTPUT)
    try:
        answer, error = work(*arguments), ""
    except BaseException:  # noqa: BLE001 (the instrument counts them)
        answer, error = None, traceback.format_exc()
    with contextlib.suppress(BrokenPipeError):
        pipe.send((answer, error, own_peak_bytes()))


def settle(place: Place) -> None:
    """Let this process keep its caches, home and temporary files in a place."""
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
    sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: PTH123, SIM115 (lives as long as the process)


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
