"""A worker that runs foreign code ends with whoever started it, even while it hangs: nobody is there to stop it.

Ctrl+C in a terminal reaches every process; only the one that the person started answers, and stops the others.
"""

import faulthandler
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from engine.events import CancelToken

_STDERR: Final = 2


@contextmanager
def ends_with_parent(cancel: CancelToken, limit_s: float = 0.0) -> Iterator[None]:
    """Give up this process, with all that hangs in it, when it is no longer wanted.

    Args:
        cancel: set by the end of standard input, that is by the end of the parent.
        limit_s: also after this time; 0 for no limit. It holds, too, where the code that hangs lets no other Python
            thread run: no Python is needed for it.
    """
    is_over = threading.Event()
    threading.Thread(target=_end_when_set, args=(cancel, is_over), name="parent watch", daemon=True).start()
    if limit_s > 0:
        faulthandler.dump_traceback_later(limit_s, exit=True, file=_STDERR)
    try:
        yield
    finally:
        is_over.set()
        if limit_s > 0:
            faulthandler.cancel_dump_traceback_later()


def _end_when_set(cancel: CancelToken, is_over: threading.Event) -> None:
    cancel.wait()
    if not is_over.is_set():
        os._exit(1)


@contextmanager
def children_without_ctrl_c() -> Iterator[None]:
    """Let processes that are started meanwhile not hear Ctrl+C, from their first moment on; this process hears it.

    On Windows they get none where they have no window of their own.
    """
    if os.name == "nt":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end_pool_process_with_parent() -> None:
    """Let a process of a pool end at once when the one that started it ends, in whatever way; called in the process."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, name="parent watch", daemon=True).start()
