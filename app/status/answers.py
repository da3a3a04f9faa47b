"""What the window answers to a change: its text, and the way back."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject

from app.status.toast import Toast
from app.texts import tr

if TYPE_CHECKING:
    from app.session import Session
    from engine.project import Change


@final
class ChangeAnswers(QObject):
    """Answers bulk actions and edits of classes in the toast; single labels show on their own card."""

    def __init__(self, session: Session, toast: Toast) -> None:
        super().__init__(toast)
        self._session = session
        self._toast = toast
        session.change_made.connect(self._on_change_made)
        session.closed.connect(self._withdraw)

    def _on_change_made(self, change: Change) -> None:
        if change.kind == "undone":
            self._toast.say(tr("Undone: %1", change.text), action=tr("Redo"), on_action=self._session.redo)
        elif change.kind == "redone":
            self._toast.say(tr("Redone: %1", change.text), action=tr("Undo"), on_action=self._session.undo)
        elif len(change.labelled) != 1 or change.graph_edits:
            self._toast.say(change.text, action=tr("Undo"), on_action=self._session.undo)
        else:
            self._withdraw()

    def _withdraw(self) -> None:
        """Its button would mean something else from now on."""
        self._toast.withdraw(self._session.undo, self._session.redo)
