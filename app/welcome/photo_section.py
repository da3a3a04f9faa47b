"""The "Photos" section of a new project: folders with check boxes and image counts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.controls import ElidedLabel, fill_column, make_button, make_label, make_row
from app.drops import DropBox
from app.palette.folder_list import FolderList
from app.side_panel.cards import FailureNotice
from app.texts import tr
from app.wording import images

if TYPE_CHECKING:
    from engine.collection.importing.folder_choice import FoundFolder


@final
class PhotoSection(QWidget):
    """A drop area, then the list of dropped folders."""

    folder_wanted = Signal()
    choice_changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        words = (
            tr("Drop folders of photos here, or click to choose one"),
            tr("They stay where they are."),
        )
        strong, quiet = (
            make_label(words[0], "strong", wraps=True),
            make_label(words[1], "secondary", wraps=True),
        )
        self.drop_box = DropBox(
            tr("Choose a folder of images"), self.folder_wanted.emit, strong, quiet
        )
        self.list = FolderList()
        self.list.choice_changed.connect(self._on_choice_changed)
        self.add_button = make_button(
            tr("Add a folder…"), self.folder_wanted.emit, icon_name="folder_add"
        )
        self.failure = FailureNotice()
        self._total = ElidedLabel("secondary")
        self._foot = make_row(self.add_button, self._total)
        fill_column(self, self.drop_box, self.list, self.failure, self._foot)
        self.show_folders((), ())

    @property
    def total(self) -> str:
        return self._total.text()

    def choose(self, left_out: Collection[Path], classes: Collection[Path]) -> None:
        self.list.choose(left_out, classes)
        self.show_count(0)

    def show_folders(self, folders: Sequence[FoundFolder], counting: Collection[Path]) -> None:
        """Show folders, some of which are still being counted."""
        self.drop_box.setVisible(not folders)
        self.list.setVisible(bool(folders))
        self._foot.setVisible(bool(folders))
        if (folders, frozenset(counting)) != (self.list.folders, self.list.counting):
            self.list.show_folders(folders, counting)
        self.show_count(0)

    def show_count(self, count: int) -> None:
        """Show the number of images, including `count` that were just found."""
        total = images(self.list.image_count + count)
        self._total.show_text(tr("%1 so far…", total) if self.list.counting else total)

    def _on_choice_changed(self) -> None:
        self.show_count(0)
        self.choice_changed.emit()
