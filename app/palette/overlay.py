"""Overlays: panels that float over the window; Esc or a click outside closes them."""

import shiboken6
from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QFrame,
    QGraphicsDropShadowEffect,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.controls import (
    Part,
    fill_column,
    make_icon_button,
    make_label,
    make_row,
    make_scroll_area,
    tab_stops,
)
from app.key_names import ENTER_KEYS
from app.texts import tr
from app.theme.tokens import Scheme, tokens

_TOP_SHARE = 0.12
_MARGIN = 24
_BAND = 48  # pixels reserved for messages at the bottom of the window


class Overlay(QWidget):
    """A dimmed layer over `host` with one panel; restores the focus when closed."""

    closed = Signal()

    def __init__(self, host: QWidget, width: int) -> None:
        super().__init__(host)
        self._host = host
        self._width = width
        self._focus_before: QWidget | None = None
        self.panel = QFrame(self)
        self.panel.setProperty("role", "popup")
        shadow = QGraphicsDropShadowEffect(self.panel)
        shadow.setBlurRadius(48)
        shadow.setOffset(0, 12)
        shadow.setColor(QColor(0, 0, 0, 80))
        self.panel.setGraphicsEffect(shadow)
        host.installEventFilter(self)
        self.hide()

    def show_over(self) -> None:
        if not self.isVisible():
            self._focus_before = QApplication.focusWidget()
        self.setGeometry(self._host.rect())
        self.show()
        self.raise_()
        self.place_panel()

    def place_panel(self) -> None:
        """Centre the panel in the upper part of the window."""
        width = self.panel_width()
        height = min(self.wanted_height(width), self.highest())
        self.panel.setGeometry((self.width() - width) // 2, self._top(), width, height)

    def panel_width(self) -> int:
        return min(self._width, self.width() - 2 * _MARGIN)

    def highest(self) -> int:
        return self.height() - self._top() - _BAND

    def _top(self) -> int:
        """Top margin: a share of the height, less where the panel needs the room."""
        room = self.height() - self.wanted_height(self.panel_width()) - _BAND
        return max(_MARGIN, min(round(self.height() * _TOP_SHARE), room))

    def wanted_height(self, _width: int) -> int:
        """The panel's preferred height for a width."""
        return self.panel.sizeHint().height()

    def dismiss(self) -> None:
        if not self.isVisible():
            return
        self.hide()
        before, self._focus_before = self._focus_before, None
        # The page of the widget may have been closed.
        if before is not None and shiboken6.isValid(before) and before.isVisible():
            before.setFocus()
        self.closed.emit()

    def focusNextPrevChild(self, forwards: bool) -> bool:
        """Keep the focus inside: Esc is only received from within the overlay."""
        has_moved = super().focusNextPrevChild(forwards)
        focused, stops = QApplication.focusWidget(), list(tab_stops(self))
        if stops and (focused is None or not self.isAncestorOf(focused)):
            stops[0 if forwards else -1].setFocus(Qt.FocusReason.TabFocusReason)
            return True
        return has_moved

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.dismiss()
            return
        super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if not self.panel.geometry().contains(event.position().toPoint()):
            self.dismiss()
        event.accept()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._host and event.type() == QEvent.Type.Resize and self.isVisible():
            self.setGeometry(self._host.rect())
            self.place_panel()
        return super().eventFilter(watched, event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        veil = QColor(0, 0, 0, 110 if tokens().scheme is Scheme.DARK else 46)
        painter = QPainter(self)
        painter.fillRect(self.rect(), veil)
        painter.end()


class FloatingCard(Overlay):
    """An overlay with a title and a close button.

    Attributes:
        primary: the button that Enter presses, unless another button or a list has the focus.
    """

    primary: QPushButton | None = None

    def __init__(self, host: QWidget, width: int, title: str) -> None:
        super().__init__(host, width)
        self.close_button = make_icon_button("close", tr("Close"), self.dismiss)
        space, heading = tokens().spacing, make_label(title, "heading")
        margins = (space.large, space.medium, space.medium, space.small)
        self._head = make_row(heading, self.close_button, margins=margins, grows=0)

    def on_enter(self) -> None:
        if self.primary is not None:
            self.primary.click()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        focused = QApplication.focusWidget()
        takes_enter = self.primary is not None and event.key() in ENTER_KEYS
        if takes_enter and not isinstance(focused, QToolButton | QComboBox):
            self.on_enter()
        else:
            super().keyPressEvent(event)


class ScrollingCard(FloatingCard):
    """Base of floating cards that scroll.

    Subclasses call `fill_body`, and `add_footer` for buttons below the scrolling part.
    """

    def __init__(self, host: QWidget, width: int, title: str) -> None:
        super().__init__(host, width, title)
        self.body = QWidget()
        self.body.setProperty("surface", "raised")
        self.scroll_area = make_scroll_area()
        self.scroll_area.setWidget(self.body)
        space = tokens().spacing
        self._margins = (space.large, space.small, space.large, space.small)  # of body and foot
        self._footer: QWidget | None = None
        around, parts = (0, 0, 0, space.small), (self._head, self.scroll_area)
        self._whole = fill_column(self.panel, *parts, spacing=0, margins=around, grows=1)

    def fill_body(self, *parts: Part) -> QVBoxLayout:
        return fill_column(self.body, *parts, margins=self._margins)

    def add_footer(self, *parts: Part) -> QWidget:
        self._footer = make_row(*parts, margins=self._margins)
        self._whole.addWidget(self._footer)
        return self._footer

    def wanted_height(self, width: int) -> int:
        border, around = self.panel.contentsMargins(), tokens().spacing.small
        body = self._body_height(width - border.left() - border.right())
        footer = self._footer
        below = 0 if footer is None or footer.isHidden() else footer.sizeHint().height()
        head = self._head.sizeHint().height()
        return border.top() + head + body + around + below + border.bottom()

    def _body_height(self, width: int) -> int:
        layout = self.body.layout()
        if layout is None:
            return 0
        if not layout.hasHeightForWidth():  # no wrapping text: heightForWidth would be -1
            return layout.totalSizeHint().height()
        return layout.totalHeightForWidth(width)

    def place_panel(self) -> None:
        """Place the panel, and hide the scroll bar where everything fits.

        The scroll bar would take width, and so make itself necessary.
        """
        has_room = self.wanted_height(self.panel_width()) <= self.highest()
        never, when_needed = (
            Qt.ScrollBarPolicy.ScrollBarAlwaysOff,
            Qt.ScrollBarPolicy.ScrollBarAsNeeded,
        )
        self.scroll_area.setVerticalScrollBarPolicy(never if has_room else when_needed)
        super().place_panel()

    def _settle(self) -> None:
        """Fit the height once new texts have been polished."""
        layout = self.body.layout()
        if layout is not None:
            layout.invalidate()
        QTimer.singleShot(0, self, self._fit)

    def _fit(self) -> None:
        if self.isVisible():
            self.place_panel()
