"""The frame of a panel that stands in for the inspector: a heading, a way to close, and a column that scrolls."""

from collections.abc import Iterable

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from app.controls import make_icon_button, make_label
from app.theme.tokens import tokens


class SidePanel(QWidget):
    """Stands beside the collection; what it started goes on while it is away. Subclasses lay it out once.

    Signals:
        close_requested: put the panel away.

    Args:
        narrowest: least width in pixels.
    """

    close_requested = Signal()

    def __init__(self, narrowest: int) -> None:
        super().__init__()
        self.setProperty("surface", "pane")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setMinimumWidth(narrowest)
        self._title = make_label("", "heading")
        self._scroll = QScrollArea()

    def lay_out(self, title: str, close_tip: str, parts: Iterable[QWidget]) -> None:
        """Put the heading above the parts, and the parts below each other."""
        spacing = tokens().spacing
        self._title.setText(title)
        self._close = make_icon_button("close", close_tip, self.close_requested.emit)
        head = QHBoxLayout()
        head.setContentsMargins(spacing.medium, spacing.small, spacing.small, spacing.small)
        head.addWidget(self._title, 1)
        head.addWidget(self._close)
        body = QWidget()
        body.setProperty("surface", "pane")
        column = QVBoxLayout(body)
        column.setContentsMargins(spacing.medium, spacing.small, spacing.medium, spacing.large)
        column.setSpacing(spacing.medium)
        for part in parts:
            column.addWidget(part)
        column.addStretch(1)
        self._scroll.setWidgetResizable(True)
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setWidget(body)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addLayout(head)
        whole.addWidget(self._scroll, 1)

    def bring_into_sight(self, part: QWidget) -> None:
        """Scroll to a part, once everything has its place: in a low window it would be below the edge."""
        QTimer.singleShot(0, self, lambda: self._scroll.ensureWidgetVisible(part))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc puts the panel away."""
        if event.key() == Qt.Key.Key_Escape:
            self.close_requested.emit()
            return
        super().keyPressEvent(event)
