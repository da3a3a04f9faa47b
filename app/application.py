"""Threads, garbage collection and file-open events of the running application."""

import ctypes
import gc
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import final

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication

from engine.config import ARCHIVE_SUFFIX, PROJECT_SUFFIX

INTERVAL_MS = 500
"""Interval at which the GUI thread runs a due collection. Chosen: garbage of half a second is
small."""
OLDER = (60, 20)
"""Young collections before a middle one, and middle ones before a full one. A full collection takes
70 ms with 100,000 images and finds next to nothing; young ones find what closed pages leave."""

SWITCH_S = 0.001
"""Switch interval of the interpreter, in seconds. With Python's 5 ms a key waits for several
threads in turn: pauses of 100 to 160 ms now and then in `protoleaf benchmark review`."""


def share_interpreter() -> None:
    """Shorten the interpreter's switch interval so that computing threads do not delay the GUI."""
    sys.setswitchinterval(SWITCH_S)


LARGE_BYTES = 4 << 20
"""Memory blocks of at least this size are returned to the system when freed. Chosen: columns of a
large collection are larger; blocks of embeddings that are multiplied are smaller and soon
reused."""
# Heaps (malloc arenas): one for the GUI thread and one for all others. Except for matrix products,
# threads run one at a time.
HEAPS = 2
# M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX.
_MALLOC_OPTIONS = {-1: LARGE_BYTES, -3: LARGE_BYTES, -8: HEAPS}


def return_freed_columns() -> None:
    """Have the C library return large memory blocks when they are freed.

    On Linux only; call before other threads start.

    WORKAROUND: glibc takes ever larger blocks from heaps, one for each thread, and keeps what was
    freed: 60 MiB with 100,000 images, 250 with 2,500,000. Can go when it returns them by itself.
    """
    if sys.platform.startswith("linux"):
        with suppress(OSError, AttributeError):
            library = ctypes.CDLL("libc.so.6")
            for option, value in _MALLOC_OPTIONS.items():
                library.mallopt(option, value)


def collect_due() -> None:
    counts, thresholds = gc.get_count(), gc.get_threshold()
    for generation in reversed(range(len(counts))):
        if counts[generation] > thresholds[generation]:
            gc.collect(generation)
            return


@final
class GuiCollector(QObject):
    """Replace Python's automatic collection by one in the GUI thread.

    Objects that exist at the start are never scanned again.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        gc.collect()
        gc.freeze()
        gc.disable()
        gc.set_threshold(gc.get_threshold()[0], *OLDER)
        self._timer = QTimer(self)
        self._timer.setInterval(INTERVAL_MS)
        self._timer.timeout.connect(collect_due)
        self._timer.start()


@final
class OpenedFiles(QObject):
    """Open the projects of file-open events (macOS).

    It filters all events, so it is made only where it is needed.
    """

    def __init__(self, application: QApplication, open_project: Callable[[Path], None]) -> None:
        super().__init__(application)
        self._open_project = open_project
        application.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        if not isinstance(event, QFileOpenEvent) or not event.file().endswith(
            (PROJECT_SUFFIX, ARCHIVE_SUFFIX)
        ):
            return False
        self._open_project(Path(event.file()))
        return True
