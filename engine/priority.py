"""Let what a person works with go first, where processes and threads want more cores than there are."""

import os
import sys
import threading
from contextlib import suppress
from typing import Final

NICENESS: Final = 5
"""How much lower than that of the window. Chosen: a third of its share of a busy core, so that nothing ever starves."""


def lower_process_priority() -> None:
    """For a process that a window started; where nothing else runs, this takes no time."""
    import psutil

    with suppress(psutil.Error, OSError):
        if sys.platform == "win32":
            psutil.Process().nice(psutil.BELOW_NORMAL_PRIORITY_CLASS)
        else:
            os.nice(NICENESS)


def lower_thread_priority() -> None:
    """For a thread that computes in the window's process; only Linux has priorities of threads that are fair shares."""
    if sys.platform == "linux":
        thread = threading.get_native_id()
        with suppress(OSError):
            os.setpriority(
                os.PRIO_PROCESS, thread, max(NICENESS, os.getpriority(os.PRIO_PROCESS, thread))
            )
