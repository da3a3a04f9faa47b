"""What went wrong, in one line."""

from typing import final

from PySide6.QtWidgets import QFrame, QVBoxLayout

from app.controls import make_label
from app.side_panel.wording import breakable
from app.theme.tokens import tokens


@final
class FailureNotice(QFrame):
    """Takes no room while nothing went wrong."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "notice")
        self.setProperty("tone", "danger")
        self._text = make_label("", "danger", wraps=True)
        column = QVBoxLayout(self)
        column.setContentsMargins(*4 * (tokens().spacing.medium,))
        column.addWidget(self._text)

    @property
    def text(self) -> str:
        """What it says; empty when all is well."""
        return self._text.text()

    def show_text(self, text: str) -> None:
        """Say what went wrong; an empty text when nothing did."""
        self._text.setText(breakable(text))
        self.setVisible(bool(text))
