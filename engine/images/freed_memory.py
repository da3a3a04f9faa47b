"""Give freed memory back to the system after a large load, or before one."""

import ctypes
import sys
from contextlib import suppress


def return_freed_memory() -> None:
    """Ask the C library for the pages it holds for later.

    WORKAROUND: glibc keeps what other threads than the first one freed, tens of megabytes after a collection was
    loaded, hundreds after large pictures were decoded. Can go when the C library returns it by itself. Does nothing
    elsewhere.
    """
    if sys.platform.startswith("linux"):
        with suppress(OSError, AttributeError):
            ctypes.CDLL("libc.so.6").malloc_trim(0)
