"""What belongs to the running application: threads, garbage collection, and files that the system opens."""

import ctypes
import gc
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, final

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication

from engine.config import ARCHIVE_SUFFIX, PROJECT_SUFFIX

INTERVAL_MS: Final = 500
"""How often the GUI thread looks whether a collection is due. Chosen: what a second of work leaves is little memory."""
OLDER: Final = (60, 20)
"""Collections of young objects before the older ones are looked at, and of those before all. A look at all takes
70 ms with 100,000 images, and finds next to nothing: twice a second the young ones find what closed pages leave."""

SWITCH_S: Final = 0.001
"""How soon a thread that computes lets the GUI thread go on. With 5 ms, as in Python, a key waits for several in turn:
pauses of 100 to 160 ms now and then in `protoleaf benchmark review`."""


def share_interpreter() -> None:
    """Let threads take turns often enough for a window."""
    sys.setswitchinterval(SWITCH_S)


LARGE_BYTES: Final = 4 << 20
"""Memory of this size is the system's again once it is freed. Chosen: columns of a large collection are larger, blocks
of embeddings that are multiplied are smaller, and those are needed again at once."""
HEAPS: Final = (
    2  # for the GUI thread and all others, which run one at a time but for products of matrices
)
_MALLOC_OPTIONS: Final = {
    -1: LARGE_BYTES,
    -3: LARGE_BYTES,
    -8: HEAPS,
}  # M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX


def return_freed_columns() -> None:
    """Have the C library return large memory when it is freed; on Linux only, and before other threads begin.

    WORKAROUND: glibc takes ever larger memory from heaps, one for each thread, which keep what was freed: 60 MiB with
    100,000 images, 250 with 2,500,000. Can go when it returns that by itself.
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
    """Replaces Python's automatic collection. Objects that exist when it starts are never scanned again."""

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
    """Opens the projects that the system hands over. It filters all events, so it is made only where it is needed."""

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
