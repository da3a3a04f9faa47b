"""The line that teaches the keys of labelling at the first card, once ever."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, final

from PySide6.QtCore import QObject

from app.texts import tr
from engine.collection.state import NO_CLASS

if TYPE_CHECKING:
    from app.session import Session
    from app.settings import Settings
    from app.status.notice import Notice
    from engine.collection.state import CollectionState
    from engine.project import Change

HINT: Final = "keys"
"""What the settings remember it as."""


@final
class KeyHint(QObject):
    """Shows the line as soon as there is a prediction to accept; the first label or its cross puts it away.

    Args:
        session: of the open project.
        settings: that remember that it was shown.
        notice: the line.
        leave: gives the keyboard back to the images.
    """

    def __init__(self, session: Session, settings: Settings, notice: Notice, leave: Callable[[], object]) -> None:
        super().__init__(notice)
        self._session = session
        self._settings = settings
        self._notice = notice
        self._leave = leave
        self._is_due = not settings.was_shown(HINT)
        session.state_changed.connect(self._on_state_changed)
        session.change_made.connect(self._on_change_made)
        session.closed.connect(notice.hide)

    def _on_state_changed(self, state: CollectionState | None) -> None:
        info = self._session.info
        if not self._is_due or info is None or not info.is_writable or state is None:
            return
        if ((state.label_class == NO_CLASS) & (state.best_class != NO_CLASS)).any():
            self._is_due = False
            self._settings.remember_shown(HINT)
            self._notice.ask(
                tr("Enter accepts the class on a card, 1 to 9 choose another, U means none of them."),
                [(tr("Got it"), self._put_away)],
            )

    def _on_change_made(self, change: Change) -> None:
        if change.labelled and not change.images_added:
            self._notice.hide()

    def _put_away(self) -> None:
        self._leave()
