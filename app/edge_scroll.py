"""Scrolls a view while a rubber band or something dragged is held at its upper or lower edge."""

from collections.abc import Callable
from typing import Final, final

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QAbstractScrollArea

EDGE: Final = 28
"""Logical pixels from the edge within which it scrolls."""
TICK_MS: Final = 16  # a frame
SLOWEST, FASTEST = 2, 36
"""Logical pixels a tick: just inside the edge, and from as far outside as it is wide."""


@final
class EdgeScroll:
    """Scrolls faster the farther the pointer is beyond the edge.

    Args:
        area: what scrolls.
        on_scrolled: called after each step, so that what lies under the pointer is looked at anew.
    """

    def __init__(self, area: QAbstractScrollArea, on_scrolled: Callable[[], object]) -> None:
        self._area = area
        self._on_scrolled = on_scrolled
        self._speed = 0
        self._timer = QTimer(area)
        self._timer.setInterval(TICK_MS)
        self._timer.timeout.connect(self._on_timeout)

    def follow(self, y: int) -> None:
        """The pointer is at this height of the viewport."""
        self._speed = speed_at(y, self._area.viewport().height())
        if not self._speed:
            self._timer.stop()
        elif not self._timer.isActive():
            self._timer.start()

    def stop(self) -> None:
        """Nothing is held any more."""
        self._timer.stop()

    def _on_timeout(self) -> None:
        bar = self._area.verticalScrollBar()
        before = bar.value()
        bar.setValue(before + self._speed)
        if bar.value() == before:
            self._timer.stop()
        else:
            self._on_scrolled()


def speed_at(y: int, height: int) -> int:
    """Logical pixels to scroll in a tick: negative at the upper edge, positive at the lower one, else 0."""
    into_top, into_bottom = EDGE - y, y - (height - EDGE)
    depth = max(into_top, into_bottom)
    if depth <= 0:
        return 0
    speed = min(FASTEST, SLOWEST + (FASTEST - SLOWEST) * depth // (3 * EDGE))
    return -speed if into_top > into_bottom else speed
