"""Progress bars, determinate and indeterminate."""

from typing import final

from PySide6.QtCore import QElapsedTimer, QRectF, QTimer
from PySide6.QtGui import QHideEvent, QPaintEvent
from PySide6.QtWidgets import QProgressBar

from app.painting import paint_box, smooth_painter
from engine.events import Progress

_BAR_STEPS = 1000
_BEAT_MS = 40  # interval between frames of the animation
_ROUND_MS = 1600  # time in which the chunk crosses the bar
_PART = 0.4  # width of the moving chunk, as a share of the bar's


@final
class _Bar(QProgressBar):
    """Paints the indeterminate state with round ends, which the style sheet cannot."""

    def __init__(self) -> None:
        super().__init__()
        self._clock = QElapsedTimer()
        self._clock.start()
        self._beat = QTimer(self, interval=_BEAT_MS)
        self._beat.timeout.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.minimum() != self.maximum():
            self._beat.stop()
            super().paintEvent(event)
            return
        groove, radius = QRectF(self.rect()), self.height() / 2
        width = groove.width() * _PART
        share = self._clock.elapsed() % _ROUND_MS / _ROUND_MS
        chunk = QRectF(share * (groove.width() + width) - width, 0, width, groove.height()) & groove
        painter = smooth_painter(self)
        for area, colour in ((groove, "hairline"), (chunk, "accent")):
            paint_box(painter, area, min(radius, area.width() / 2), colour)
        painter.end()
        if not self._beat.isActive():
            self._beat.start()

    def hideEvent(self, event: QHideEvent) -> None:
        self._beat.stop()
        super().hideEvent(event)


def make_bar() -> QProgressBar:
    """An indeterminate progress bar."""
    bar = _Bar()
    bar.setTextVisible(False)
    bar.setRange(0, 0)
    return bar


def fill_bar(bar: QProgressBar, progress: Progress) -> None:
    """Show progress once the total is known.

    Painted with the next frame: Qt's bar would repaint the whole window at once.
    """
    value = _BAR_STEPS * progress.done // progress.total if progress.total else 0
    if progress.total and (bar.maximum(), bar.value()) != (_BAR_STEPS, value):
        bar.setUpdatesEnabled(False)
        bar.setRange(0, _BAR_STEPS)
        bar.setValue(value)
        bar.setUpdatesEnabled(True)
