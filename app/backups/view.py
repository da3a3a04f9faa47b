"""View of the backups panel: list, changes since each backup, restore, folder."""

from collections.abc import Sequence
from pathlib import Path
from typing import final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QWidget

from app.backups.logic import Group
from app.backups.wording import (
    counts,
    date_warning,
    details,
    doubt_details,
    heading,
    question,
    reason_text,
    since_line,
    title,
)
from app.controls import fill_column, make_button, make_label, make_row_card, make_separator
from app.side_panel.cards import AskingCard, CardList, FailureNotice, ProgressView, words_of
from app.side_panel.frame import SidePanel
from app.texts import breakable, tr
from app.theme.tokens import tokens
from app.wording import SEPARATOR
from engine.project.backups.contents import Changes
from engine.project.backups.listing import Backup
from engine.texts import translated

_FIRM_SPACE = "\N{NO-BREAK SPACE}"


@final
class BackupCard(AskingCard):
    """Card of one backup in the list."""

    restore_requested = Signal(Backup)  # the `Backup` to restore, after confirmation

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
        self.ask_button.setAccessibleName(tr("Restore the backup of {1}…", title(backup)))
        self.ask_button.setEnabled(can_restore)
        self._details = make_label("", "secondary", wraps=True)
        asked = make_label(
            tr("Is this the right project?") if is_doubtful else question(backup),
            "strong",
            wraps=True,
        )
        outcome = make_label(
            tr("The damaged file stays in the same folder.")
            if is_doubtful
            else tr("The current project is backed up first."),
            "secondary",
            wraps=True,
        )
        texts = (asked, self._details, outcome)
        self._warning = make_label(date_warning(backup), "caption", wraps=True)
        self._warning.setVisible(bool(self._warning.text()))
        captions = (reason_text(backup.reason), self._holds, self._since, self._warning)
        self.lay_out(
            make_row_card(title(backup), captions, self.ask_button), self.ask_button, texts
        )
        self.agreed.connect(lambda: self.restore_requested.emit(self.backup))
        self._describe()

    # -- display

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
        """Update the result of verification."""
        self.backup = backup
        self._describe()

    def _describe(self) -> None:
        backup = self.backup
        self._holds.setText(
            breakable(tr("Damaged file; it can't be restored: {1}", translated(backup.fault)))
            if backup.fault
            else _kept_together(counts(backup))
        )
        self._since.setText(
            "" if backup.fault or self._changes is None else since_line(self._changes)
        )
        self._since.setVisible(bool(self._since.text()))
        self.ask_button.setVisible(not backup.fault)
        self.ask_button.setAccessibleDescription(self.text)
        text = doubt_details(backup) if self._is_doubtful else details(backup, self._changes)
        self._details.setText(breakable(text))
        if backup.fault:
            self.show_question(is_asking=False)


def _kept_together(facts: str) -> str:
    """Allow line breaks between facts, but not between a number and its unit."""
    return SEPARATOR.join(fact.replace(" ", _FIRM_SPACE) for fact in facts.split(SEPARATOR))


@final
class BackupsPanel(SidePanel):
    """Side panel next to the collection."""

    back_up_requested = Signal()
    restore_requested = Signal(Backup)  # the `Backup` to restore, after confirmation
    folder_requested = Signal()
    usual_folder_requested = Signal()
    show_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.failure = FailureNotice()
        self.busy = ProgressView("")
        self.back_up_button = make_button(
            tr("Back up now"), self.back_up_requested.emit, icon_name="copy"
        )
        self.cards: tuple[BackupCard, ...] = ()
        self._can_restore = False
        self._empty = make_label("", "secondary", wraps=True)
        self._list = CardList()
        self._folder = make_label("", "secondary", wraps=True)
        self.choose_button = make_button(tr("Choose folder…"), self.folder_requested.emit)
        self.usual_button = make_button(
            tr("Use the default folder"), self.usual_folder_requested.emit
        )
        self.show_button = make_button(
            tr("Show in folder"), self.show_requested.emit, icon_name="folder"
        )
        self._about = make_label(
            tr(
                "Protoleaf backs up the project when it opens, every 15 minutes of work, and "
                "before large changes."
            ),
            "secondary",
            wraps=True,
        )
        self._damage = FailureNotice("warning")
        self._place = self._make_place()
        parts = (
            self._about,
            self._damage,
            self.failure,
            self.busy,
            self.back_up_button,
            self._empty,
            self._list,
            *self._place,
        )
        self.lay_out(tr("Backups"), tr("Close"), parts)
        self.failure.show_text("")
        self._damage.show_text("")
        self.busy.show_ended()
        self.show_groups((), can_restore=False, is_known=False)

    def _make_place(self) -> tuple[QWidget, ...]:
        heading = make_label(tr("Where backups are kept"), "section")
        return (
            make_separator(),
            heading,
            self._folder,
            self.show_button,
            self.choose_button,
            self.usual_button,
        )

    # -- display

    @property
    def empty_text(self) -> str:
        """Placeholder of an empty list; "" if there are backups."""
        return "" if self._empty.isHidden() else self._empty.text()

    @property
    def folder_text(self) -> str:
        return self._folder.text().replace("\u200b", "")

    @property
    def damage_text(self) -> str:
        """Message about a damaged project whose backups are listed; "" for the open project."""
        return self._damage.text.replace("\u200b", "")

    def show_damage(self, text: str) -> None:
        """List the backups of a damaged project, without controls for new ones; "" resets."""
        self._damage.show_text(text)
        for part in (self._about, self.back_up_button, *self._place):
            part.setVisible(not text)
        self.failure.show_text("")
        self.busy.show_ended()

    def show_groups(
        self, groups: Sequence[Group], *, can_restore: bool, is_known: bool = True
    ) -> None:
        """Rebuild the list; an open question about an existing backup stays open."""
        self._can_restore = can_restore
        shown: list[QWidget] = []
        cards: list[BackupCard] = []
        for group in groups:
            shown += _headings(group, is_first=not shown)
            mine = [
                BackupCard(row, can_restore=can_restore, is_doubtful=group.is_doubtful)
                for row in group.rows
            ]
            cards += mine
            shown += mine
        self.cards = tuple(cards)
        for card in self.cards:
            card.restore_requested.connect(self.restore_requested)
        self._list.show_cards(shown)
        self._empty.setText(
            tr("No backup yet. The first one is made as soon as there is something to keep.")
            if is_known
            else tr("Loading backups…")
        )
        self._empty.setVisible(not groups)
        in_cards = (button for card in self.cards for button in card.buttons)
        self.order_keys(
            self.back_up_button, *in_cards, self.show_button, self.choose_button, self.usual_button
        )

    def card_of(self, path: Path) -> BackupCard | None:
        return next((card for card in self.cards if card.backup.path == path), None)

    def show_row(self, backup: Backup, changes: Changes | None) -> None:
        card = self.card_of(backup.path)
        if card is not None:
            card.show_backup(backup)
            if changes is not None:
                card.show_changes(changes)

    def show_place(self, folder: Path, *, is_chosen: bool) -> None:
        self._folder.setText(breakable(str(folder)))
        self.usual_button.setVisible(is_chosen)

    def show_busy(self, text: str) -> None:
        """Show the running operation; "" hides it."""
        if text:
            self.busy.show_step(text)
        else:
            self.busy.show_ended()
        self.back_up_button.setEnabled(not text)
        for card in self.cards:
            card.ask_button.setEnabled(self._can_restore and not text)


def _headings(group: Group, *, is_first: bool) -> list[QWidget]:
    if not heading(group):
        return []
    path = make_label(
        "" if group.taken_of is None else breakable(str(group.taken_of)), "caption", wraps=True
    )
    path.setVisible(bool(path.text()))
    whole = QWidget()
    column = fill_column(whole, make_label(heading(group), "section", wraps=True), path, spacing=0)
    column.setContentsMargins(0, 0 if is_first else tokens().spacing.medium, 0, 0)
    return [whole]
