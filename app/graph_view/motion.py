"""Classes glide to where a new layout has them, so that the eye can follow."""

from __future__ import annotations

import time
from typing import Final, final

from PySide6.QtCore import QObject, QTimer, Signal

from app.graph_view.drawing import Drawing, empty_drawing, moved_along
from app.graph_view.viewport import FRAME_MS, eased

MOVE_S: Final = 0.2  # long enough to see what went where
MOST_MOVED: Final = 240  # of more classes nobody sees where each one goes; they are there at once


@final
class Motion(QObject):
    """One movement of the classes at a time; `drawing` has them on their way, or where they came to rest."""

    moved = Signal()
    arrived = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.drawing = self._before = self._after = empty_drawing()
        self._began_s = 0.0
        self._timer = QTimer(self, interval=FRAME_MS)
        self._timer.timeout.connect(self._on_frame)

    @property
    def is_going_on(self) -> bool:
        return self._timer.isActive()

    def go(self, after: Drawing, shift: tuple[float, float], *, is_calm: bool) -> None:
        """Begin a movement; `shift` is how far the whole drawing was moved, which nobody is to see."""
        before = self.drawing
        self._timer.stop()
        if is_calm or not len(before) or max(len(before), len(after)) > MOST_MOVED:
            self.drawing = after
            self.arrived.emit()
            return
        self._before, self._after = before.shifted(*shift), after
        self.drawing = moved_along(self._before, after, 0.0)
        self._began_s = time.perf_counter()
        self._timer.start()
        self.moved.emit()

    def _on_frame(self) -> None:
        share = (time.perf_counter() - self._began_s) / MOVE_S
        if share < 1.0:
            self.drawing = moved_along(self._before, self._after, eased(share))
            self.moved.emit()
            return
        self._timer.stop()
        self.drawing = self._after
        self.arrived.emit()
