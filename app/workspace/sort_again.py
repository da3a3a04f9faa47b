"""The quiet offer to sort anew, for cards whose predictions changed while their order was held."""

from typing import final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton

from app.texts import fill, plain_tip, translate
from app.wording import number


@final
class SortAgain(QPushButton):
    """`14 predictions changed · Sort again`; shorter where there is less room.

    Attributes:
        count: cards that show another prediction than the one that they were sorted by.
    """

    def __init__(self) -> None:
        super().__init__()
        self.count = 0
        self.setProperty("variant", "flat")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.hide()

    def fit(self, room: int) -> int:
        """Say as much as there is room for, or nothing.

        Returns:
            the width that it takes.
        """
        if not self.count:
            self.hide()
            return 0
        self.setToolTip(plain_tip(_changed(self.count)))
        short = translate("workspace", "Sort again")
        for text in (f"{_changed(self.count)} · {short}", short):
            self.setText(text)
            if self.sizeHint().width() <= room:
                break
        self.show()
        return self.sizeHint().width()


def _changed(count: int) -> str:
    if count == 1:
        return translate("workspace", "1 prediction changed")
    return fill(translate("workspace", "%1 predictions changed"), number(count))
