"""How far a running piece of work is, and a way to stop it."""

from collections.abc import Callable
from typing import final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.controls import fill_bar, make_bar, make_button, make_label
from app.texts import plain_tip, tr
from app.theme.tokens import tokens
from app.wording import progress_facts
from engine.events import Progress


@final
class ProgressView(QWidget):
    """A bar, the facts below it, and Cancel; who does the work is no concern of it.

    Signals:
        cancel_requested: stop it.

    Args:
        cancel_tip: what a cancel means; empty where the work is over in a moment and cannot be cancelled here.
        facts_of: puts a progress into words.
    """

    cancel_requested = Signal()

    def __init__(self, cancel_tip: str, facts_of: Callable[[Progress], str] = progress_facts) -> None:
        super().__init__()
        self._facts_of = facts_of
        self._bar = make_bar()
        self._facts = make_label("", "secondary", wraps=True)
        self.cancel_button = make_button(tr("Cancel"), self._on_cancel, icon_name="stop")
        self.cancel_button.setToolTip(plain_tip(cancel_tip))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(tokens().spacing.small)
        for widget in (self._bar, self._facts, self.cancel_button):
            column.addWidget(widget)

    @property
    def facts(self) -> str:
        """The line below the bar."""
        return self._facts.text()

    def show_waiting(self) -> None:
        self.show_step(tr("Waiting for other work to finish."))

    def show_step(self, text: str, *, can_cancel: bool = True) -> None:
        """Say what is going on while nobody knows how long it takes."""
        self.cancel_button.setEnabled(True)
        self.cancel_button.setVisible(can_cancel and bool(self.cancel_button.toolTip()))
        self._show_unknown(text)
        self.show()

    def show_progress(self, progress: Progress) -> None:
        """Show how far it is, unless it was asked to stop."""
        if not self.cancel_button.isEnabled():
            return
        fill_bar(self._bar, progress)
        self._facts.setText(self._facts_of(progress))
        self._bar.setAccessibleName(self._facts.text())

    def show_ended(self) -> None:
        """Take no room until something begins again."""
        self.cancel_button.setEnabled(True)
        self.hide()

    def _show_unknown(self, text: str) -> None:
        self._bar.setRange(0, 0)
        self._facts.setText(text)

    def _on_cancel(self) -> None:
        """Answer at once: a step that was begun may take seconds to end."""
        self.cancel_button.setEnabled(False)
        self._show_unknown(tr("Stopping…"))
        self.cancel_requested.emit()
