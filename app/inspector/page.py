"""What both pages of the inspector are built of: sections in one column."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.elided import ElidedLabel
from app.inspector.words import Paragraph
from app.theme.tokens import tokens


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
        """Put a widget below the others."""
        self._column.addWidget(widget)

    def add_button(self, button: QPushButton) -> None:
        """Put a button at the left, no wider than its words."""
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
