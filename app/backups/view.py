"""The panel "Backups": what there is, what changed since, going back, and where they are kept."""

from collections.abc import Sequence
from pathlib import Path
from typing import final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.backups.card import BackupCard
from app.backups.logic import Group
from app.backups.wording import heading
from app.controls import fill_column, make_button, make_label, make_separator
from app.side_panel.cards import CardList, FailureNotice, ProgressView
from app.side_panel.frame import SidePanel
from app.texts import breakable, tr
from app.theme.tokens import tokens
from engine.project.backups.contents import Changes
from engine.project.backups.listing import Backup


@final
class BackupsPanel(SidePanel):
    """Stands beside the collection."""

    back_up_requested = Signal()
    restore_requested = Signal(Backup)  # the `Backup` to go back to; the person has agreed
    folder_requested = Signal()
    usual_folder_requested = Signal()
    show_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.failure = FailureNotice()
        self.busy = ProgressView("")
        self.back_up_button = make_button(tr("Back up now"), self.back_up_requested.emit, icon_name="copy")
        self.cards: tuple[BackupCard, ...] = ()
        self._can_restore = False
        self._empty = make_label("", "secondary", wraps=True)
        self._list = CardList()
        self._folder = make_label("", "secondary", wraps=True)
        self.choose_button = make_button(tr("Choose folder…"), self.folder_requested.emit)
        self.usual_button = make_button(tr("Use the default folder"), self.usual_folder_requested.emit)
        self.show_button = make_button(tr("Show in folder"), self.show_requested.emit, icon_name="folder")
        self._about = make_label(
            tr("Protoleaf backs up your project when you open it, every 15 minutes of work, and before large changes."),
            "secondary",
            wraps=True,
        )
        self._damage = FailureNotice("warning")
        self._place = self._make_place()
        parts = (
            self._about, self._damage, self.failure, self.busy, self.back_up_button, self._empty, self._list,
            *self._place,
        )  # fmt: skip
        self.lay_out(tr("Backups"), tr("Close"), parts)
        self.failure.show_text("")
        self._damage.show_text("")
        self.busy.show_ended()
        self.show_groups((), can_restore=False, is_known=False)

    def _make_place(self) -> tuple[QWidget, ...]:
        heading = make_label(tr("Where backups are kept"), "section")
        return (make_separator(), heading, self._folder, self.show_button, self.choose_button, self.usual_button)

    # -- what is shown

    @property
    def empty_text(self) -> str:
        """What stands in place of a list; empty when there is one."""
        return "" if self._empty.isHidden() else self._empty.text()

    @property
    def folder_text(self) -> str:
        return self._folder.text().replace("\u200b", "")

    @property
    def damage_text(self) -> str:
        """Which damaged project the list is for; empty while it is that of the open one."""
        return self._damage.text.replace("\u200b", "")

    def show_damage(self, text: str) -> None:
        """Show the backups for a damaged project, of which none can be made; empty for those of the open one."""
        self._damage.show_text(text)
        for part in (self._about, self.back_up_button, *self._place):
            part.setVisible(not text)
        self.failure.show_text("")
        self.busy.show_ended()

    def show_groups(self, groups: Sequence[Group], *, can_restore: bool, is_known: bool = True) -> None:
        """Show the list anew; a question that is open for a backup that is still there stays open."""
        self._can_restore = can_restore
        shown: list[QWidget] = []
        cards: list[BackupCard] = []
        for group in groups:
            shown += _headings(group, is_first=not shown)
            mine = [BackupCard(row, can_restore=can_restore, is_doubtful=group.is_doubtful) for row in group.rows]
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
        self.order_keys(self.back_up_button, *in_cards, self.show_button, self.choose_button, self.usual_button)

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
        """Say what is being done; empty when it is over."""
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
    path = make_label("" if group.taken_of is None else breakable(str(group.taken_of)), "caption", wraps=True)
    path.setVisible(bool(path.text()))
    whole = QWidget()
    column = fill_column(whole, make_label(heading(group), "section", wraps=True), path, spacing=0)
    column.setContentsMargins(0, 0 if is_first else tokens().spacing.medium, 0, 0)
    return [whole]
