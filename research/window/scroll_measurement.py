"""Smoothness of scrolling the grid: the longest time the GUI thread was blocked."""

import time
from collections.abc import Callable
from typing import final

from PySide6.QtCore import QObject, Qt, QTimer

from app.image_grid.view import ImageGrid
from research.window.bare_card import BareCard

STEPS = 200
STEP_MS = 10
CARDS = 10


@final
class ScrollMeasurement(QObject):
    """Scroll from top to bottom, a step every few milliseconds; record the delay of each step.

    Args:
        grid: the grid on screen.
        on_done: called with milliseconds: the longest pause, each step, and painting `CARDS` bare
            cards after each.
    """

    def __init__(
        self, grid: ImageGrid, on_done: Callable[[float, list[float], list[float]], None]
    ) -> None:
        super().__init__(grid)
        self._grid = grid
        self._on_done = on_done
        self._step = 0
        self._longest_ms = 0.0
        self._step_ms, self._card_ms = list[float](), list[float]()
        self._card = BareCard(grid.window())
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._on_timeout)
        self._last_s = time.perf_counter()

    def start(self) -> None:
        self._last_s = time.perf_counter()
        self._timer.start(STEP_MS)

    def _on_timeout(self) -> None:
        now_s = time.perf_counter()
        self._longest_ms = max(self._longest_ms, (now_s - self._last_s) * 1000 - STEP_MS)
        self._last_s = now_s
        bar = self._grid.verticalScrollBar()
        bar.setValue(bar.maximum() * self._step // STEPS)
        self._grid.viewport().repaint()
        self._step_ms.append((time.perf_counter() - now_s) * 1000)
        self._card_ms.append(self._card.time_ms(CARDS))
        self._last_s += self._card_ms[-1] / 1000
        self._step += 1
        if self._step > STEPS:
            self._timer.stop()
            self._on_done(self._longest_ms, self._step_ms, self._card_ms)
