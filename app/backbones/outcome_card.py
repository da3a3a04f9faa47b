"""A change that is ready: how the two backbones compare on the person's labels, and which one to go on with."""

from typing import final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from app.backbones.logic import ReadyChange
from app.backbones.wording import comparison, failures_text, measured_on, verdict
from app.controls import make_button, make_label, set_property
from app.theme.tokens import tokens


@final
class OutcomeCard(QFrame):
    """Figures and two answers.

    Signals:
        use_requested: go on with the other backbone.
        keep_requested: go on with the one in use.
    """

    use_requested = Signal()
    keep_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        spacing = tokens().spacing
        self.setProperty("role", "notice")
        self._verdict = make_label("", "strong", wraps=True)
        self._comparison = make_label("", wraps=True)
        self._basis = make_label("", "secondary", wraps=True)
        self._failures = make_label("", "warning", wraps=True)
        self._fate = make_label(
            self.tr("Classes, labels and bars stay either way, and you can go back at any time."),
            "secondary",
            wraps=True,
        )
        self.use_button = make_button(self.tr("Use it"), self.use_requested.emit)
        self.keep_button = make_button(self.tr("Keep the old one"), self.keep_requested.emit)
        column = QVBoxLayout(self)
        column.setContentsMargins(*4 * (spacing.medium,))
        column.setSpacing(spacing.tiny)
        for widget in (self._verdict, self._comparison, self._basis, self._failures, self._fate):
            column.addWidget(widget)
        column.addSpacing(spacing.small)
        for button in (self.use_button, self.keep_button):
            column.addWidget(button)
            column.addSpacing(spacing.tiny)

    @property
    def text(self) -> str:
        """What it says."""
        labels = (self._verdict, self._comparison, self._basis, self._failures)
        return "\n".join(label.text() for label in labels if label.text())

    def show_change(self, ready: ReadyChange) -> None:
        """Say how the other backbone compares; the better choice stands out."""
        figures = ready.figures
        self._verdict.setText(verdict(figures, ready.name))
        self._comparison.setText(comparison(figures))
        self._basis.setText(measured_on(figures))
        self._failures.setText(failures_text(ready.failed))
        for label in (self._basis, self._failures):
            label.setVisible(bool(label.text()))
        set_property(self, "tone", "warning" if figures.is_worse else "accent")
        set_property(self.use_button, "variant", "" if figures.is_worse else "primary")
        set_property(self.keep_button, "variant", "primary" if figures.is_worse else "")
