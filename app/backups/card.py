"""One backup: when, why and what it holds, and the question before it is restored."""

from typing import Final, final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton

from app.backups.wording import (
    consequence,
    counts,
    damaged,
    date_warning,
    details,
    doubt_details,
    doubt_question,
    doubtful_consequence,
    question,
    reason_text,
    since_line,
    title,
)
from app.controls import make_button, make_label, make_row_card
from app.side_panel.cards import AskingCard, words_of
from app.texts import breakable, tr
from app.wording import SEPARATOR
from engine.project.backups.contents import Changes
from engine.project.backups.listing import Backup

_FIRM_SPACE: Final = "\N{NO-BREAK SPACE}"


@final
class BackupCard(AskingCard):
    """A card of the list."""

    restore_requested = Signal(Backup)  # the `Backup` to go back to; the person has agreed

    def __init__(self, backup: Backup, *, can_restore: bool, is_doubtful: bool = False) -> None:
        agree = tr("Restore")
        keep = tr("Cancel") if is_doubtful else tr("Keep the project as it is")
        super().__init__(agree, keep, topic=backup.path, variant="primary", tone="accent")
        self.backup = backup
        self._is_doubtful = is_doubtful
        self._changes: Changes | None = None
        self._holds = make_label("", "caption", wraps=True)
        self._since = make_label("", "caption", wraps=True)
        self.ask_button = make_button(tr("Restore…"), self.ask)
        self.ask_button.setAccessibleName(tr("Restore the backup of %1…", title(backup)))
        self.ask_button.setEnabled(can_restore)
        self._details = make_label("", "secondary", wraps=True)
        asked = make_label(doubt_question() if is_doubtful else question(backup), "strong", wraps=True)
        outcome = make_label(doubtful_consequence() if is_doubtful else consequence(), "secondary", wraps=True)
        texts = (asked, self._details, outcome)
        self._warning = make_label(date_warning(backup), "caption", wraps=True)
        self._warning.setVisible(bool(self._warning.text()))
        captions = (reason_text(backup.reason), self._holds, self._since, self._warning)
        self.lay_out(make_row_card(title(backup), captions, self.ask_button), self.ask_button, texts)
        self.agreed.connect(lambda: self.restore_requested.emit(self.backup))
        self._describe()

    # -- what is shown

    @property
    def text(self) -> str:
        return words_of(self._holds, self._since, self._warning).replace(_FIRM_SPACE, " ")

    @property
    def buttons(self) -> tuple[QPushButton, ...]:
        return self.ask_button, self.agree_button, self.keep_button

    def show_changes(self, changes: Changes) -> None:
        self._changes = changes
        self._describe()

    def show_backup(self, backup: Backup) -> None:
        """Say what was found out when all of it was read."""
        self.backup = backup
        self._describe()

    def _describe(self) -> None:
        backup = self.backup
        self._holds.setText(breakable(damaged(backup)) if backup.fault else _kept_together(counts(backup)))
        self._since.setText("" if backup.fault or self._changes is None else since_line(self._changes))
        self._since.setVisible(bool(self._since.text()))
        self.ask_button.setVisible(not backup.fault)
        self.ask_button.setAccessibleDescription(self.text)
        text = doubt_details(backup) if self._is_doubtful else details(backup, self._changes)
        self._details.setText(breakable(text))
        if backup.fault:
            self.show_question(is_asking=False)


def _kept_together(facts: str) -> str:
    """Let a line break between facts, and never between a number and what it counts."""
    return SEPARATOR.join(fact.replace(" ", _FIRM_SPACE) for fact in facts.split(SEPARATOR))
