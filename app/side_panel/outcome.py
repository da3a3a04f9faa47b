"""The end of a piece of work: how the new compares with the old, and which one to go on with."""

from typing import final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame

from app.controls import make_button, make_label, make_notice_column, set_property, set_variant
from app.theme.tokens import tokens


@final
class OutcomeCard(QFrame):
    """Figures and two answers.

    Signals:
        use_requested: go on with the new.
        keep_requested: go on with the old.

    Args:
        use: the answer that takes the new.
        keep: the answer that stays with the old.
        consequence: what becomes of both, whatever the answer is.
    """

    use_requested = Signal()
    keep_requested = Signal()

    def __init__(self, *, use: str, keep: str, consequence: str) -> None:
        super().__init__()
        spacing = tokens().spacing
        self._verdict = make_label("", "strong", wraps=True)
        self._comparison = make_label("", wraps=True)
        self._basis = make_label("", "secondary", wraps=True)
        self._warning = make_label("", "warning", wraps=True)
        self._texts = (self._verdict, self._comparison, self._basis, self._warning)
        self.use_button = make_button(use, self.use_requested.emit)
        self.keep_button = make_button(keep, self.keep_requested.emit)
        column = make_notice_column(self)
        column.setSpacing(spacing.tiny)
        for widget in (*self._texts, make_label(consequence, "secondary", wraps=True)):
            column.addWidget(widget)
        column.addSpacing(spacing.small)
        for button in (self.use_button, self.keep_button):
            column.addWidget(button)
            column.addSpacing(spacing.tiny)

    @property
    def text(self) -> str:
        return "\n".join(label.text() for label in self._texts if label.text())

    def show_outcome(
        self, verdict: str, comparison: str, basis: str, warning: str = "", *, is_new_better: bool, tone: str
    ) -> None:
        """Say how the new compares; the better choice stands out.

        Args:
            verdict: what the figures mean, in a few words.
            comparison: the figures, or why there are none.
            basis: what they were measured on; empty where there are none.
            warning: what went wrong on the way; empty when nothing did.
            is_new_better: which answer stands out.
            tone: of the card.
        """
        for label, text in zip(self._texts, (verdict, comparison, basis, warning), strict=True):
            label.setText(text)
            label.setVisible(bool(text))
        set_property(self, "tone", tone)
        set_variant(self.use_button, "primary" if is_new_better else "")
        set_variant(self.keep_button, "" if is_new_better else "primary")
