"""The small mark that says there is nothing to save."""

from datetime import UTC, datetime
from typing import final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from app.controls import set_property
from app.texts import plain_tip, plural, tr
from app.wording import saved_at


@final
class SavedMark(QLabel):
    """`All changes saved`, or that the project can only be read."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setProperty("role", "caption")
        self._is_tried_out = False

    def show_open(self, *, is_writable: bool) -> None:
        self.setText(tr("All changes saved") if is_writable else tr("Read-only: nothing can be changed"))
        set_property(self, "role", "caption" if is_writable else "warning")
        self.setToolTip("")

    def show_unsaved(self, count: int) -> None:
        """Labels take longer to the disk than a frame; 0 when all are there."""
        if count:
            self.setText(plural(count, "Saving 1 change…", "Saving %n changes…"))
        else:
            self.show_saved()

    def show_tried_out(self, *, is_on: bool) -> None:
        """Edits are only tried out from now on, or no longer."""
        self._is_tried_out = is_on
        self.show_saved()

    def show_saved(self) -> None:
        """Something was written just now, or tried out."""
        if self._is_tried_out:
            self.setText(tr("Not saved: edits are only tried out"))
            self.setToolTip("")
            return
        self.setText(tr("All changes saved"))
        self.setToolTip(plain_tip(saved_at(datetime.now(UTC))))
