"""The end of a training: how the new version compares, and which one to go on with."""

from typing import final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from app.controls import make_button, make_label, set_property
from app.theme.tokens import tokens
from app.training.logic import Trained
from app.training.wording import comparison, measured_on, verdict


@final
class OutcomeCard(QFrame):
    """Figures and two answers.

    Signals:
        use_requested: go on with the new version.
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
        self._fate = make_label(self.tr("Both stay in the list below."), "secondary", wraps=True)
        self.use_button = make_button(self.tr("Use the new version"), self.use_requested.emit)
        self.keep_button = make_button(self.tr("Keep the current one"), self.keep_requested.emit)
        column = QVBoxLayout(self)
        column.setContentsMargins(spacing.medium, spacing.medium, spacing.medium, spacing.medium)
        column.setSpacing(spacing.tiny)
        for widget in (self._verdict, self._comparison, self._basis, self._fate):
            column.addWidget(widget)
        column.addSpacing(spacing.small)
        for button in (self.use_button, self.keep_button):
            column.addWidget(button)
            column.addSpacing(spacing.tiny)

    @property
    def text(self) -> str:
        """What it says."""
        return "\n".join(label.text() for label in (self._verdict, self._comparison, self._basis) if label.text())

    def show_trained(self, trained: Trained) -> None:
        """Say how a new version compares; the better choice stands out."""
        figures = trained.figures
        is_worse = figures.before is not None and not figures.is_better
        self._verdict.setText(verdict(figures))
        self._comparison.setText(comparison(figures))
        self._basis.setText(measured_on(figures, trained.depth))
        self._basis.setVisible(bool(self._basis.text()))
        set_property(self, "tone", "" if is_worse else "accent")
        set_property(self.use_button, "variant", "" if is_worse else "primary")
        set_property(self.keep_button, "variant", "primary" if is_worse else "")
