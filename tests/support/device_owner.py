"""An embedding worker with a simulated device, two readers, and simulated shortages."""

import errno
import json
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib import import_module
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path
from typing import Any, final

from engine import jobs
from engine.embedding import readers
from engine.runtime import sessions
from engine.runtime.backbone import BackboneSession
from engine.worker.client import Worker
from tests.support.mounted_disk import NoSmallDiskError, leave_free, mount_small_disk

MODULE = "tests.support.device_owner"
READER = (sys.executable, "-P", "-m", "tests.support.bad_reader")
READERS = 2


@dataclass(frozen=True)
class Shortage:
    """Simulated shortages of a reader owner.

    Attributes:
        reader: arguments of the reader processes; None for those of the program.
        hangs_s: timeout of a file that hangs.
        free_bytes: of shared memory; -1 for the actual amount.
        starts: processes that can be started; -1 for any number.
        memories: blocks of shared memory that can be made; -1 for any number.
        disk_bytes: size of a disk for shared memory, which is full when the last reader gets its
            share; 0 for the usual one.
        planted: "module:function" that breaks the program, to test the instrument.
    """

    reader: tuple[str, ...] | None = None
    hangs_s: float = readers.HANGS_S
    free_bytes: int = -1
    starts: int = -1
    memories: int = -1
    disk_bytes: int = 0
    planted: str = ""

    def command(self, token: str) -> list[str]:
        """Command of the owner, with a token in the names of its shared memory."""
        return [sys.executable, "-P", "-m", MODULE, token, json.dumps(asdict(self))]


NOTHING_LACKS = Shortage()


def lack(shortage: Shortage, token: str) -> None:
    """Apply a shortage to this process."""
    setattr(BackboneSession, "is_on_gpu", True)  # noqa: B010 (a property)
    setattr(sessions, "usable_cores", lambda: READERS)  # noqa: B010 (a foreign module)
    memory, start = _NamedMemory(token, shortage.memories), _Starts(shortage)
    changes = {"HANGS_S": shortage.hangs_s, "SharedMemory": memory, "Worker": start}
    if shortage.disk_bytes:
        with suppress(NoSmallDiskError):
            mount_small_disk(readers.SHARED, shortage.disk_bytes)
            memory.disk = readers.SHARED
    if shortage.free_bytes >= 0:
        changes["_free_memory"] = lambda: shortage.free_bytes
    for name, value in changes.items():
        setattr(readers, name, value)
    if shortage.planted:
        module, _, function = shortage.planted.partition(":")
        plant: Callable[[], None] = getattr(import_module(module), function)
        plant()


@final
class _NamedMemory:
    """Names shared memory by owner, up to a number of blocks."""

    def __init__(self, token: str, most: int) -> None:
        self._token = token
        self._most = most
        self._made = 0
        self.disk: Path | None = None

    def __call__(self, *, create: bool, size: int) -> SharedMemory:
        if self._made == self._most:
            raise OSError(errno.ENOSPC, "No space left on device")
        self._made += 1
        memory = SharedMemory(f"{self._token}_{self._made}", create=create, size=size)
        if self._made == READERS and self.disk is not None:
            leave_free(self.disk, 0)
        return memory


@final
class _Starts:
    """Starts reader processes, up to a number."""

    def __init__(self, shortage: Shortage) -> None:
        self._shortage = shortage
        self._started = 0

    def __call__(self, command: Sequence[str], *, stays: bool) -> Worker:
        if self._started == self._shortage.starts:
            raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")
        self._started += 1
        reader = self._shortage.reader
        return Worker(command if reader is None else [*READER, *reader], stays=stays)


def main(arguments: Sequence[str]) -> int:
    """Serve requests as the program does."""
    token, text = arguments
    values: dict[str, Any] = json.loads(text)
    reader = values.pop("reader")
    lack(Shortage(reader if reader is None else tuple(reader), **values), token)
    return jobs.main()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
