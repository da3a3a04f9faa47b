"""Why an image was given its class: the images that it resembles, and what the class's prototype was learned from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.controls import fill_column
from app.images.strip import ThumbnailStrip
from app.images.thumbnails import Thumbnails
from app.inspector.logic import ImageFacts, ScoreRow, ShareRow
from app.inspector.page import Paragraph
from app.inspector.rows import ScoreLine
from app.inspector.wording import learned_text, look_alikes_text, share_title

if TYPE_CHECKING:
    from engine.collection.state import CollectionState

SHOTS_SHOWN: Final = 5
SIDE: Final = 44


@final
class Why(QWidget):
    """The reasons of one prediction; its parts are used again for the next one."""

    image_requested = Signal(int)
    class_requested = Signal(int)

    def __init__(self, thumbnails: Thumbnails) -> None:
        super().__init__()
        self._thumbnails = thumbnails
        self._look_alikes_text = Paragraph()
        self._look_alikes = self._make_strip()
        self._learned_text = Paragraph()
        self._shares: list[_Share] = []
        self._column = fill_column(self, self._look_alikes_text, self._look_alikes, self._learned_text)

    def show_facts(self, facts: ImageFacts, state: CollectionState) -> None:
        """Show the reasons for an image; without any it takes no room."""
        learned, similar = learned_text(facts), look_alikes_text(facts)
        self.setVisible(bool(learned or similar))
        self._look_alikes_text.show_text(similar)
        self._look_alikes.show_images(facts.look_alikes[:SHOTS_SHOWN] if similar else (), state)
        self._learned_text.show_text(learned)
        while len(self._shares) < len(facts.shares):
            self._shares.append(self._make_share())
        for place, share in enumerate(self._shares):
            share.show_share(facts.shares[place] if place < len(facts.shares) else None, state)

    def _make_share(self) -> _Share:
        share = _Share(self._column, self._make_strip())
        share.line.chosen.connect(self.class_requested)
        return share

    def _make_strip(self) -> ThumbnailStrip:
        strip = ThumbnailStrip(self._thumbnails, side=SIDE)
        strip.image_clicked.connect(self.image_requested)
        return strip


@final
class _Share:
    """A source of a prototype with its share, and its images below."""

    def __init__(self, column: QVBoxLayout, strip: ThumbnailStrip) -> None:
        self.line, self._strip = ScoreLine(), strip
        column.addWidget(self.line)
        column.addWidget(strip)

    def show_share(self, share: ShareRow | None, state: CollectionState) -> None:
        """Show a share, or nothing."""
        self.line.setVisible(share is not None)
        self._strip.show_images(share.image_ids[:SHOTS_SHOWN] if share else (), state)
        if share is not None:
            class_id = -1 if share.class_id is None else share.class_id
            row = ScoreRow(class_id, share_title(share), "", share.share)
            self.line.show_row(row, is_clickable=class_id >= 0)
