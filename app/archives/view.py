"""View of the "Open a copy" card: contents, target folder and progress."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from app.archives.wording import origin_text, photos_text, room_text, title_text
from app.controls import (
    fill_column,
    make_button,
    make_flowing_label,
    make_label,
    make_row,
    set_property,
)
from app.palette.overlay import ScrollingCard
from app.side_panel.cards import FailureNotice, ProgressView
from app.texts import plain_button, tr
from app.theme.tokens import tokens
from app.wording import sentence

if TYPE_CHECKING:
    from app.archives.logic import CopyLook

WIDTH = 620
"""In logical pixels."""


@final
class CopyCard(ScrollingCard):
    """Card over the window; Enter unpacks and opens."""

    changed = Signal()  # the folder was edited and must be checked
    browse_requested = Signal()  # show a folder dialog
    open_requested = Signal()  # unpack the archive and open the project
    merge_requested = Signal()  # merge the archive into the open project

    def __init__(self, host: QWidget) -> None:
        super().__init__(host, WIDTH, tr("Open a copy"))
        self.look: CopyLook | None = None
        self.title = make_flowing_label("", "strong")
        self.folder = QLineEdit()
        self.folder.textEdited.connect(self._on_edited)
        self.browse_button = make_button(
            tr("Browse…"), self.browse_requested.emit, icon_name="folder"
        )
        self.failure = FailureNotice()
        self.progress = ProgressView(tr("Stop unpacking"))
        self.open_button = make_button(tr("Unpack and open"), self._request, variant="primary")
        self.primary = self.open_button
        self.merge_button = make_button("", self.merge_requested.emit, icon_name="merge")
        self.keep_button = make_button(tr("Cancel"), self.dismiss)
        self._origin, self._photos = make_flowing_label("", "secondary"), make_flowing_label("")
        self._room = make_flowing_label("", "secondary")
        label = make_label(tr("Folder"), "secondary")
        label.setBuddy(self.folder)
        self.folder.setAccessibleName(tr("Folder"))
        self._place = make_row(label, self.folder, self.browse_button, grows=1)
        buttons = (self.merge_button, None, self.keep_button, self.open_button)
        self._answers, spacing = make_row(*buttons), tokens().spacing
        fill_column(
            self.body,
            self.title,
            self._origin,
            self._photos,
            self._place,
            self._room,
            self.failure,
            self.progress,
            self._answers,
            margins=(spacing.large, 0, spacing.large, spacing.medium),
        )

    # -- display

    @property
    def chosen_folder(self) -> Path | None:
        """Folder that the user entered; None for the default next to the archive."""
        text = self.folder.text().strip()
        is_own = self.look is None or text != str(self.look.folder)
        return Path(text).expanduser() if text and is_own else None

    @property
    def is_running(self) -> bool:
        """Whether progress is shown."""
        return not self.progress.isHidden()

    def show_reading(self, name: str, merge_text: str) -> None:
        """Show the card while the archive is read; an empty text hides the merge button."""
        self.merge_button.setText(plain_button(merge_text))
        self.merge_button.setVisible(bool(merge_text))
        self.merge_button.setEnabled(False)
        self.look = None
        self.title.setText(name)
        self.folder.clear()
        for label in (self._origin, self._photos, self._room):
            label.setText("")
        self._show_running(is_running=False)
        self.show_failure("")
        self.show_over()
        self.open_button.setFocus()

    def show_look(self, look: CopyLook) -> None:
        """Show contents and target folder."""
        is_first, self.look = self.look is None or self.look.archive != look.archive, look
        self.title.setText(title_text(look.facts))
        self._origin.setText(origin_text(look.facts))
        self._photos.setText(photos_text(look.facts))
        if is_first or not self.folder.text().strip():
            self.folder.setText(str(look.folder))
        self._room.setText(room_text(look))
        set_property(self._room, "role", "secondary" if look.has_room else "warning")
        self.failure.show_text(sentence(look.problem))
        self.open_button.setEnabled(look.has_room and not look.problem)
        self.merge_button.setEnabled(True)
        if is_first:
            self.open_button.setFocus()
        self._settle()

    def show_folder(self, folder: Path) -> None:
        """Set the folder from the dialog."""
        self.folder.setText(str(folder))
        self._on_edited()

    def show_failure(self, text: str) -> None:
        """Show an error message; "" hides it."""
        self.failure.show_text(text)
        self.open_button.setEnabled(self.look is not None and not text)
        self._settle()

    def show_unpacking(self, text: str) -> None:
        """Show the start of unpacking."""
        self.failure.show_text("")
        self._show_running(is_running=True)
        self.progress.show_step(text)
        self.progress.cancel_button.setFocus()
        self._settle()

    def show_ended(self, text: str = "") -> None:
        """Return to the folder choice, with the error if unpacking failed."""
        self._show_running(is_running=False)
        self.show_failure(text)
        self.open_button.setEnabled(self.look is not None)

    def _show_running(self, *, is_running: bool) -> None:
        self.progress.setVisible(is_running)
        if not is_running:
            self.progress.show_ended()
        for part in (self._room, self._answers):
            part.setVisible(not is_running)
        self._place.setEnabled(not is_running)

    # -- user actions

    def _on_edited(self) -> None:
        self.open_button.setEnabled(False)
        self.changed.emit()

    def _request(self) -> None:
        if self.look is not None and not self.is_running:
            self.open_requested.emit()
