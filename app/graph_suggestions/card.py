"""One suggestion: what it says, why, the images behind it, and what can be done about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QPushButton, QVBoxLayout

from app.controls import make_button, make_label
from app.graph_suggestions.wording import SuggestionWords
from app.images.strip import ThumbnailStrip
from app.images.thumbnails import Thumbnails
from app.signal_types import either
from app.texts import tr, with_breaks
from app.theme.tokens import tokens
from engine.collection.graph_suggestions.suggestion import GraphSuggestion
from engine.project.actions import Action

if TYPE_CHECKING:
    from engine.collection.state import CollectionState

FACE: Final = 44  # side of a thumbnail: one row of them, in a panel as narrow as it gets
MOST_FACES: Final = 5


@final
class SuggestionCard(QFrame):
    """Says one suggestion."""

    accepted = Signal(either(GraphSuggestion), int)  # the suggestion, and which of its choices
    dismissed = Signal(either(GraphSuggestion), Action)  # the suggestion, and the action
    image_requested = Signal(int)

    def __init__(
        self,
        suggestion: GraphSuggestion,
        words: SuggestionWords,
        state: CollectionState,
        thumbnails: Thumbnails,
        *,
        is_writable: bool,
    ) -> None:
        super().__init__()
        self.suggestion, self.words, self.is_writable = suggestion, words, is_writable
        self.setProperty("role", "card")
        self.setAccessibleName(words.title)
        self.setAccessibleDescription(words.reason)
        spacing = tokens().spacing
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(spacing.medium, spacing.small, spacing.medium, spacing.medium)
        self._column.setSpacing(spacing.small)
        self._column.addWidget(make_label(with_breaks(words.title), "strong", wraps=True))
        self._column.addWidget(make_label(with_breaks(words.reason), "secondary", wraps=True))
        self._add_faces(state, thumbnails)
        self.choices = tuple(self._add_button(text, place) for place, text in enumerate(words.choices))
        self.dismiss_button = make_button(tr("Dismiss"), self._dismiss, variant="muted", icon_name="close")
        self.dismiss_button.setAccessibleName(f"{tr('Dismiss')}: {words.title}")
        self._column.addWidget(self.dismiss_button)
        self.dismiss_button.setEnabled(is_writable)
        for button in self.choices:
            button.setEnabled(is_writable or not words.changes_project)

    def _add_faces(self, state: CollectionState, thumbnails: Thumbnails) -> None:
        for caption, images in zip(self.words.captions, self.suggestion.evidence, strict=True):
            strip = ThumbnailStrip(thumbnails, side=FACE, tip=tr("Click to show it"))
            strip.setAccessibleName(caption)
            strip.image_clicked.connect(self.image_requested)
            self._column.addWidget(make_label(with_breaks(caption), "caption", wraps=True))
            self._column.addWidget(strip)
            strip.show_images(images.image_ids[:MOST_FACES], state)  # in its place by now: else it would be a window

    def _add_button(self, text: str, place: int) -> QPushButton:
        button = make_button(
            text, lambda: self.accepted.emit(self.suggestion, place), variant="" if place else "primary"
        )
        button.setAccessibleName(f"{text}: {self.words.title}")
        self._column.addWidget(button)
        return button

    def _dismiss(self) -> None:
        self.dismissed.emit(self.suggestion, self.words.dismissed)
