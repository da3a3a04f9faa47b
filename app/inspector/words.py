"""Labels that never ask for more width than the pane has, however long the names in them are."""

from typing import Final, final

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QSizePolicy

from app.controls import set_property

_NARROWEST: Final = 200
"""What a word may take before it is broken: a little less than the room in the narrowest pane."""
_NEVER_LONG: Final = 12  # letters; a shorter word always fits
_ZERO_WIDTH_SPACE: Final = "\u200b"


@final
class ElidedLabel(QLabel):
    """One line that ends in an ellipsis where it does not fit; its tip has all of it."""

    def __init__(self, role: str = "") -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        if role:
            self.setProperty("role", role)

    def show_text(self, text: str, *, role: str = "", tip: str = "") -> None:
        """Show a text, with its own tip where that says more."""
        self.setText(text)
        self.setToolTip(tip or text)
        if role:
            set_property(self, "role", role)

    def sizeHint(self) -> QSize:
        """Ask for height only."""
        return QSize(0, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        """Ask for height only."""
        return self.sizeHint()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint as much of the text as there is room for."""
        painter, place = QPainter(self), self.contentsRect()
        painter.setPen(self.palette().color(self.foregroundRole()))
        text = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, place.width())
        painter.drawText(place, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)
        painter.end()


@final
class Paragraph(QLabel):
    """Lines that wrap; a word that is longer than a line breaks inside. Without a text it takes no room."""

    def __init__(self, role: str = "secondary") -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(True)
        self.setProperty("role", role)
        self.setMinimumWidth(1)  # no word may widen the pane
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

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
