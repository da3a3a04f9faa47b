"""Header buttons about changed predictions; their texts get shorter in a narrow header."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QPushButton

from app.controls import ICON_SIZE
from app.texts import plain_tip, plural, tr
from app.theme.icons import icon
from app.wording import in_sentences, number, sentence

if TYPE_CHECKING:
    from engine.collection.state import ChangedImages


class _HeaderButton(QPushButton):
    """A button with a full text (`show_whole`), which each `shorten` replaces by a shorter one."""

    def __init__(self) -> None:
        super().__init__()
        self._texts: list[str] = []
        self.setProperty("variant", "flat")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setIconSize(QSize(ICON_SIZE, ICON_SIZE))
        self.hide()

    def shorten(self) -> None:
        if self._texts:
            self.setText(self._texts.pop(0))


@final
class SortAgain(_HeaderButton):
    """`14 predictions changed · Sort again`: predictions that changed since cards were sorted."""

    count = 0

    def show_whole(self) -> None:
        changed, again = (
            plural(self.count, "1 prediction changed", "{n} predictions changed"),
            tr("Sort again"),
        )
        self._texts = [again, ""]
        self.setText(f"{changed} · {again}")
        self.setIcon(QIcon())
        self.setToolTip(plain_tip(sentence(in_sentences(changed, again))))
        self.setAccessibleName(self.text())
        self.setVisible(self.count > 0)

    def shorten(self) -> None:
        super().shorten()
        if not self.text():
            self.setIcon(icon("refresh", "accent_text"))


@final
class ChangedBadge(_HeaderButton):
    """`412 predictions changed`; hidden while nothing changed."""

    def __init__(self) -> None:
        super().__init__()
        self.changes: ChangedImages | None = None
        self.setIcon(icon("changed", "accent_text"))

    @property
    def is_wanted(self) -> bool:
        return self.changes is not None and self.changes.count > 0

    def show_changes(self, changes: ChangedImages | None) -> None:
        """Set the changes.

        The layout then calls `show_whole`, and `shorten` where there is too little room.
        """
        self.changes = changes
        if changes is not None:
            whole = in_sentences(changed_line(changes), more_line(changes))
            self.setToolTip(plain_tip(whole))
            self.setAccessibleName(whole)

    def show_whole(self) -> None:
        self.setVisible(self.is_wanted)
        if self.changes is not None:
            count = number(self.changes.other_class or self.changes.other_safe_class)
            self._texts = [tr("{1} changed", count), count]
            self.setText(changed_line(self.changes))


def changed_line(changes: ChangedImages) -> str:
    if changes.other_class:
        return plural(changes.other_class, "1 prediction changed", "{n} predictions changed")
    if changes.other_safe_class:
        count = changes.other_safe_class
        return plural(
            count,
            "1 prediction changed in confidence only",
            "{n} predictions changed in confidence only",
        )
    return tr("No prediction changed")


def more_line(changes: ChangedImages) -> str:
    if not (changes.other_class and changes.other_safe_class):
        return ""
    return plural(
        changes.other_safe_class,
        "1 more changed in confidence only",
        "{n} more changed in confidence only",
    )
