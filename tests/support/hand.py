"""A simulated mouse: presses, moves and releases by real events on the window.

On the offscreen platform `QDrag.exec` ends at once. There this sends the drag events that other
platforms send to the window under the pointer. All else, from press to drop, is the program's.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import pytest
from PySide6.QtCore import QCoreApplication, QMimeData, QPoint, QPointF, Qt
from PySide6.QtGui import (
    QDrag,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QPixmap,
    QWindow,
)
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

NO_KEYS = Qt.KeyboardModifier.NoModifier
LEFT = Qt.MouseButton.LeftButton
STEPS = 4


@dataclass(frozen=True)
class Spot:
    """A position in a widget."""

    widget: QWidget
    point: QPoint

    @property
    def window(self) -> QWindow:
        """The widget's window."""
        handle = self.widget.window().windowHandle()
        assert handle is not None
        return handle

    @property
    def in_window(self) -> QPoint:
        """The position in that window."""
        return self.widget.mapTo(self.widget.window(), self.point)


Step = Spot | Callable[[], object]
"""The next position, or an action while the mouse is held still."""


@final
class Hand:
    """Drags, and records what is under the pointer.

    Attributes:
        keys: pressed now.
        is_carrying: whether something is being dragged.
        is_welcome: whether it may be dropped at the pointer.
        was_dropped: whether the last drag was accepted.
        carried: data of the last drag.
        picture: pixmap of the last drag.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.keys = NO_KEYS
        self.is_carrying = self.is_welcome = self.was_dropped = False
        self.carried: QMimeData | None = None
        self.picture = QPixmap()
        self._path: deque[Step] = deque()
        self._gives_up = False
        self._place = QPoint()
        self._goal: Step = self._hold_still
        monkeypatch.setattr(
            QDrag, "exec", lambda drag, actions, *_default: self._carry(drag, actions)
        )

    def click(
        self, spot: Spot, keys: Qt.KeyboardModifier = NO_KEYS, button: Qt.MouseButton = LEFT
    ) -> None:
        """Press and release."""
        QTest.mouseClick(spot.window, button, keys, spot.in_window)

    def drag(
        self, *path: Step, keys: Qt.KeyboardModifier = NO_KEYS, gives_up: bool = False
    ) -> bool:
        """Drag from the first position over the others; return whether it was dropped.

        Args:
            path: positions and actions.
            keys: held down from the press on.
            gives_up: press Esc before releasing.
        """
        start, *rest = path
        assert isinstance(start, Spot)
        self.keys, self._gives_up, self._path = keys, gives_up, deque(rest)
        self._put_down()
        self._place = start.in_window
        QTest.mousePress(start.window, LEFT, keys, start.in_window)
        while self._path:
            step = self._path.popleft()
            self._move(step) if isinstance(step, Spot) else step()
        if gives_up and not self.has_carried:
            QTest.keyClick(start.window, Qt.Key.Key_Escape)
        QTest.mouseRelease(start.window, LEFT, self.keys, self._place)
        return self.was_dropped

    def go_on(self, spot: Spot) -> None:
        """Move to a position determined during a `drag`."""
        self._path.appendleft(spot)

    def _move(self, spot: Spot) -> None:
        """Move in small steps, which may start a drag."""
        begin, end, self._goal = self._place, spot.in_window, spot
        for number in range(1, STEPS + 1):
            self._place = begin + (end - begin) * number / STEPS
            QTest.mouseMove(spot.window, self._place)
            if self.has_carried:
                return

    @property
    def has_carried(self) -> bool:
        """Whether the last mouse drag started a drag operation."""
        return self.carried is not None

    def _put_down(self) -> None:
        self.carried = None
        self.is_welcome = self.was_dropped = False

    def _hold_still(self) -> None:
        """Reset the state."""

    # -- drag events

    def _carry(self, drag: QDrag, actions: Qt.DropAction) -> Qt.DropAction:
        """Replace `QDrag.exec`: move along the rest of the path and drop."""
        self.carried, self.is_carrying = QMimeData(), True
        for name in drag.mimeData().formats():
            self.carried.setData(name, drag.mimeData().data(name))
        self.picture = drag.pixmap()
        self._path.appendleft(self._goal)
        entered: QWindow | None = None
        while self._path:
            step = self._path.popleft()
            if not isinstance(step, Spot):
                step()
                continue
            entered = self._bring(step, actions, entered)
        self.is_carrying = False
        assert entered is not None
        if self.is_welcome and not self._gives_up:
            drop = QDropEvent(QPointF(self._place), actions, self.carried, LEFT, self.keys)
            QCoreApplication.sendEvent(entered, drop)
            self.was_dropped = drop.isAccepted()
            return drop.dropAction()
        QCoreApplication.sendEvent(entered, QDragLeaveEvent())
        return Qt.DropAction.IgnoreAction

    def _bring(self, spot: Spot, actions: Qt.DropAction, entered: QWindow | None) -> QWindow:
        """Send one move event; return the window."""
        assert self.carried is not None
        place, window = spot.in_window, spot.window
        if entered is not window:
            if entered is not None:
                QCoreApplication.sendEvent(entered, QDragLeaveEvent())
            QCoreApplication.sendEvent(
                window, QDragEnterEvent(place, actions, self.carried, LEFT, self.keys)
            )
        move = QDragMoveEvent(place, actions, self.carried, LEFT, self.keys)
        QCoreApplication.sendEvent(window, move)
        self._place, self.is_welcome = place, move.isAccepted()
        return window
