"""The hovered card, which plays the frames of its video."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QAbstractItemView

from engine.file_parts import ImageSource, file_part

if TYPE_CHECKING:
    from app.image_grid.card_words import Card
    from app.image_grid.model import ImageGridModel

FRAME_MS = 400
"""Duration of a frame. Chosen: slow enough to recognize its content."""


@final
class HoveredCard(QObject):
    """Tracks the hovered card, and the picture that each card currently shows."""

    def __init__(self, view: QAbstractItemView, model: ImageGridModel) -> None:
        super().__init__(view)
        self._view, self._model = view, model
        self.row = -1  # of the hovered card, -1 for none
        self._image_id = -1
        self._frames: Sequence[ImageSource] = ()
        self._place = 0
        self._timer = QTimer(self, interval=FRAME_MS)
        self._timer.timeout.connect(self._show_next)
        view.viewport().installEventFilter(self)

    def move_to(self, row: int) -> None:
        """Set the hovered row; -1 for none."""
        if row == self.row:
            return
        for changed in (self.row, row):
            self._view.update(self._model.index(changed, 0))
        self.row = row
        card = self._model.card(row) if row >= 0 else None
        self._image_id = -1 if card is None else card.image_id
        self._frames = () if card is None else self._frames_of(card)
        if card is not None and len(self._frames) > 1:
            self._place = self._frames.index(card.source)
            self._timer.start()
        else:
            self._timer.stop()

    def picture_of(self, card: Card) -> ImageSource:
        """The picture of a card: its own, or the current frame of its video."""
        is_playing = self._timer.isActive() and card.image_id == self._image_id
        return self._frames[self._place] if is_playing else card.source

    def _frames_of(self, card: Card) -> list[ImageSource]:
        """The frames of a card's video in order of time; empty for a photo."""
        state, part = self._model.state, file_part(card.source.part)
        if state is None or part.seconds is None or part.picture != part:
            return []
        others = [file_part(text) for text in state.items_of_file(card.image_id).values()]
        frames = [
            (each.seconds, each.text)
            for each in others
            if each.seconds is not None and each.picture == each
        ]
        return [ImageSource(card.source.path, text) for _, text in sorted(frames)]

    def _show_next(self) -> None:
        self._place = (self._place + 1) % len(self._frames)
        self._view.viewport().update()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Leave:
            self.move_to(-1)
        return super().eventFilter(watched, event)
