"""A card that floats over the window: a title and a cross, and below them what scrolls only where there is no room."""

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.controls import make_icon_button, make_label, make_scroll_area
from app.palette.overlay import Overlay
from app.texts import tr
from app.theme.tokens import tokens


class ScrollingCard(Overlay):
    """Base of cards; Esc, the cross, or a click beside it closes. A subclass lays its parts out in `body`.

    Args:
        host: the window's central widget.
        width: of the card in logical pixels, less when the window is narrow.
        title: at its head.

    Attributes:
        body: what scrolls.
        scroll_area: around it.
        close_button: the cross.
    """

    def __init__(self, host: QWidget, width: int, title: str) -> None:
        super().__init__(host, width)
        self.close_button = make_icon_button("close", tr("Close"), self.dismiss)
        self.body = QWidget()
        self.body.setProperty("surface", "raised")
        self.scroll_area = make_scroll_area()
        self.scroll_area.setWidget(self.body)
        self._head = self._make_head(title)
        whole = QVBoxLayout(self.panel)
        whole.setContentsMargins(0, 0, 0, tokens().spacing.small)
        whole.setSpacing(0)
        whole.addWidget(self._head)
        whole.addWidget(self.scroll_area, 1)

    def _make_head(self, title: str) -> QWidget:
        spacing = tokens().spacing
        head = QWidget()
        row = QHBoxLayout(head)
        row.setContentsMargins(spacing.large, spacing.medium, spacing.medium, spacing.small)
        row.addWidget(make_label(title, "heading"), 1)
        row.addWidget(self.close_button)
        return head

    def wanted_height(self, width: int) -> int:
        """Head and body without scrolling."""
        border, around = self.panel.contentsMargins(), tokens().spacing.small
        layout = self.body.layout()
        body = 0 if layout is None else layout.totalHeightForWidth(width - border.left() - border.right())
        return border.top() + self._head.sizeHint().height() + body + around + border.bottom()

    def place_panel(self) -> None:
        """Scroll only where there is no room: a bar that was there once would take the width that makes it needless."""
        has_room = self.wanted_height(self.panel_width()) <= self.highest()
        never, when_needed = Qt.ScrollBarPolicy.ScrollBarAlwaysOff, Qt.ScrollBarPolicy.ScrollBarAsNeeded
        self.scroll_area.setVerticalScrollBarPolicy(never if has_room else when_needed)
        super().place_panel()

    def _settle(self) -> None:
        """Words came or went: another height, once those that are new have got their fonts."""
        layout = self.body.layout()
        if layout is not None:
            layout.invalidate()
        QTimer.singleShot(0, self, self._fit)

    def _fit(self) -> None:
        if self.isVisible():
            self.place_panel()
