"""Garbage cycles are collected on the GUI thread, and on no other.

Python collects on whichever thread happens to allocate. A cycle that holds a Qt object must not be taken apart there:
Qt objects belong to the thread that made them, and the program would crash, now and then, far from the cause.
"""

import gc
from typing import Final, final

from PySide6.QtCore import QObject, QTimer

INTERVAL_MS: Final = 500
"""How often the GUI thread looks whether a collection is due. Chosen: what a second of work leaves is little memory."""


def collect_due() -> None:
    """Collect the oldest generation that is due by Python's own thresholds, on this thread."""
    counts, thresholds = gc.get_count(), gc.get_threshold()
    for generation in reversed(range(len(counts))):
        if counts[generation] > thresholds[generation]:
            gc.collect(generation)
            return


@final
class GuiCollector(QObject):
    """Takes over from Python's automatic collection for as long as it lives.

    What is there when it starts, modules above all, stays for good and is not looked through again.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        gc.collect()
        gc.freeze()
        gc.disable()
        self._timer = QTimer(self)
        self._timer.setInterval(INTERVAL_MS)
        self._timer.timeout.connect(collect_due)
        self._timer.start()
