"""A card above the grid with an optional question, such as about dropped files."""

from collections.abc import Callable, Sequence
from typing import final

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QLayout, QPushButton, QWidget

from app.controls import fill_row, make_button, make_icon_button, make_label
from app.texts import tr

ROOM_FOR_QUESTION = 160
_GAP = 8  # between question, answers and edges
_ROW = QBoxLayout.Direction.LeftToRight
_BELOW = QBoxLayout.Direction.TopToBottom


@final
class Notice(QFrame):
    """A sentence with up to three answers; hidden by default.

    Without a tone no answer is highlighted.
    """

    def __init__(self, parent: QWidget | None = None, *, tone: str = "accent") -> None:
        super().__init__(parent)
        self.setProperty("role", "notice")
        self.setProperty("tone", tone)
        self._is_quiet = not tone
        self._row = QBoxLayout(_ROW)
        self._row.setSpacing(_GAP)
        self._buttons = QBoxLayout(_ROW)
        self._buttons.setSpacing(_GAP)
        margins = (2 * _GAP, _GAP, _GAP, _GAP)
        whole = fill_row(self, self._row, spacing=_GAP, margins=margins, grows=0)
        self._close = make_icon_button("close", tr("Dismiss"), self.hide)
        whole.addWidget(self._close, 0, Qt.AlignmentFlag.AlignTop)
        self.answers: dict[str, Callable[[], None]] = {}
        self.setMinimumWidth(1)  # narrower than the answers side by side: the layout turns
        self.hide()

    def ask(self, text: str, answers: Sequence[tuple[str, Callable[[], None]]]) -> None:
        """Show a question; the first answer is the default."""
        for line in (self._buttons, self._row):
            _empty(line)
        self.answers = dict(answers)
        self._row.addWidget(make_label(text, wraps=True), 1)
        self._row.addLayout(self._buttons)
        for place, (title, _) in enumerate(answers):
            variant = "primary" if place == 0 and not self._is_quiet else ""
            button = make_button(title, self._answerer(title), variant=variant)
            self._buttons.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        self._buttons.addStretch(1)
        self.show()
        self._turn()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Move the answers below the question where they do not fit next to it."""
        super().resizeEvent(event)
        self._turn()

    def _turn(self) -> None:
        room = self.width() - self._close.sizeHint().width() - 4 * _GAP
        widths = [button.sizeHint().width() + _GAP for button in self.findChildren(QPushButton)]
        self._row.setDirection(_ROW if ROOM_FOR_QUESTION + sum(widths) <= room else _BELOW)
        self._buttons.setDirection(_ROW if sum(widths) <= room else _BELOW)

    def _answerer(self, title: str) -> Callable[[], None]:
        return lambda: self.answer(title)

    def answer(self, title: str) -> None:
        self.hide()
        self.answers[title]()


def _empty(line: QLayout) -> None:
    while (item := line.takeAt(0)) is not None:
        if (widget := item.widget()) is not None:
            widget.hide()
            widget.setParent(None)
            widget.deleteLater()
