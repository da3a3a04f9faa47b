"""A worker that runs foreign code ends with whoever started it, even while it hangs: nobody is there to stop it."""

import faulthandler
import os
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
