"""Three panes beside each other. Where the window is narrow, the outer ones give way to the middle."""

from dataclasses import dataclass
from typing import Final, final

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter, QStackedWidget, QWidget

from app.settings import PANES_DEFAULT

COMFORTABLE_MIDDLE: Final = 572
"""Logical pixels: three columns of thumbnails in their first size, and a scroll bar."""


@dataclass(frozen=True)
class Widths:
    """Of the three panes, in logical pixels; 0 for one that is hidden."""

    left: int
    middle: int
    right: int


FIRST: Final = Widths(PANES_DEFAULT[0], 0, PANES_DEFAULT[1])
LEAST: Final = Widths(184, 382, 242)


def shared_out(room: int, wanted: Widths, least: Widths, *, is_right_needed: bool = False) -> Widths:
    """Divide a window's width.

    Args:
        room: what there is.
        wanted: how wide the person left the outer panes.
        least: what each pane needs.
        is_right_needed: whether it is the left pane that goes where there is no room for three.

    Returns:
        Widths whose sum is `room`, unless even two panes have too little.
    """
    if room < least.left + least.middle + least.right:
        if is_right_needed:
            return Widths(0, max(least.middle, room - least.right), least.right)
        return Widths(least.left, max(least.middle, room - least.left), 0)
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
    """Remembers how wide a person wants the outer panes, also while there is less room.

    Args:
        left: goes away in a very narrow window while something stands in for what `right` usually shows.
        middle: gets what is left over, and more than that where it would be too little.
        right: goes away in a very narrow window otherwise.
    """

    def __init__(self, left: QWidget, middle: QWidget, right: QStackedWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self.setHandleWidth(1)
        self.setChildrenCollapsible(False)
        self._left, self._middle, self._right = left, middle, right
        self._wanted = FIRST
        self._shared: tuple[object, ...] = ()  # what the widths were last divided by
        for widget, narrowest in ((left, LEAST.left), (middle, LEAST.middle), (right, LEAST.right)):
            widget.setMinimumWidth(narrowest)
            self.addWidget(widget)
        self.setStretchFactor(1, 1)
        self.splitterMoved.connect(self._on_moved)
        right.currentChanged.connect(lambda _place: self._share_out())

    @property
    def outer_widths(self) -> tuple[int, int]:
        """How wide the person wants the left and the right pane."""
        return self._wanted.left, self._wanted.right

    def restore(self, left: int, right: int) -> None:
        """Give the outer panes the widths of the last run, as far as there is room."""
        self._wanted, self._shared = Widths(left, 0, right), ()
        self._share_out()

    def minimumSizeHint(self) -> QSize:
        """Two panes must fit; the third goes away before the window is too wide for a small screen."""
        narrowest = self._middle.minimumWidth() + max(self._left.minimumWidth(), self._right.minimumWidth())
        return QSize(narrowest + self.handleWidth(), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Divide the new width."""
        super().resizeEvent(event)
        self._share_out()

    def event(self, event: QEvent) -> bool:
        """Divide the width anew when a pane needs more than before, or less."""
        is_handled = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest:
            self._share_out()
        return is_handled

    def _share_out(self) -> None:
        """Do nothing while the room and the needs are the same: the person may have moved a pane since."""
        room = self.width() - 2 * self.handleWidth()
        least = Widths(LEAST.left, LEAST.middle, self._right.minimumWidth())
        is_right_needed = self._right.currentIndex() > 0
        if self._shared == (room, least, is_right_needed):
            return
        self._shared = room, least, is_right_needed
        widths = shared_out(room, self._wanted, least, is_right_needed=is_right_needed)
        self._left.setVisible(widths.left > 0)
        self._right.setVisible(widths.right > 0)
        self.setSizes([widths.left, widths.middle, widths.right])

    def _on_moved(self, _position: int, handle: int) -> None:
        """Remember what the person did; only the pane at the handle that was moved."""
        left, middle, right = self.sizes()
        is_left = handle == 1
        self._wanted = Widths(left if is_left else self._wanted.left, middle, self._wanted.right if is_left else right)
