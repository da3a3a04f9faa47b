"""Disturbing an import: its processes are killed, stopped or starved, and must not remain."""

import os
import resource
import signal
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random

import psutil

from tests.support.device_owner import MODULE, READERS
from tests.trust.children import Child
from tests.trust.outcome import Fault
from tests.trust.photo_importer import Import

LOOK_S = 0.002
MOMENT_S = 4.0  # time until a disturbance, if fewer results were reported
LEFT_S = 15.0  # time after which a running process counts as left behind
_SHARED = Path("/dev/shm")  # noqa: S108 (shared memory on Linux)
_PROBES = (b"", b"blat")  # of Python's tempfile


class Scene:
    """A running import and its processes.

    Attributes:
        hits: readers killed, stopped or starved: each may cost its current file.
        is_orphaned: whether the parent was killed.
        is_broken_off: whether the first run cannot finish.
    """

    def __init__(self, task: Import, child: Child, chance: Random) -> None:
        self.hits = 0
        self.is_orphaned = False
        self.is_broken_off = False
        self._task = task
        self._child = child
        self._chance = chance
        self._stopped: list[int] = []
        self._deeds: Mapping[str, Callable[[], bool]] = {
            "kill a reader": partial(self._hit, signal.SIGKILL, 1),
            "kill all readers": partial(self._hit, signal.SIGKILL, READERS),
            "stop a reader": partial(self._hit, signal.SIGSTOP, 1),
            "stop all readers": partial(self._hit, signal.SIGSTOP, READERS),
            "starve a reader": self._starve_reader,
            "kill the owner": self._kill_owner,
            "kill the starter": self._kill_starter,
            "cancel": self._cancel,
        }

    def wait_for(self, results: int) -> None:
        """Wait for a number of results, the end of the run, or a timeout."""
        end_s = time.monotonic() + MOMENT_S
        while self._child.is_alive and not self._is_over() and time.monotonic() < end_s:
            if sum(len(run.results) for run in self._task.runs()[:1]) >= results:
                break
            time.sleep(LOOK_S)

    def do(self, deed: str) -> None:
        """Do one disturbance as soon as its target exists."""
        while self._child.is_alive and not self._is_over() and not self._deeds[deed]():
            time.sleep(LOOK_S)

    def continue_all(self) -> None:
        """Continue stopped processes."""
        for process_id in self._stopped:
            with suppress(ProcessLookupError):
                os.kill(process_id, signal.SIGCONT)
        self._stopped.clear()

    def _is_over(self) -> bool:
        return any(run.ending for run in self._task.runs()[:1])

    def _owners(self) -> list[psutil.Process]:
        return [each for each in _children(self._child.process_id) if MODULE in _command(each)]

    def _readers(self) -> list[psutil.Process]:
        """Reader processes, without the owner's fork before exec, whose stop blocks the owner."""
        below = [each for owner in self._owners() for each in _children(owner.pid)]
        commands = [(each, _command(each)) for each in below if each.pid not in self._stopped]
        return [each for each, command in commands if "-m" in command and MODULE not in command]

    def _hit(self, number: int, most: int) -> bool:
        """Send a signal to readers, if there are any."""
        readers = self._readers()
        chosen = self._chance.sample(readers, min(most, len(readers)))
        self.hits += len(chosen)
        return self._signal(chosen, number)

    def _signal(self, processes: list[psutil.Process], number: int) -> bool:
        for process in processes:
            with suppress(psutil.NoSuchProcess):
                process.send_signal(number)
                self._stopped += [process.pid] if number == signal.SIGSTOP else []
        return bool(processes)

    def _starve_reader(self) -> bool:
        """Limit a reader's memory to its present size."""
        for reader in self._readers()[:1]:
            with suppress(psutil.NoSuchProcess):
                size = reader.memory_info().vms
                reader.rlimit(resource.RLIMIT_AS, (size, size))
                self.hits += 1
                return True
        return False

    def _kill_owner(self) -> bool:
        self.is_broken_off = self._signal(self._owners(), signal.SIGKILL)
        return self.is_broken_off

    def _kill_starter(self) -> bool:
        if not self._owners():
            return False
        os.kill(self._child.process_id, signal.SIGKILL)
        self.is_orphaned = self.is_broken_off = True
        return True

    def _cancel(self) -> bool:
        self._task.cancelled.touch()
        self.is_broken_off = True
        return True


def remains(task: Import) -> list[Fault]:
    """Leftovers of an ended import: processes and shared memory, which are removed, and files."""
    end_s = time.monotonic() + LEFT_S
    while (left := _processes_of(task)) and time.monotonic() < end_s:
        time.sleep(0.05)
    found = [f"process {' '.join(_command(process))[-120:]}" for process in left]
    for process in left:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    for path in _SHARED.glob(f"{task.token}*"):
        found.append(f"shared memory {path.name}")
        path.unlink()
    files = [path for path in task.place.temporary.glob("*") if path.read_bytes() not in _PROBES]
    found += [f"temporary file {path.name}" for path in files]
    return [Fault("other", f"left behind: {what}") for what in found]


def _processes_of(task: Import) -> list[psutil.Process]:
    """Running processes with the temporary folder of the import."""
    return [each for each in psutil.process_iter() if _temporary(each) == str(task.place.temporary)]


def _temporary(process: psutil.Process) -> str:
    with suppress(psutil.Error, OSError):
        if process.status() != psutil.STATUS_ZOMBIE:
            return process.environ().get("TMPDIR", "")
    return ""


def _children(process_id: int) -> list[psutil.Process]:
    with suppress(psutil.Error):
        return psutil.Process(process_id).children()
    return []


def _command(process: psutil.Process) -> list[str]:
    with suppress(psutil.Error):
        return process.cmdline()
    return []
