"""What both pages of the inspector are built of: sections in one column."""

from typing import Final, final

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app.elided import ElidedLabel
from app.theme.tokens import tokens

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


class Page(QWidget):
    """A column of sections."""

    def __init__(self) -> None:
        super().__init__()
        spacing = tokens().spacing
        self.setProperty("surface", "pane")
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(spacing.medium, spacing.medium, spacing.medium, spacing.large)
        self._column.setSpacing(spacing.small)
        self._column.setAlignment(Qt.AlignmentFlag.AlignTop)

    def add(self, widget: QWidget) -> None:
        self._column.addWidget(widget)

    def add_button(self, button: QPushButton) -> None:
        self._column.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)

    def add_section(self, title: str = "") -> ElidedLabel:
        """Begin a section."""
        heading = ElidedLabel("section")
        heading.setContentsMargins(0, tokens().spacing.small, 0, 0)
        heading.show_text(title)
        self.add(heading)
        return heading

    def add_section_with(self, title: str, end: QWidget) -> None:
        """Begin a section with something at the end of its heading, for which there is always room."""
        heading = ElidedLabel("section")
        heading.show_text(title)
        policy = end.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        end.setSizePolicy(policy)
        holder = QWidget()
        row = QHBoxLayout(holder)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(heading, 1)
        row.addWidget(end)
        self.add(holder)

    def add_text(self, text: str = "", role: str = "secondary") -> Paragraph:
        """Put a paragraph."""
        paragraph = Paragraph(role)
        self.add(paragraph)
        paragraph.show_text(text)
        return paragraph
