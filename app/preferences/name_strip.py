"""The strip that asks once for the name in "labelled by": quiet, below the images, where no card moves for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit

from app.controls import make_button, make_icon_button, make_label
from app.texts import tr
from app.theme.tokens import tokens

if TYPE_CHECKING:
    from app.session import Session
    from app.settings import Settings
    from engine.project import Change

HINT: Final = "name"
"""What the settings remember it as."""
FIELD_WIDTH: Final = 200  # logical pixels, at most
LONGEST_NAME: Final = 120  # letters


@final
class NameStrip(QFrame):
    """A field for the name; Enter or the button takes it, the cross asks no more.

    Signals:
        named: the name.
        left: the keyboard is not needed here any more.
    """

    named = Signal(str)
    left = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "notice")
        self.setProperty("tone", "")
        self.field = QLineEdit()
        self.field.setPlaceholderText(tr("Your name"))
        self.field.setAccessibleName(tr("Your name"))
        self.field.setMaxLength(LONGEST_NAME)
        self.field.setMaximumWidth(FIELD_WIDTH)
        self.field.returnPressed.connect(self._take)
        question = make_label(tr("Who labels these images?"))
        spacing = tokens().spacing
        row = QHBoxLayout(self)
        row.setContentsMargins(spacing.medium, spacing.small, spacing.small, spacing.small)
        row.setSpacing(spacing.small)
        row.addWidget(question)
        row.addWidget(self.field, 1)
        row.addWidget(make_button(tr("Save"), self._take))
        row.addStretch(1)
        row.addWidget(make_icon_button("close", tr("Dismiss"), self._leave))
        self.hide()

    def _take(self) -> None:
        name = self.field.text().strip()
        if name:
            self.named.emit(name)
            self._leave()
        else:
            self.field.setFocus()

    def _leave(self) -> None:
        self.hide()
        self.left.emit()


@final
class NameAsking(QObject):
    """Shows the strip at the first label, where neither the settings nor the account know the person's name.

    Args:
        session: of the open project.
        settings: that remember the name, and that it was asked for.
        strip: asks.
    """

    def __init__(self, session: Session, settings: Settings, strip: NameStrip) -> None:
        super().__init__(strip)
        self._session = session
        self._settings = settings
        self._strip = strip
        if settings.person:
            _sign_with(settings.person)
        strip.named.connect(self._on_named)
        session.change_made.connect(self._on_change_made)
        session.closed.connect(strip.hide)

    def _on_change_made(self, change: Change) -> None:
        is_by_hand = change.kind == "done" and change.labelled and not change.images_added and not change.graph_edits
        if is_by_hand and not self._settings.person and not self._settings.was_shown(HINT):
            self._session.ask(lambda _live: _full_name(), self._on_full_name, owner=self, topic=HINT)

    def _on_full_name(self, name: str) -> None:
        if not name and self._session.info is not None and not self._settings.person:
            self._settings.remember_shown(HINT)
            self._strip.show()

    def _on_named(self, name: str) -> None:
        self._settings.person = name
        _sign_with(name)


def _full_name() -> str:
    """As the account has it. On the project thread: it may be asked for in a network."""
    from engine.project.clock import full_name

    return full_name()


def _sign_with(name: str) -> None:
    from engine.project.clock import choose_person

    choose_person(name)
