"""What a project that is being opened waits for: its embeddings are read, then its images are classified."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel

from app.texts import plural, tr

if TYPE_CHECKING:
    from app.session import Session
    from engine.collection.state import CollectionState


@final
class OpeningMark(QLabel):
    """`Reading 100,000 embeddings…`, then `Classifying…`; hidden from when predictions are there."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setProperty("role", "secondary")
        self._is_opening = False
        session.opened.connect(self._on_opened)
        session.state_changed.connect(self._on_state_changed)
        session.loaded.connect(self._on_over)
        session.closed.connect(self._on_over)
        self.hide()

    def _on_opened(self, _info: object) -> None:
        self._is_opening = True

    def _on_state_changed(self, state: CollectionState) -> None:
        count = len(state.image_ids)
        self.setVisible(self._is_opening and count > 0)
        reading = plural(count, "Reading 1 embedding…", "Reading %n embeddings…")
        self.setText(reading if state.is_list_only else tr("Classifying…"))

    def _on_over(self) -> None:
        self._is_opening = False
        self.hide()
