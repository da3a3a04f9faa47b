"""Where the window stands: whole, on a screen that is there, whatever was remembered of an earlier one."""

from typing import Final

from PySide6.QtCore import QMargins, QRect
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

USUAL_FRAME: Final = QMargins(1, 38, 1, 1)
"""Logical pixels: what is kept free for a title bar until the system has told how high its own is."""


def fitted(place: QRect, available: QRect) -> QRect:
    """The same place where it is free; otherwise no larger than what is free, and moved into it."""
    size = place.size().boundedTo(available.size())
    left = min(max(place.left(), available.left()), available.left() + available.width() - size.width())
    top = min(max(place.top(), available.top()), available.top() + available.height() - size.height())
    return QRect(left, top, size.width(), size.height())


def free_area(place: QRect) -> QRect:
    """What the system's bars leave of the screen that a place is on; of the first one where it is on none.

    Empty where nothing is shown on a screen at all.
    """
    if QGuiApplication.platformName() == "offscreen":
        return QRect()
    screens = [QGuiApplication.primaryScreen(), *QGuiApplication.screens()]
    shares = [screen.availableGeometry().intersected(place) for screen in screens]
    best = max(range(len(screens)), key=lambda number: shares[number].width() * shares[number].height())
    return screens[best].availableGeometry()


def keep_on_screen(window: QWidget) -> None:
    """Make a window fit on its screen, with its frame."""
    outer, inner = window.frameGeometry(), window.geometry()
    frame = QMargins(
        inner.left() - outer.left(),
        inner.top() - outer.top(),
        outer.right() - inner.right(),
        outer.bottom() - inner.bottom(),
    )
    if frame.isNull():
        frame = USUAL_FRAME
    available = free_area(outer)
    if available.isEmpty() or window.isMaximized() or window.isFullScreen():
        return
    place = fitted(inner.marginsAdded(frame), available).marginsRemoved(frame)
    if place != inner:
        window.setGeometry(place)
