"""A card above the grid that asks one thing, such as about what was just dropped; it can be passed over."""

from collections.abc import Callable, Sequence
from typing import Final, final

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QWidget

from app.controls import make_button, make_icon_button, make_label

ROOM_FOR_QUESTION: Final = 160


@final
class Notice(QFrame):
    """One sentence and up to three answers; hidden until it is needed.

    Args:
        parent: owner.
        tone: "accent" or "warning".
    """

    def __init__(self, parent: QWidget | None = None, *, tone: str = "accent") -> None:
        super().__init__(parent)
        self.setProperty("role", "notice")
        self.setProperty("tone", tone)
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._row.setSpacing(8)
        whole = QHBoxLayout(self)
        whole.setContentsMargins(16, 8, 8, 8)
        whole.setSpacing(8)
        whole.addLayout(self._row, 1)
        close = make_icon_button("close", self.tr("Dismiss"), self.hide)
        whole.addWidget(close, 0, Qt.AlignmentFlag.AlignTop)
        self.answers: dict[str, Callable[[], None]] = {}
        self.hide()

    def ask(self, text: str, answers: Sequence[tuple[str, Callable[[], None]]]) -> None:
        """Show a question; the first answer is the likely one."""
        while (item := self._row.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        self.answers = dict(answers)
        self._row.addWidget(make_label(text, wraps=True), 1)
        for place, (title, _) in enumerate(answers):
            variant = "primary" if place == 0 else ""
            self._row.addWidget(make_button(title, self._answerer(title), variant=variant))
        self.show()
        self._turn()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the answers below the question where there is no room beside it."""
        super().resizeEvent(event)
        self._turn()

    def _turn(self) -> None:
        parts = (self._row.itemAt(place) for place in range(1, self._row.count()))
        needed = ROOM_FOR_QUESTION + sum(part.sizeHint().width() + self._row.spacing() for part in parts if part)
        has_room = self._row.geometry().width() >= needed
        way = QBoxLayout.Direction
        self._row.setDirection(way.LeftToRight if has_room else way.TopToBottom)

    def _answerer(self, title: str) -> Callable[[], None]:
        return lambda: self.answer(title)

    def answer(self, title: str) -> None:
        """Take an answer."""
        self.hide()
        self.answers[title]()
