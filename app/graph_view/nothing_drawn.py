"""What stands where there is no class to draw."""

from __future__ import annotations

from typing import Final, final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app.controls import make_button, make_label
from app.texts import tr
from app.theme.icons import icon_pixmap
from app.theme.tokens import tokens

ICON_SIDE: Final = 48  # logical pixels
NARROWEST: Final = 280  # of the words, as the narrowest centre allows


@final
class NothingDrawn(QWidget):
    """Says why, and what next."""

    action_requested = Signal(str)  # name of an action

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("surface", "window")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._icon = QLabel()
        self._icon.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.title = make_label(tr("No classes yet"), "heading", wraps=True)
        self.words = make_label("", "secondary", wraps=True)
        self._buttons = QWidget()
        self._lay_out()

    def _lay_out(self) -> None:
        for label in (self.title, self.words):
            label.setMinimumWidth(NARROWEST)
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        row = QHBoxLayout(self._buttons)
        row.setContentsMargins(0, tokens().spacing.small, 0, 0)
        row.setSpacing(tokens().spacing.small)
        row.addStretch(1)
        for name, text, icon_name, variant in (
            ("new_top_class", tr("New class…"), "class_new", "primary"),
            ("import_classes", tr("Import classes from a file…"), "graph_import", ""),
        ):
            ask = lambda name=name: self.action_requested.emit(name)  # noqa: E731
            row.addWidget(make_button(text, ask, variant=variant, icon_name=icon_name))
        row.addStretch(1)
        column = QVBoxLayout(self)
        column.setSpacing(tokens().spacing.small)
        column.addStretch(2)
        for part in (self._icon, self.title, self.words, self._buttons):
            column.addWidget(part)
        column.addStretch(3)

    def show_for(self, *, is_writable: bool) -> None:
        """Say it for a project that classes can be added to, or for one that is open for reading only."""
        picture = icon_pixmap("graph", ICON_SIDE, colour="text_disabled", ratio=self.devicePixelRatioF())
        self._icon.setPixmap(picture)
        self.words.setText(
            tr("The graph of your classes is drawn here. Add a class, or import a list.")
            if is_writable
            else tr("This project is open for reading only, and has no classes to draw.")
        )
        self._buttons.setVisible(is_writable)
