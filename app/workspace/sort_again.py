"""The quiet offer to sort anew, for cards whose predictions changed while their order was held."""

from typing import final

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QPushButton

from app.controls import ICON_SIZE
from app.texts import plain_tip, plural, tr
from app.theme.icons import icon


@final
class SortAgain(QPushButton):
    """`14 predictions changed · Sort again`; shorter where there is less room.

    Attributes:
        count: cards that show another prediction than the one that they were sorted by.
    """

    def __init__(self) -> None:
        super().__init__()
        self.count = 0
        self._texts: list[str] = []
        self.setProperty("variant", "flat")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setIconSize(QSize(ICON_SIZE, ICON_SIZE))
        self.hide()

    def show_whole(self) -> None:
        """Say all of it, where there is something to say."""
        self._texts = [tr("Sort again"), ""]
        changed, again = _changed(self.count), self._texts[0]
        self.setText(f"{changed} · {again}")
        self.setIcon(QIcon())
        self.setToolTip(plain_tip(f"{changed}. {again}."))
        self.setAccessibleName(self.text())
        self.setVisible(self.count > 0)

    def shorten(self) -> None:
        """Say less: the offer alone, at last its icon."""
        self.setText(self._texts.pop(0))
        if not self.text():
            self.setIcon(icon("refresh", "accent_text"))


def _changed(count: int) -> str:
    return plural(count, "1 prediction changed", "%n predictions changed")
