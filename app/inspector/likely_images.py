"""Images that are likely of a class: a click ticks them, and the ticked ones are labelled together."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.controls import make_button, make_label
from app.images.strip import ThumbnailStrip
from app.images.thumbnails import Thumbnails
from app.inspector.logic import ClassPageFacts
from app.inspector.wording import candidates_text, label_ticked_text, shortened
from app.texts import plain_button, tr
from app.theme.tokens import tokens

if TYPE_CHECKING:
    from engine.collection.state import CollectionState


@final
class LikelyImages(QWidget):
    """Stays as it is while images are ticked, so that the next click hits what it aims at."""

    labels_requested = Signal(tuple)  # ids of the ticked images, in their order

    def __init__(self, facts: ClassPageFacts, state: CollectionState, thumbnails: Thumbnails) -> None:
        super().__init__()
        self._facts = facts
        self._ticked: set[int] = set()
        tip = tr("Click to select as %1", shortened(facts.name))
        self._strip = ThumbnailStrip(thumbnails, tip=tip)
        self._strip.image_clicked.connect(self._tick)
        self._button = make_button("", self.settle, variant="primary")
        self._button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(tokens().spacing.small)
        layout.addWidget(self._strip)
        layout.addWidget(make_label(candidates_text(len(facts.candidates)), "caption", wraps=True))
        layout.addWidget(self._button, 0, Qt.AlignmentFlag.AlignLeft)
        self._strip.show_images(facts.candidates, state)  # now that it has a parent: else it were a window of its own
        self._show_ticked()

    @property
    def is_in_hand(self) -> bool:
        """Whether images are ticked that are not labelled yet."""
        return bool(self._ticked)

    def settle(self) -> None:
        ticked = [image_id for image_id in self._facts.candidates if image_id in self._ticked]
        self._ticked.clear()
        if ticked:
            self._show_ticked()
            self.labels_requested.emit(ticked)

    def _tick(self, image_id: int) -> None:
        self._ticked ^= {image_id}
        self._show_ticked()

    def _show_ticked(self) -> None:
        self._strip.show_ticked(frozenset(self._ticked))
        self._button.setText(plain_button(label_ticked_text(len(self._ticked), shortened(self._facts.name))))
        self._button.setVisible(bool(self._ticked))
