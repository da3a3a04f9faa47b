"""Lower priority of background processes and threads, so that the window stays responsive."""

import os
import sys
import threading
from contextlib import suppress

NICENESS = 5
"""Added to that of the window. Chosen: a third of its share of a busy core; nothing starves."""


def lower_process_priority() -> None:
    """For a process that a window started; where nothing else runs, this takes no time."""
    import psutil

    with suppress(psutil.Error, OSError):
        if sys.platform == "win32":
            psutil.Process().nice(psutil.BELOW_NORMAL_PRIORITY_CLASS)
        else:
            os.nice(NICENESS)


def lower_thread_priority() -> None:
    """Lower the priority of the current thread of the window; only Linux has them per thread."""
    if sys.platform == "linux":
        thread = threading.get_native_id()
        with suppress(OSError):
            os.setpriority(
                os.PRIO_PROCESS, thread, max(NICENESS, os.getpriority(os.PRIO_PROCESS, thread))
            )
