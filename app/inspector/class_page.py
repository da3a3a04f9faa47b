"""The inspector page of one class: examples, likely images, place in the graph, rules and notes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPushButton, QToolButton, QWidget

from app.controls import fill_column, make_button, make_icon_button, make_label
from app.images.strip import ThumbnailStrip
from app.images.thumbnails import Thumbnails
from app.inspector.bar_section import BarSection
from app.inspector.class_notes import ClassNotes
from app.inspector.logic import ClassPageFacts, ScoreRow
from app.inspector.page import Fold, Page, PagePart, PageRequests, ScoreLine
from app.inspector.wording import (
    aliases_text,
    candidates_text,
    counts_text,
    examples_text,
    label_ticked_text,
    more_places_text,
    rules_summary,
    shares_text,
    shortened,
)
from app.settings import Settings
from app.texts import fill, plain_button, plain_tip, tr

if TYPE_CHECKING:
    from engine.collection.state import CollectionState


@final
class LikelyImages(QWidget):
    """Likely images to tick.

    They keep their positions while some are ticked, so that the next click hits its target.
    """

    labels_requested = Signal(tuple)  # ids of the ticked images, in order

    def __init__(
        self, facts: ClassPageFacts, state: CollectionState, thumbnails: Thumbnails
    ) -> None:
        super().__init__()
        self._facts = facts
        self._ticked: set[int] = set()
        tip = tr("Click to select as {1}", shortened(facts.name))
        self._strip = ThumbnailStrip(thumbnails, tip=tip)
        self._strip.image_clicked.connect(self._tick)
        self._button = make_button("", self.settle, variant="primary")
        self._button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        hint = make_label(candidates_text(len(facts.candidates)), "caption", wraps=True)
        fill_column(self, self._strip, hint).addWidget(self._button, 0, Qt.AlignmentFlag.AlignLeft)
        # After it has a parent: a widget without one would become a window.
        self._strip.show_images(facts.candidates, state)
        self._show_ticked()

    @property
    def is_in_hand(self) -> bool:
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
        self._button.setText(
            plain_button(label_ticked_text(len(self._ticked), shortened(self._facts.name)))
        )
        self._button.setVisible(bool(self._ticked))


SHOTS_SHOWN = 12


@final
class ClassPage(Page):
    """The page of one class; replaced when its facts change."""

    candidates_accepted = Signal(tuple)  # image ids to label as the class

    def __init__(
        self,
        facts: ClassPageFacts,
        state: CollectionState,
        thumbnails: Thumbnails,
        requests: PageRequests,
        settings: Settings,
        *,
        is_writable: bool,
    ) -> None:
        super().__init__()
        self._facts, self._state, self._thumbnails = facts, state, thumbnails
        self._requests = requests
        self._is_writable = is_writable
        self.add_text(facts.name, "heading").setToolTip(plain_tip(facts.name))
        for place in facts.places:
            self.add_text(tr("under {1}", place) if place else "", "caption")
        self.add_text(more_places_text(facts), "caption")
        self.add_text(aliases_text(facts), "caption")
        self.add_text(counts_text(facts))
        self._add_shots()
        self._likely = self._add_candidates()
        self._add_place()
        rules = Fold("class/rules", tr("Rules and notes"), settings, requests)
        rules.show_summary(rules_summary(facts))
        self._bar = BarSection(rules.body, facts, requests, is_writable=is_writable)
        rules.body.add_section(tr("Notes"))
        self._notes = ClassNotes(facts, requests, is_writable=is_writable)
        rules.body.add(self._notes)
        self.add(rules)

    def _add_shots(self) -> None:
        facts = self._facts
        part = self.add_part(tr("Examples"))
        self._add_strip(part, facts.shots[:SHOTS_SHOWN])
        part.add_text(examples_text(facts))

    def _add_candidates(self) -> LikelyImages | None:
        facts = self._facts
        if not facts.candidates:
            return None
        part = self.add_part(tr("Likely images"))
        if not self._is_writable:
            self._add_strip(part, facts.candidates)
            return None
        likely = LikelyImages(facts, self._state, self._thumbnails)
        likely.labels_requested.connect(self.candidates_accepted)
        part.add(likely)
        return likely

    def _add_strip(self, part: PagePart, image_ids: tuple[int, ...]) -> None:
        strip = ThumbnailStrip(self._thumbnails)
        part.add(strip)
        strip.show_images(image_ids, self._state)
        strip.image_clicked.connect(self._requests.image_requested)

    def _add_place(self) -> None:
        """Add the parents, or suggested ones, and what the class learns from them."""
        facts = self._facts
        part = self.add_part(tr("Place in the graph"))
        can_unlink = self._is_writable and len(facts.parents) > 1
        for row in facts.parents:
            ends = [self._make_unlink_button(row)] if can_unlink else []
            self._add_class_line(part, row, *ends, is_share=True)
        part.add_text(shares_text(facts))
        if not facts.parents:
            part.add_text(tr("At the top level: it has no parent."))
        if facts.suggested and not facts.parents and self._is_writable:
            part.add_text(tr("Suggested parents:"), "caption")
            for row in facts.suggested:
                self._add_class_line(part, row, self._make_link_button(row), tone="muted")
        if self._is_writable:
            part.add_button(self._make_add_button())

    def _make_unlink_button(self, row: ScoreRow) -> QToolButton:
        unlink = partial(self._requests.unlink_requested.emit, self._facts.class_id, row.class_id)
        button = make_icon_button("close", tr("Unlink from {1}", row.name), unlink)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        return button

    def _make_add_button(self) -> QPushButton:
        facts = self._facts
        name = tr("Add another parent to {1}") if facts.parents else tr("Add a parent to {1}")
        text = tr("Add another parent…") if facts.parents else tr("Add a parent…")
        ask = partial(self._requests.parent_wanted.emit, facts.class_id)
        button = make_button(text, ask, variant="flat", icon_name="link")
        button.setAccessibleName(fill(name, facts.name))
        button.setToolTip(plain_tip(fill(name, facts.name)))
        return button

    def _make_link_button(self, row: ScoreRow) -> QPushButton:
        link = partial(self._requests.parent_requested.emit, self._facts.class_id, row.class_id)
        button = make_button(tr("Add"), link, variant="flat", icon_name="link")
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.setToolTip(plain_tip(tr("Add parent {1}", row.name)))
        button.setAccessibleName(button.toolTip())
        return button

    def _add_class_line(
        self,
        part: PagePart,
        row: ScoreRow,
        *ends: QWidget,
        tone: str = "accent",
        is_share: bool = False,
    ) -> None:
        """Add a class; without a score where it does not contribute to the prototype."""
        line = ScoreLine()
        line.show_row(row, tone=tone, has_score=row.score > 0, is_share=is_share)
        line.chosen.connect(self._requests.class_requested)
        part.add_row(line, *ends)

    @property
    def is_in_hand(self) -> bool:
        """Whether there is unsaved input."""
        is_ticking = self._likely is not None and self._likely.is_in_hand
        return is_ticking or self._bar.is_in_hand or self._notes.is_in_hand

    def settle(self) -> None:
        """Save pending edits before the page is closed."""
        if self._likely is not None:
            self._likely.settle()
        self._bar.settle()
        self._notes.settle()
