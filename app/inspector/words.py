"""Text that never asks for more width than the pane has, however long the names in them are."""

from typing import Final, final

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QLabel, QSizePolicy

_NARROWEST: Final = 200  # what a word may take before it is broken: a little less than the room in the narrowest pane
_NEVER_LONG: Final = 12  # letters; a shorter word always fits
_ZERO_WIDTH_SPACE: Final = "\u200b"


@final
class Paragraph(QLabel):
    """Lines that wrap; a word that is longer than a line breaks inside. Without a text it takes no room."""

    def __init__(self, role: str = "secondary") -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(True)
        self.setProperty("role", role)
        self.setMinimumWidth(1)  # no word may widen the pane
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def minimumSizeHint(self) -> QSize:
        """A line. How many it takes depends on the width; of the narrowest page a long text would ask for hundreds."""
        return QSize(1, self.fontMetrics().height())

    def show_text(self, text: str) -> None:
        """Show a text, or nothing; only where it has its place already, since it would be a window otherwise."""
        self.setVisible(bool(text))
        if text:
            self.ensurePolished()
            self.setText(broken(text, self.fontMetrics()))


def broken(text: str, metrics: QFontMetrics, widest: int = _NARROWEST) -> str:
    """The same text, in which words that are wider than `widest` pixels may break at every letter."""
    return " ".join(
        _ZERO_WIDTH_SPACE.join(word) if len(word) > _NEVER_LONG and metrics.horizontalAdvance(word) > widest else word
        for word in text.split(" ")
    )
