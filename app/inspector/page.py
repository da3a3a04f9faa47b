"""What both pages of the inspector are built of: sections in one column."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.controls import make_label
from app.theme.tokens import tokens


class Page(QWidget):
    """A column of sections; subclasses fill it once, and are thrown away when the facts change."""

    def __init__(self) -> None:
        super().__init__()
        spacing = tokens().spacing
        self.setProperty("surface", "pane")
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(spacing.medium, spacing.medium, spacing.medium, spacing.large)
        self._column.setSpacing(spacing.small)

    def add(self, widget: QWidget, *, above: int = 0) -> None:
        """Put a widget below the others, `above` pixels apart from the last one."""
        if above:
            self._column.addSpacing(above)
        self._column.addWidget(widget)

    def add_section(self, title: str) -> None:
        """Begin a section."""
        self.add(make_label(title, "section"), above=tokens().spacing.small)

    def add_text(self, text: str, role: str = "secondary") -> None:
        """Put a paragraph."""
        if text:
            self.add(make_label(text, role, wraps=True))

    def finish(self) -> None:
        """Keep everything at the top."""
        self._column.addStretch(1)
        self._column.setAlignment(Qt.AlignmentFlag.AlignTop)
