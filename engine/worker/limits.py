"""How much a process may take that runs what nobody vouches for, and how it is held to that."""

import os
import signal
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import psutil

INSPECTION_S: Final = 60.0
TRIAL_S: Final = 240.0
MOST_FILE_BYTES: Final = 2**31 - 1
"""What a protocol buffer may hold; external data counts too."""
SHARE_OF_MEMORY: Final = 0.5
LEAST_MEMORY: Final = 2**30
MOST_MEMORY: Final = 16 * 2**30
STATUS: Final = Path("/proc/self/status")
"""Linux only: what the kernel knows of this process."""


@dataclass(frozen=True)
class Limits:
    """What inspecting or trying out a file may take."""

    seconds: float  # of wall time
    memory_bytes: int  # beyond what the program itself needs
    file_bytes: int  # size of the file with its external data

    @property
    def for_trial(self) -> "Limits":
        """The same with the time that a trial may take."""
        return replace(self, seconds=max(self.seconds, TRIAL_S))


def usual_limits() -> Limits:
    """Limits that fit this computer."""
    half = int(psutil.virtual_memory().total * SHARE_OF_MEMORY)
    return Limits(INSPECTION_S, min(max(half, LEAST_MEMORY), MOST_MEMORY), min(MOST_FILE_BYTES, half))


def hold_to(limits: Limits) -> None:
    """Let the operating system refuse this process more than the limits; where it cannot, its parent watches it.

    The libraries should be loaded before: what they take does not count.
    """
    if sys.platform == "win32":
        return
    import resource

    information = psutil.Process().memory_info()
    # Private memory, not the address space: libraries reserve far more of that than they ever use.
    _lower(resource.RLIMIT_DATA, int(getattr(information, "data", information.vms)) + limits.memory_bytes)
    _lower(resource.RLIMIT_CPU, int(psutil.Process().cpu_times().user + limits.seconds * (os.cpu_count() or 1)) + 1)
    _lower(resource.RLIMIT_CORE, 0)


def _lower(kind: int, wanted: int) -> None:
    import resource

    _, hard = resource.getrlimit(kind)
    allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(kind, (allowed, allowed))


def ending_text(return_code: int) -> str:
    """How a process ended, in words."""
    if return_code >= 0:
        return f"it ended with status {return_code}"
    try:
        return f"the system ended it with {signal.Signals(-return_code).name}"
    except ValueError:
        return f"the system ended it with signal {-return_code}"


def peak_memory_bytes() -> int:
    """The most memory that this process has taken so far."""
    if sys.platform == "win32":
        return int(getattr(psutil.Process().memory_info(), "peak_wset", 0))
    if STATUS.exists():  # what getrusage says on Linux includes the process that started this one
        return int(STATUS.read_text(encoding="ascii").partition("VmHWM:")[2].split()[0]) * 1024
    import resource

    return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
