"""What went wrong, or what to know first, in one line."""

from typing import final

from PySide6.QtWidgets import QFrame

from app.controls import make_label, make_notice_column
from app.texts import breakable


@final
class FailureNotice(QFrame):
    """Takes no room while nothing went wrong.

    Args:
        tone: "danger", or "warning" for what is no failure of the program.
    """

    def __init__(self, tone: str = "danger") -> None:
        super().__init__()
        self._text = make_label("", "danger" if tone == "danger" else "", wraps=True)
        make_notice_column(self, tone).addWidget(self._text)

    @property
    def text(self) -> str:
        """What it says; empty when all is well."""
        return self._text.text()

    def show_text(self, text: str) -> None:
        """Say what went wrong; an empty text when nothing did."""
        self._text.setText(breakable(text))
        self.setVisible(bool(text))
