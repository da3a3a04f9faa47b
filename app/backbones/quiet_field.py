"""A quiet line that opens a field, for what few people ever need: a proxy, a mirror."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QWidget

from app.controls import fill_column, make_button, make_label
from app.texts import breakable, plain_button, plain_tip
from app.theme.tokens import tokens

Shorten = Callable[[str], str]
SHOWN_WIDTH: Final = 190  # in logical pixels, of what is in force, on the line


class QuietField(QWidget):
    """What a person typed, or nothing."""

    def __init__(self, value: str, *, name: str, example: str, tip: str, field_tip: str, fate: str) -> None:
        super().__init__()
        self.open_button = make_button("", self._on_open, variant="flat")
        self.open_button.setToolTip(plain_tip(tip))
        self.field = QLineEdit(value)
        self.field.setPlaceholderText(example)
        self.field.setToolTip(plain_tip(field_tip))
        self.field.setAccessibleName(name)
        self.field.editingFinished.connect(self.take_typed)
        self.problem = make_label("", "danger", wraps=True)
        self._fate = make_label(fate, "secondary", wraps=True)
        fill_column(self, self.open_button, self.field, self.problem, self._fate, spacing=tokens().spacing.tiny)
        self.field.hide()
        self._show_problem("")

    @abstractmethod
    def take(self, typed: str) -> str:
        """Let it be in force; returns why it cannot be, empty when all is well."""

    @abstractmethod
    def line(self, shorten: Shorten) -> str:
        """What the line says of what is in force."""

    @property
    @abstractmethod
    def has_fate(self) -> bool:
        """Whether the person must know what becomes of what is in force."""

    def take_typed(self) -> bool:
        """Let what stands in the field be in force; where that cannot be, say so in place.

        Returns:
            whether it can be used.
        """
        problem = self.take(self.field.text().strip())
        self._show_problem(problem)
        return not problem

    def open(self) -> None:
        """Show the field, with the keyboard in it."""
        self.field.show()
        self._show_problem(self.problem.text())
        self.field.setFocus()

    def _shortened(self, text: str) -> str:
        return self.open_button.fontMetrics().elidedText(text, Qt.TextElideMode.ElideMiddle, SHOWN_WIDTH)

    def _show_problem(self, text: str) -> None:
        self.open_button.setText(plain_button(self.line(self._shortened)))
        self.problem.setText(breakable(text))
        self.problem.setVisible(bool(text))
        self._fate.setVisible(not self.field.isHidden() and not text and self.has_fate)

    def _on_open(self) -> None:
        """Open the field, or put it away again once what stands in it can be used."""
        if self.field.isHidden():
            self.open()
        elif self.take_typed():
            self.field.hide()
            self._show_problem("")
