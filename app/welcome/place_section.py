"""Name and folder of a new project."""

from __future__ import annotations

from pathlib import Path
from typing import final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from app.controls import ElidedLabel, fill_column, make_button, make_row
from app.mirroring import left_to_right
from app.side_panel.cards import FailureNotice
from app.texts import tr
from engine.config import PROJECT_SUFFIX


@final
class PlaceSection(QWidget):
    """A field for the name, and the folder below it."""

    name_changed = Signal(str)
    place_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.name = QLineEdit()
        self.name.setAccessibleName(tr("Name"))
        self.name.textEdited.connect(self.name_changed)
        self.failure = FailureNotice()
        self.place_button = make_button(tr("Choose…"), self.place_wanted.emit, variant="flat")
        self.place_button.setAccessibleName(tr("Choose where the project is saved"))
        self._place = ElidedLabel("secondary", mode=Qt.TextElideMode.ElideMiddle)
        where = make_row(self._place, self.place_button)
        fill_column(self, self.name, where, self.failure, spacing=2)

    @property
    def place_text(self) -> str:
        return self._place.text()

    def show_place(self, name: str, suggested: str, folder: Path) -> None:
        """Show the chosen name, the suggested one as placeholder, and the path."""
        if name != self.name.text():
            self.name.setText(name)
        self.name.setPlaceholderText(suggested)
        path = folder / f"{name or suggested}{PROJECT_SUFFIX}"
        self._place.show_text(tr("Saved as %1", left_to_right(str(path))), tip=str(path))
