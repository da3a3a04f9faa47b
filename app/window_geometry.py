"""Position of the window on the screen, and widths of its three panes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

from PySide6.QtCore import QEvent, QMargins, QRect, QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QApplication, QSplitter, QStackedWidget, QWidget

from app.controls import tab_stops
from app.settings import PANES_DEFAULT

COMFORTABLE_MIDDLE = 572
"""Logical pixels: three columns of thumbnails at their default size, and a scroll bar."""


@dataclass(frozen=True)
class Widths:
    """Widths of the three panes in logical pixels; 0 for a hidden one."""

    left: int
    middle: int
    right: int


FIRST = Widths(PANES_DEFAULT[0], 0, PANES_DEFAULT[1])
LEAST = Widths(184, 382, 242)


def has_room_for_all(room: int, least: Widths) -> bool:
    return room >= least.left + least.middle + least.right


def shared_out(
    room: int, wanted: Widths, least: Widths, *, is_right_shown: bool | None = None
) -> Widths:
    """Divide the width of a window among its panes, the outer ones as `wanted` where they fit.

    Args:
        room: width to divide, in logical pixels.
        wanted: widths of the outer panes that the user chose.
        least: minimum widths.
        is_right_shown: True hides the left pane where three do not fit, False always hides the
            right one, None hides the right one where three do not fit.

    Returns:
        Widths whose sum is `room`, unless even two panes have too little.
    """
    if not has_room_for_all(room, least):
        if is_right_shown:
            return Widths(0, max(least.middle, room - least.right), least.right)
        return Widths(least.left, max(least.middle, room - least.left), 0)
    if is_right_shown is False:
        left = max(min(wanted.left, room - COMFORTABLE_MIDDLE), least.left)
        return Widths(left, room - left, 0)
    left, right = max(wanted.left, least.left), max(wanted.right, least.right)
    spare_left, spare_right = left - least.left, right - least.right
    missing = max(0, COMFORTABLE_MIDDLE - (room - left - right))
    taken = min(missing, spare_left + spare_right)
    if taken:
        from_left = round(taken * spare_left / (spare_left + spare_right))
        left, right = left - from_left, right - (taken - from_left)
    return Widths(left, room - left - right, right)


@final
class Panes(QSplitter):
    """Splitter of the three panes; remembers the chosen widths of the outer ones.

    In a very narrow window the left pane is hidden while `right` shows a panel, else the right one;
    the user can hide the right one at any width.

    Signals:
        hiding_changed: whether an outer pane is hidden, and whether the right one is shown.
    """

    hiding_changed = Signal(bool, bool)

    def __init__(self, left: QWidget, middle: QWidget, right: QStackedWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self.setHandleWidth(1)
        self.setChildrenCollapsible(False)
        self._left, self._middle, self._right = left, middle, right
        self._wanted = FIRST
        self._shared: tuple[object, ...] = ()  # inputs of the last division
        self._is_right_shown: bool | None = None  # the user's choice; None depends on the room
        self._is_right_away = False  # while it is empty
        for widget, narrowest in ((left, LEAST.left), (middle, LEAST.middle), (right, LEAST.right)):
            widget.setMinimumWidth(narrowest)
            self.addWidget(widget)
        self.setStretchFactor(1, 1)
        self.splitterMoved.connect(self._on_moved)
        right.currentChanged.connect(self._share_out)

    @property
    def outer_widths(self) -> tuple[int, int]:
        return self._wanted.left, self._wanted.right

    def restore(self, left: int, right: int) -> None:
        self._wanted, self._shared = Widths(left, 0, right), ()
        self._share_out()

    def toggle_right(self) -> None:
        """Show or hide the right pane; in a very narrow window it replaces the left one."""
        self._is_right_shown = self._right.isHidden()
        self._is_right_away = False
        self._share_out()

    def put_right_away(self, *, is_away: bool) -> None:
        """Hide the right pane while it is empty, unless it shows a panel or the user toggles it."""
        self._is_right_away = is_away
        self._share_out()

    def go_round(self, step: int, take_keyboard: Sequence[Callable[[], None]]) -> None:
        """Move the keyboard focus to the next or previous pane.

        Args:
            step: 1 for the next pane, -1 for the previous one.
            take_keyboard: callbacks that focus the left and the middle pane.
        """
        focus, panes = QApplication.focusWidget(), (self._left, self._middle, self._right)
        shown = [place for place, pane in enumerate(panes) if pane.isVisible()]
        has_it = (
            place for place in shown if focus is not None and panes[place].isAncestorOf(focus)
        )
        at = shown.index(next(has_it, 1))
        target = shown[(at + step) % len(shown)]
        if target < len(take_keyboard):
            take_keyboard[target]()
        focus = QApplication.focusWidget()
        # A pane may not accept the focus, such as the grid of an empty collection.
        if focus is None or not panes[target].isAncestorOf(focus):
            first = next(tab_stops(panes[target]), None)
            if first is not None:
                first.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def minimumSizeHint(self) -> QSize:
        """Room for two panes."""
        narrowest = self._middle.minimumWidth() + max(
            self._left.minimumWidth(), self._right.minimumWidth()
        )
        return QSize(narrowest + self.handleWidth(), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._share_out()

    def event(self, event: QEvent) -> bool:
        """Divide the width again when the minimum width of a pane changes."""
        is_handled = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest:
            self._share_out()
        return is_handled

    def _share_out(self) -> None:
        """Divide the width where an input changed; else keep handles that the user moved."""
        room = self.width() - 2 * self.handleWidth()
        least = Widths(LEAST.left, LEAST.middle, self._right.minimumWidth())
        has_room = has_room_for_all(room, least)
        if self._shared and self._shared[0] != has_room:
            self._is_right_shown = None  # chosen for another width of the window
        if self._right.currentIndex() > 0:
            is_right_shown: bool | None = True
        else:
            is_right_shown = False if self._is_right_away else self._is_right_shown
        if self._shared == (has_room, room, least, is_right_shown):
            return
        self._shared = has_room, room, least, is_right_shown
        widths = shared_out(room, self._wanted, least, is_right_shown=is_right_shown)
        self._left.setVisible(widths.left > 0)
        self._right.setVisible(widths.right > 0)
        self.setSizes([widths.left, widths.middle, widths.right])
        self.hiding_changed.emit(0 in (widths.left, widths.right), widths.right > 0)

    def _on_moved(self, _position: int, handle: int) -> None:
        """Remember the width of the pane whose handle was moved."""
        left, middle, right = self.sizes()
        is_left = handle == 1
        self._wanted = Widths(
            left if is_left else self._wanted.left, middle, self._wanted.right if is_left else right
        )


USUAL_FRAME = QMargins(1, 38, 1, 1)
"""Logical pixels reserved for the window frame until the system reports its size."""


def fitted(place: QRect, available: QRect) -> QRect:
    """A rectangle shrunk and moved into the available area."""
    size = place.size().boundedTo(available.size())
    left = min(
        max(place.left(), available.left()), available.left() + available.width() - size.width()
    )
    top = min(
        max(place.top(), available.top()), available.top() + available.height() - size.height()
    )
    return QRect(left, top, size.width(), size.height())


def free_area(place: QRect) -> QRect:
    """The available area of the screen that shows most of a rectangle.

    That of the primary screen where none shows it; empty without a screen.
    """
    if QGuiApplication.platformName() == "offscreen":
        return QRect()
    screens = [QGuiApplication.primaryScreen(), *QGuiApplication.screens()]
    shares = [screen.availableGeometry().intersected(place) for screen in screens]
    best = max(
        range(len(screens)), key=lambda number: shares[number].width() * shares[number].height()
    )
    return screens[best].availableGeometry()


def keep_on_screen(window: QWidget) -> None:
    """Fit a window and its frame into the available area of its screen."""
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
