"""One backup: when, why and what it holds, and the question before it is restored."""

from typing import final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.backups.wording import counts, damaged, details, fate, question, reason_text, since_line, title
from app.controls import make_button, make_label, make_notice_column
from app.texts import breakable, fill
from app.theme.tokens import tokens
from engine.project.backups.contents import Changes
from engine.project.backups.listing import Backup


@final
class BackupCard(QWidget):
    """A card of the list; a question takes its place while a restore is asked about.

    Signals:
        restore_requested: the `Backup` to go back to; the person has agreed.
    """

    restore_requested = Signal(object)

    def __init__(self, backup: Backup, *, can_restore: bool) -> None:
        super().__init__()
        self.backup = backup
        self._changes: Changes | None = None
        self._holds = make_label("", "caption", wraps=True)
        self._since = make_label("", "caption", wraps=True)
        self.ask_button = make_button(self.tr("Restore…"), self.ask)
        self.ask_button.setAccessibleName(fill(self.tr("Restore the backup of %1…"), title(backup)))
        self.ask_button.setEnabled(can_restore)
        self._question_text = make_label(question(backup), "strong", wraps=True)
        self._details = make_label("", "secondary", wraps=True)
        self._fate = make_label(fate(), "secondary", wraps=True)
        self.agree_button = make_button(self.tr("Restore"), self._on_agree, variant="primary")
        self.keep_button = make_button(self.tr("Leave it as it is"), self._on_keep)
        self._card = self._make_card()
        self._question = self._make_question()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._card)
        column.addWidget(self._question)
        self._describe()
        self._show(is_asking=False)

    def _make_card(self) -> QFrame:
        spacing = tokens().spacing
        card = QFrame()
        card.setProperty("role", "card")
        row = QHBoxLayout(card)
        row.setContentsMargins(spacing.medium, spacing.small, spacing.small, spacing.small)
        words = QVBoxLayout()
        words.setSpacing(0)
        words.addWidget(make_label(title(self.backup), "strong", wraps=True))
        words.addWidget(make_label(reason_text(self.backup.reason), "caption", wraps=True))
        for label in (self._holds, self._since):
            words.addWidget(label)
        row.addLayout(words, 1)
        row.addWidget(self.ask_button, 0, Qt.AlignmentFlag.AlignVCenter)
        return card

    def _make_question(self) -> QFrame:
        frame = QFrame()
        column = make_notice_column(frame, "accent")
        column.setSpacing(tokens().spacing.small)
        for widget in (self._question_text, self._details, self._fate, self.agree_button, self.keep_button):
            column.addWidget(widget)
        return frame

    # -- what is shown

    @property
    def text(self) -> str:
        """What the card says."""
        return _words(self._holds, self._since)

    @property
    def is_asking(self) -> bool:
        """Whether the person is being asked."""
        return not self._question.isHidden()

    @property
    def question_text(self) -> str:
        """What is asked; empty while nothing is."""
        return _words(self._question_text, self._details, self._fate) if self.is_asking else ""

    @property
    def buttons(self) -> tuple[QPushButton, ...]:
        """What the Tab key stops at."""
        return self.ask_button, self.agree_button, self.keep_button

    def show_changes(self, changes: Changes) -> None:
        """Say what changed since."""
        self._changes = changes
        self._describe()

    def show_backup(self, backup: Backup) -> None:
        """Say what was found out when all of it was read."""
        self.backup = backup
        self._describe()

    def ask(self) -> None:
        """Ask before anything is done; the answer that changes nothing has the keyboard."""
        self._show(is_asking=True)
        self.keep_button.setFocus()

    def _describe(self) -> None:
        backup = self.backup
        self._holds.setText(breakable(damaged(backup)) if backup.fault else counts(backup))
        self._since.setText("" if backup.fault or self._changes is None else since_line(self._changes))
        self._since.setVisible(bool(self._since.text()))
        self.ask_button.setVisible(not backup.fault)
        self.ask_button.setAccessibleDescription(self.text)
        self._details.setText(breakable(details(backup, self._changes)))
        if backup.fault:
            self._show(is_asking=False)

    def _show(self, *, is_asking: bool) -> None:
        self._card.setVisible(not is_asking)
        self._question.setVisible(is_asking)

    # -- what a person does

    def _on_agree(self) -> None:
        self._show(is_asking=False)
        self.restore_requested.emit(self.backup)

    def _on_keep(self) -> None:
        self._show(is_asking=False)
        self.ask_button.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc answers the question, and only then puts the panel away."""
        if self.is_asking and event.key() == Qt.Key.Key_Escape:
            self._on_keep()
            return
        super().keyPressEvent(event)


def _words(*labels: QLabel) -> str:
    return "\n".join(label.text() for label in labels if label.text()).replace("\u200b", "")
