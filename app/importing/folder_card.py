"""Card that asks which dropped folders are classes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.controls import make_button, make_flowing_label, make_row, show_text
from app.importing.wording import add_text, folders_question, parts_note
from app.palette.folder_list import FolderList
from app.palette.overlay import ScrollingCard
from app.texts import plain_button, tr
from app.wording import images

if TYPE_CHECKING:
    from pathlib import Path

    from engine.collection.importing.folder_choice import FoundFolder

WIDTH = 560  # in logical pixels


@final
class FolderCard(ScrollingCard):
    """List of folders with check boxes; Enter adds their images, Esc or a click outside cancels."""

    agreed = Signal()

    def __init__(self, host: QWidget) -> None:
        super().__init__(host, WIDTH, tr("Add images"))
        self.list = FolderList()
        self.list.offer_classes(is_on=True)
        self.list.choice_changed.connect(self._show_choice)
        self.add_button = make_button(tr("Add images"), self.agreed.emit, variant="primary")
        self.keep_button = make_button(tr("Cancel"), self.dismiss)
        self.all_button = make_button(
            tr("Tick all"), lambda: self._tick(is_all=True), variant="flat"
        )
        self.none_button = make_button(
            tr("Tick none"), lambda: self._tick(is_all=False), variant="flat"
        )
        self._class_name = ""
        self.question = make_flowing_label("", "strong")
        self.note = make_flowing_label("", "secondary")
        self._total = make_flowing_label("", "secondary")
        self.primary = self.add_button
        ticks = make_row(self._total, self.all_button, self.none_button, grows=0)
        self.fill_body(self.question, self.note, self.list, ticks)
        self.add_footer(None, self.keep_button, self.add_button)

    def ask(self, folders: Sequence[FoundFolder], known: Collection[Path], class_name: str) -> None:
        """Show folders.

        Args:
            known: folders named like classes of the project; these are checked.
            class_name: of the class that they were dropped on; "" for none.
        """
        self._class_name = class_name
        self.list.show_folders(folders)
        self.list.choose((), known)
        names = [each.path.name for each in folders if each.depth or not each.below]
        self.question.setText(folders_question(names))
        show_text(self.note, parts_note(names))
        self._show_choice()
        self.show_over()
        self.add_button.setFocus()
        self._settle()

    def _tick(self, *, is_all: bool) -> None:
        from engine.collection.importing.folder_choice import all_class_folders

        chosen = all_class_folders(self.list.folders) if is_all else ()
        self.list.choose(self.list.left_out, chosen)
        self._show_choice()

    def _show_choice(self) -> None:
        count = self.list.image_count
        self._total.setText(images(count))
        self.add_button.setText(plain_button(add_text(len(self.list.classes), self._class_name)))
        self.add_button.setEnabled(count > 0)
