"""A card above the grid that asks one thing about what was just dropped; it can be passed over."""

from collections.abc import Callable, Sequence
from typing import final

from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from app.controls import make_button, make_icon_button, make_label


@final
class Notice(QFrame):
    """One sentence and two or three answers; hidden until it is needed."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "notice")
        self.setProperty("tone", "accent")
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(16, 8, 8, 8)
        self._row.setSpacing(8)
        self.answers: dict[str, Callable[[], None]] = {}
        self.hide()

    def ask(self, text: str, answers: Sequence[tuple[str, Callable[[], None]]]) -> None:
        """Show a question; the first answer is the likely one."""
        while (item := self._row.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        self.answers = dict(answers)
        self._row.addWidget(make_label(text, wraps=True), 1)
        for place, (title, _) in enumerate(answers):
            variant = "primary" if place == 0 else ""
            self._row.addWidget(make_button(title, self._answerer(title), variant=variant))
        self._row.addWidget(make_icon_button("close", self.tr("Do nothing"), self.hide))
        self.show()

    def _answerer(self, title: str) -> Callable[[], None]:
        return lambda: self.answer(title)

    def answer(self, title: str) -> None:
        """Take an answer."""
        self.hide()
        self.answers[title]()
