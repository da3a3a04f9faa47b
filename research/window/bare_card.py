"""References of keys and frames: cards painted by Qt, and a commit by SQLite."""

import sqlite3
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPixmap
from PySide6.QtWidgets import QWidget

if TYPE_CHECKING:
    from app.main_window import MainWindow

CARD = QSize(168, 208)  # logical pixels
LINES = ("Class 1.2.3", "87%, Family 1.2")
LINE_HEIGHT = 20  # logical pixels
REPAINTS = 100
"""Per key, so that processor and disk time are in about the same proportion as of a key."""
BLOCK_S = 0.01  # until fits pause


@final
class BareCard(QWidget):
    """A pixmap of a card's size and two lines of text, in a corner of the program's window.

    Not in a window of its own, which would take the keyboard focus.
    """

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self._picture = QPixmap(CARD.width(), CARD.width())
        self._picture.fill(Qt.GlobalColor.darkGreen)
        self.resize(CARD)
        self.show()

    def time_ms(self, repaints: int = REPAINTS) -> float:
        """Paint it repeatedly."""
        started_s = time.perf_counter()
        for _ in range(repaints):
            self.repaint()
        return 1000 * (time.perf_counter() - started_s)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), Qt.GlobalColor.white)
        painter.drawPixmap(0, 0, self._picture)
        for number, line in enumerate(LINES):
            top = CARD.width() + number * LINE_HEIGHT
            painter.drawText(
                QRect(0, top, CARD.width(), LINE_HEIGHT), Qt.AlignmentFlag.AlignLeft, line
            )
        painter.end()


@final
class BareKey:
    """Minimum time of a decision: cards are painted, and a label is on disk.

    Fits and thumbnails pause meanwhile, as they do while the window handles a key.
    """

    def __init__(self, window: "MainWindow", folder: Path) -> None:
        self._window, self._card = window, BareCard(window)
        self._sqlite = sqlite3.connect(folder / "bare.sqlite", isolation_level=None)
        for setting in ("journal_mode = PERSIST", "synchronous = FULL"):  # as of a project
            self._sqlite.execute(f"PRAGMA {setting}")
        self._sqlite.execute(
            "CREATE TABLE label (image_id INTEGER PRIMARY KEY, class_id INTEGER NOT NULL)"
        )

    def time_ms(self) -> float:
        """Paint `REPAINTS` cards and commit a label."""
        with self._window.undisturbed():
            threading.Event().wait(BLOCK_S)
            painted_ms, started_s = self._card.time_ms(), time.perf_counter()
            self._sqlite.execute("INSERT INTO label (class_id) VALUES (1)")
            return painted_ms + 1000 * (time.perf_counter() - started_s)

    def close(self) -> None:
        self._sqlite.close()
