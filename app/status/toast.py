"""A short message over the status bar, where it covers no image: what was done, and Undo."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt, QTimer
from PySide6.QtGui import QEnterEvent, QHideEvent
from PySide6.QtWidgets import QFrame, QLabel, QWidget

from app.controls import fill_row, make_button, make_label
from app.mirroring import placed
from app.texts import tr
from app.theme.icons import icon_pixmap
from engine.project.labels import has_replaced

if TYPE_CHECKING:
    from app.session import Session
    from engine.project import Change


VISIBLE_MS = 6000
FAILURE_MS = 12000
_MARGIN = 16  # pixels from the edges of a window without a status bar
_GAP = 4  # pixels around a message in the status bar
_HEIGHT = 28  # pixels of one line
_PLACE_EVENTS = frozenset(
    {QEvent.Type.Show, QEvent.Type.Hide, QEvent.Type.Move, QEvent.Type.Resize}
)
_ICON_AND_MARGINS = 64  # pixels of icon and margins next to a text that wraps
_NO_LIMIT = 16_777_215  # QWIDGETSIZE_MAX, the maximum width of a widget


@final
class Toast(QFrame):
    """Shows one message at a time over `host`: over the status bar, else at the bottom."""

    def __init__(self, host: QWidget) -> None:
        super().__init__(host)
        self.setProperty("role", "toast")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._host = host
        self._band: QWidget | None = None
        self._on_action: Callable[[], object] | None = None
        self._is_failure = False
        self._mark = QLabel(self)
        self._text = make_label("")
        self._action = make_button("", self._on_action_clicked)
        self._action.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setMinimumHeight(_HEIGHT)
        fill_row(self, self._mark, self._text, self._action, margins=(12, 0, 8, 0))
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self.hide)
        host.installEventFilter(self)
        self.hide()

    def cover(self, band: QWidget) -> None:
        """Set the status bar that messages cover while it is visible.

        It grows where a message needs several lines.
        """
        self._band = band
        band.installEventFilter(self)

    @property
    def message(self) -> str:
        return self._text.text() if self.isVisible() else ""

    def show_message(
        self, text: str, *, action: str = "", on_action: Callable[[], object] | None = None
    ) -> None:
        self._show(text, action, on_action, is_failure=False)

    def report_failure(
        self, text: str, *, action: str = "", on_action: Callable[[], object] | None = None
    ) -> None:
        """Show an error; it stays twice as long."""
        self._show(text, action, on_action, is_failure=True)

    def withdraw(self, *offers: Callable[[], object]) -> None:
        """Hide a message whose button is one of these and has become invalid."""
        if self._on_action in offers:
            self.hide()

    def make_way(self, *offers: Callable[[], object]) -> None:
        """Hide a message that is superseded elsewhere.

        One with one of these buttons, or without a button unless it is a failure.
        """
        if self._on_action in offers or (self._on_action is None and not self._is_failure):
            self.hide()

    def _show(
        self, text: str, action: str, on_action: Callable[[], object] | None, *, is_failure: bool
    ) -> None:
        self._on_action, self._is_failure = on_action, is_failure
        self._text.setWordWrap(False)
        self._text.setMinimumWidth(0)
        self._text.setMaximumWidth(_NO_LIMIT)
        self._text.setText(text)
        self._action.setText(action)
        self._action.setVisible(bool(action))
        self._mark.setPixmap(
            icon_pixmap(
                "warning" if is_failure else "check",
                18,
                colour="on_inverse",
                ratio=self.devicePixelRatioF(),
            )
        )
        self.setAccessibleName(text)
        self._place()
        self.show()
        self.raise_()
        self._timer.start(FAILURE_MS if is_failure else VISIBLE_MS)

    def _place(self) -> None:
        """Fit the width; a long message wraps."""
        area = self._area()
        self.adjustSize()
        if self.sizeHint().width() > area.width():
            self._text.setWordWrap(True)
            button = self._action.sizeHint().width() if self._action.isVisibleTo(self) else 0
            self._text.setFixedWidth(area.width() - _ICON_AND_MARGINS - button)
            self.adjustSize()
        if self._band is not None:
            self._band.setMinimumHeight(self.height() + 2 * _GAP if self._text.wordWrap() else 0)
        corner = QRect(area.left(), area.bottom() + 1 - self.height(), self.width(), self.height())
        if not self._text.wordWrap():
            corner.moveTop(area.top() + (area.height() - self.height()) // 2)
        self.move(placed(corner, area).topLeft())

    def _area(self) -> QRect:
        """Where a message may be: over the status bar, else near the bottom edge."""
        if self._band is not None and self._band.isVisible():
            band = QRect(self._band.mapTo(self._host, QPoint()), self._band.size())
            return band.adjusted(_GAP, _GAP, -_GAP, -_GAP)
        inner = self._host.rect().adjusted(_MARGIN, 0, -_MARGIN, -_MARGIN)
        inner.setTop(inner.bottom() - self.sizeHint().height())
        return inner

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        if self._band is not None:
            self._band.setMinimumHeight(0)

    def _on_action_clicked(self) -> None:
        self.hide()
        if self._on_action is not None:
            self._on_action()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        is_moved = watched is self._host and event.type() == QEvent.Type.Resize
        if (
            is_moved or (watched is self._band and event.type() in _PLACE_EVENTS)
        ) and self.isVisible():
            self._place()
        return super().eventFilter(watched, event)

    def enterEvent(self, event: QEnterEvent) -> None:
        self._timer.stop()
        super().enterEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        self._timer.start(VISIBLE_MS)
        super().leaveEvent(event)


ON_THEIR_PAGE = frozenset(
    {"conflict_settled", "conflict_settled_as_none", "conflict_settled_as_empty", "comment_settled"}
)
"""Commands of single decisions whose own page shows the result."""


@final
class ChangeAnswers(QObject):
    """Shows the last change.

    The label of a single image is in the status bar instead, unless it replaced another label.
    """

    def __init__(self, session: Session, toast: Toast) -> None:
        super().__init__(toast)
        self._session = session
        self._toast = toast
        session.change_made.connect(self._on_change_made)
        session.closed.connect(self._withdraw)

    def _on_change_made(self, change: Change) -> None:
        is_single = len(change.labelled) == 1 and not change.graph_edits
        if change.kind == "undone":
            self._toast.show_message(
                tr("Undone: {1}", change.action.command),
                action=tr("Redo"),
                on_action=self._session.redo,
            )
        elif change.kind == "redone":
            self._toast.show_message(
                tr("Redone: {1}", change.action.command),
                action=tr("Undo"),
                on_action=self._session.undo,
            )
        elif change.action.code in ON_THEIR_PAGE:
            self._withdraw()
        elif not is_single or has_replaced(change):
            self._toast.show_message(change.text, action=tr("Undo"), on_action=self._session.undo)
        else:
            self._toast.make_way(self._session.undo, self._session.redo)

    def _withdraw(self) -> None:
        self._toast.withdraw(self._session.undo, self._session.redo)
