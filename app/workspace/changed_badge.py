"""Buttons in the header for changed predictions; their texts get shorter where there is less room."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QPushButton

from app.controls import ICON_SIZE
from app.texts import plain_tip, plural, tr
from app.theme.icons import icon
from app.wording import number

if TYPE_CHECKING:
    from engine.collection.what_if.changed_images import ChangedImages


@final
class SortAgain(QPushButton):
    """`14 predictions changed · Sort again`, for cards whose predictions changed since they were sorted."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0
        self._texts: list[str] = []
        self.setProperty("variant", "flat")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setIconSize(QSize(ICON_SIZE, ICON_SIZE))
        self.hide()

    def show_whole(self) -> None:
        self._texts = [tr("Sort again"), ""]
        changed, again = _changed(self.count), self._texts[0]
        self.setText(f"{changed} · {again}")
        self.setIcon(QIcon())
        self.setToolTip(plain_tip(f"{changed}. {again}."))
        self.setAccessibleName(self.text())
        self.setVisible(self.count > 0)

    def shorten(self) -> None:
        self.setText(self._texts.pop(0))
        if not self.text():
            self.setIcon(icon("refresh", "accent_text"))


def _changed(count: int) -> str:
    return plural(count, "1 prediction changed", "%n predictions changed")


@final
class ChangedBadge(QPushButton):
    """`412 images changed class`; hidden while nothing changed."""

    def __init__(self) -> None:
        super().__init__()
        self.changes: ChangedImages | None = None  # what it tells of; None for nothing
        self._texts: list[str] = []
        self.setProperty("variant", "flat")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setIcon(icon("changed", "accent_text"))
        self.setIconSize(QSize(ICON_SIZE, ICON_SIZE))
        self.hide()

    @property
    def is_wanted(self) -> bool:
        return self.changes is not None and self.changes.count > 0

    def show_changes(self, changes: ChangedImages | None) -> None:
        """Set the changes; the layout then calls `show_whole`, and `shorten` where there is too little room."""
        self.changes = changes
        if changes is not None:
            whole = ". ".join(line for line in (changed_line(changes), more_line(changes)) if line)
            self.setToolTip(plain_tip(whole))
            self.setAccessibleName(whole)

    def show_whole(self) -> None:
        self.setVisible(self.is_wanted)
        if self.changes is not None:
            self._texts = [short_line(self.changes), number(self.changes.other_class or self.changes.other_safe_class)]
            self.setText(changed_line(self.changes))

    def shorten(self) -> None:
        if self._texts:
            self.setText(self._texts.pop(0))


def changed_line(changes: ChangedImages) -> str:
    if changes.other_class:
        return class_changed(changes.other_class)
    if changes.other_safe_class:
        return safe_class_changed(changes.other_safe_class)
    return tr("No image changed class")


def class_changed(count: int) -> str:
    return plural(count, "1 image changed class", "%n images changed class")


def safe_class_changed(count: int) -> str:
    return plural(count, "1 image has another safe class", "%n images have another safe class")


def short_line(changes: ChangedImages) -> str:
    return tr("%1 changed", number(changes.other_class or changes.other_safe_class))


def more_line(changes: ChangedImages) -> str:
    if not (changes.other_class and changes.other_safe_class):
        return ""
    return plural(changes.other_safe_class, "1 more has another safe class", "%n more have another safe class")
