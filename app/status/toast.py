"""A short message at the bottom of the window: what was done, how many, and Undo."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, final

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, QTimer
from PySide6.QtGui import QEnterEvent
from PySide6.QtWidgets import QFrame, QGraphicsDropShadowEffect, QHBoxLayout, QLabel, QWidget

from app.controls import make_button, make_label
from app.texts import tr
from app.theme.icons import icon_pixmap

if TYPE_CHECKING:
    from app.session import Session
    from engine.project import Change


VISIBLE_MS: Final = 6000
FAILURE_MS: Final = 12000
_MARGIN: Final = 56
_GAP: Final = 8  # above bars at the bottom
_PLACE_EVENTS: Final = frozenset({QEvent.Type.Show, QEvent.Type.Hide, QEvent.Type.Move, QEvent.Type.Resize})
_NO_LIMIT: Final = 16_777_215  # the most that Qt lets a widget be wide


@final
class Toast(QFrame):
    """Shows one message at a time over `host`, centred at its bottom."""

    def __init__(self, host: QWidget) -> None:
        super().__init__(host)
        self.setProperty("role", "toast")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._host = host
        self._floor: QWidget | None = None
        self._on_action: Callable[[], object] | None = None
        self._mark = QLabel(self)
        self._text = make_label("")
        self._action = make_button("", self._on_action_clicked)
        self._action.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(16, 8, 10, 8)
        layout.setSpacing(12)
        layout.addWidget(self._mark)
        layout.addWidget(self._text)
        layout.addWidget(self._action)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.hide)
        self._add_shadow()
        host.installEventFilter(self)
        self.hide()

    def stay_within(self, part: QWidget) -> None:
        """While this widget shows, float over it alone, never over bars below it."""
        self._floor = part
        part.installEventFilter(self)

    @property
    def message(self) -> str:
        return self._text.text() if self.isVisible() else ""

    def say(self, text: str, *, action: str = "", on_action: Callable[[], object] | None = None) -> None:
        self._show(text, action, on_action, is_failure=False)

    def say_failure(self, text: str, *, action: str = "", on_action: Callable[[], object] | None = None) -> None:
        """Show an error; it stays twice as long."""
        self._show(text, action, on_action, is_failure=True)

    def withdraw(self, *offers: Callable[[], object]) -> None:
        """Hide a message whose button would now do something else."""
        if self._on_action in offers:
            self.hide()

    def _show(self, text: str, action: str, on_action: Callable[[], object] | None, *, is_failure: bool) -> None:
        self._on_action = on_action
        self._text.setWordWrap(False)
        self._text.setMinimumWidth(0)
        self._text.setMaximumWidth(_NO_LIMIT)
        self._text.setText(text)
        self._action.setText(action)
        self._action.setVisible(bool(action))
        self._mark.setPixmap(
            icon_pixmap("warning" if is_failure else "check", 18, colour="on_inverse", ratio=self.devicePixelRatioF())
        )
        self.setAccessibleName(text)
        self._place()
        self.show()
        self.raise_()
        self._timer.start(FAILURE_MS if is_failure else VISIBLE_MS)

    def _place(self) -> None:
        """Fit the width of the host; a long message wraps."""
        widest = max(240, self._host.width() - 96)
        self.adjustSize()
        if self.sizeHint().width() > widest:
            self._text.setWordWrap(True)
            self._text.setFixedWidth(widest - 140)
            self.adjustSize()
        bottom = self._host.height() - _MARGIN
        if self._floor is not None and self._floor.isVisible():
            bottom = min(bottom, self._floor.mapTo(self._host, QPoint(0, self._floor.height() - _GAP)).y())
        self.move((self._host.width() - self.width()) // 2, bottom - self.height())

    def _on_action_clicked(self) -> None:
        self.hide()
        if self._on_action is not None:
            self._on_action()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        is_moved = watched is self._host and event.type() == QEvent.Type.Resize
        if (is_moved or (watched is self._floor and event.type() in _PLACE_EVENTS)) and self.isVisible():
            self._place()
        return super().eventFilter(watched, event)

    def enterEvent(self, event: QEnterEvent) -> None:
        self._timer.stop()
        super().enterEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        self._timer.start(VISIBLE_MS)
        super().leaveEvent(event)

    def _add_shadow(self) -> None:
        shadow = QGraphicsDropShadowEffect(self)
        shadow.setBlurRadius(32)
        shadow.setOffset(0, 8)
        shadow.setColor(Qt.GlobalColor.black)
        color = shadow.color()
        color.setAlpha(90)
        shadow.setColor(color)
        self.setGraphicsEffect(shadow)


ON_THEIR_PAGE: Final = frozenset(
    {"conflict_settled", "conflict_settled_as_none", "conflict_settled_as_empty", "comment_settled"}
)
"""Codes of single decisions that show where they are taken."""


@final
class ChangeAnswers(QObject):
    """Shows bulk actions and edits of classes in the toast; single labels show on their own card."""

    def __init__(self, session: Session, toast: Toast) -> None:
        super().__init__(toast)
        self._session = session
        self._toast = toast
        session.change_made.connect(self._on_change_made)
        session.closed.connect(self._withdraw)

    def _on_change_made(self, change: Change) -> None:
        if change.kind == "undone":
            self._toast.say(tr("Undone: %1", change.action.command), action=tr("Redo"), on_action=self._session.redo)
        elif change.kind == "redone":
            self._toast.say(tr("Redone: %1", change.action.command), action=tr("Undo"), on_action=self._session.undo)
        elif change.action.code not in ON_THEIR_PAGE and (len(change.labelled) != 1 or change.graph_edits):
            self._toast.say(change.text, action=tr("Undo"), on_action=self._session.undo)
        else:
            self._withdraw()

    def _withdraw(self) -> None:
        self._toast.withdraw(self._session.undo, self._session.redo)
