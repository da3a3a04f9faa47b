"""The quiet offer to sort anew, for cards whose predictions changed while their order was held."""

from typing import final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton

from app.texts import fill, translate
from app.wording import number


@final
class SortAgain(QPushButton):
    """`14 predictions changed · Sort again`; hidden while there is nothing to sort."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("variant", "flat")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.hide()

    def show_changed(self, count: int) -> None:
        """Say how many cards show another prediction than the one that they were sorted by."""
        self.setVisible(count > 0)
        if count == 1:
            self.setText(translate("workspace", "1 prediction changed · Sort again"))
        elif count:
            self.setText(fill(translate("workspace", "%1 predictions changed · Sort again"), number(count)))
