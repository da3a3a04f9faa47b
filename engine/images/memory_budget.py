"""How much memory all threads may hold for files and their pixels, and giving freed memory back to the system."""

import ctypes
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final, final


@final
class MemoryBudget:
    """Lets threads in as long as what they hold together fits; the others wait, first come, first served.

    What is larger than the whole budget goes in alone. A thread that holds a part must not ask for another one.

    Args:
        limit_bytes: what may be held at once.
    """

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._held_bytes = 0
        self._entrance = threading.Lock()  # held by the thread whose turn is next, so that a large one is not passed by
        self._room = threading.Condition()

    @property
    def held_bytes(self) -> int:
        return self._held_bytes

    @contextmanager
    def holding(self, size_bytes: int) -> Iterator[None]:
        """Wait for room for so many bytes, and hold it inside the block."""
        with self._entrance, self._room:
            self._room.wait_for(lambda: not self._held_bytes or self._held_bytes + size_bytes <= self._limit_bytes)
            self._held_bytes += size_bytes
        try:
            yield
        finally:
            with self._room:
                self._held_bytes -= size_bytes
                self._room.notify_all()


FILES: Final = MemoryBudget(256 * 1024**2)
"""For the bytes of image files, from reading until they are decoded. Asked before `PIXELS`, never after it."""
PIXELS: Final = MemoryBudget(768 * 1024**2)
"""For decoded pixels."""


def return_freed_memory() -> None:
    """Ask the C library for the pages it holds for later.

    WORKAROUND: glibc keeps what other threads than the first one freed, tens of megabytes after a collection was
    loaded, hundreds after large pictures were decoded. Can go when the C library returns it by itself. Does nothing
    elsewhere.
    """
    if sys.platform.startswith("linux"):
        with suppress(OSError, AttributeError):
            ctypes.CDLL("libc.so.6").malloc_trim(0)
