"""View of the page of conflicts: image, own answer on the left, the other on the right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QPushButton, QStackedWidget, QWidget

from app.controls import (
    ElidedLabel,
    fill_column,
    fill_row,
    make_button,
    make_flowing_label,
    make_label,
    set_property,
    set_variant,
)
from app.image_view.canvas import ImageCanvas
from app.images.strip import ThumbnailStrip
from app.merging import wording
from app.merging.keys import KEYS
from app.merging.summary import SummaryView
from app.texts import plain_button, plural, tr
from app.theme.tokens import tokens
from app.wording import SEPARATOR, clauses, images, number, titled
from engine.files import shown
from engine.graph.names import join_path, split_path
from engine.merging.merge_plan import CommentConflict, Conflict, Verdict

if TYPE_CHECKING:
    from app.images.thumbnails import Thumbnails
    from app.merging.logic import Dispute, DisputeGroup
    from engine.collection.state import CollectionState

FACE = 48  # side of an example image, in logical pixels
BURST_SIDE = 64  # side of an image of a burst, in logical pixels


@final
class SideCard(QFrame):
    """Answer of one person."""

    def __init__(self, thumbnails: Thumbnails, on_chosen: Callable[[], None]) -> None:
        super().__init__()
        self.setProperty("role", "card")
        spacing = tokens().spacing
        self.caption = make_label("", "section")
        self.answer = make_flowing_label("", "heading")
        self.place = ElidedLabel("secondary", mode=Qt.TextElideMode.ElideLeft)
        self.person = ElidedLabel("secondary")
        self.strip = ThumbnailStrip(thumbnails, side=FACE, is_row=True)
        self.button = make_button("", on_chosen)
        self.button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        column = fill_column(
            self,
            self.caption,
            self.answer,
            self.place,
            self.person,
            self.strip,
            self.button,
            spacing=spacing.tiny,
        )
        column.setContentsMargins(spacing.medium, spacing.small, spacing.medium, spacing.medium)
        column.insertStretch(5, 1)

    def show_answer(
        self, caption: str, answer: str, place: str, person: str, *, is_proposed: bool
    ) -> None:
        """Show an answer and its author; examples of the class follow."""
        self.caption.setText(caption)
        self.answer.setText(answer)
        self.place.show_text(place)
        self.place.setVisible(bool(place))
        self.person.show_text(person)
        self.strip.hide()
        set_property(self, "chosen", is_proposed)
        set_variant(self.button, "primary" if is_proposed else "")
        self.setAccessibleName(titled(caption, answer))


@final
class ConflictPage(QWidget):
    """Page with one conflict at a time, and a summary at the end."""

    action_requested = Signal(str)  # name of a key that applies to the conflict
    image_chosen = Signal(int)  # of a burst

    def __init__(self, thumbnails: Thumbnails) -> None:
        super().__init__()
        self.dispute: Dispute | None = None  # first of the group
        self.group: DisputeGroup = ()
        self.is_waiting = False  # for the decision to be saved
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(tr("Settle conflicts"))
        self._place = make_label("", "strong")
        self._name = ElidedLabel("secondary", mode=Qt.TextElideMode.ElideMiddle)
        self.canvas = ImageCanvas()
        self.burst = ThumbnailStrip(thumbnails, side=BURST_SIDE, is_row=True)
        self.burst.image_clicked.connect(self.image_chosen)
        self.ours = SideCard(thumbnails, lambda: self._act("ours"))
        self.theirs = SideCard(thumbnails, lambda: self._act("theirs"))
        self.other_button = self._button("other", tr("Another class…"))
        self.both_button = self._button("both", tr("Keep both"))
        self.unknown_button = self._button("unknown", tr("None of the classes"))
        self.apart_button = self._button("apart", tr("One by one"))
        self.later_button = self._button("later", tr("Later"))
        self.summary = SummaryView()
        self._pages = QStackedWidget()
        self._pages.addWidget(self._laid_out())
        self._pages.addWidget(self.summary)
        fill_column(self, self._pages, spacing=0)

    def _button(self, key: str, text: str) -> QPushButton:
        text = plain_button(KEYS.tip(text, key))
        button = make_button(text, lambda: self._act(key), variant="flat")
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        return button

    def _laid_out(self) -> QWidget:
        spacing, whole, head, sides, footer = (
            tokens().spacing,
            QWidget(),
            QWidget(),
            QWidget(),
            QWidget(),
        )
        fill_row(head, self._place, self._name, spacing=spacing.medium).setStretch(1, 1)
        row = fill_row(sides, self.ours, self.theirs, spacing=spacing.medium)
        row.setStretch(0, 1)
        row.setStretch(1, 1)
        buttons = (
            self.other_button,
            self.both_button,
            self.unknown_button,
            self.apart_button,
            self.later_button,
        )
        fill_row(footer, *buttons, spacing=spacing.tiny).addStretch(1)
        column = fill_column(
            whole, head, self.canvas, self.burst, sides, footer, spacing=spacing.small
        )
        column.setContentsMargins(spacing.large, 0, spacing.large, spacing.small)
        column.setStretch(1, 1)
        return whole

    # -- display

    @property
    def is_at_end(self) -> bool:
        """Whether the summary is shown."""
        return self._pages.currentWidget() is self.summary

    def show_group(
        self, group: DisputeGroup, state: CollectionState, place: int, count: int
    ) -> None:
        """Show conflict `place` (from 1) of `count`; of a burst the first image and a strip."""
        dispute = group[0]
        self.group, self.dispute, self.is_waiting = group, dispute, False
        self._place.setText(tr("{1} of {2}", number(place), number(count)))
        self._name.show_text(
            (tr("Burst of {1}: one answer for all", images(len(group))) if len(group) > 1 else "")
            or shown(dispute.path)
        )
        self.canvas.show_image(state.source_of(dispute.image_id))
        self.burst.show_images([each.image_id for each in group], state)
        self.burst.setVisible(len(group) > 1)
        self.apart_button.setVisible(len(group) > 1)
        is_comment = isinstance(dispute, CommentConflict)
        for button, is_there in (
            (self.other_button, not is_comment),
            (self.unknown_button, not is_comment),
            (self.both_button, is_comment),
        ):
            button.setVisible(is_there)
        proposed = dispute.proposed
        reason = wording.suggested_text(dispute)
        for card, whose, choice in (
            (self.ours, tr("Yours"), Verdict.OURS),
            (self.theirs, tr("Theirs"), Verdict.THEIRS),
        ):
            is_proposed = proposed is choice
            self._show_side(
                card,
                dispute,
                SEPARATOR.join((whose, reason)) if is_proposed else whose,
                is_proposed,
            )
        for key, card, text in (
            ("ours", self.ours, wording.keep_text(len(group))),
            ("theirs", self.theirs, plural(len(group), "Take theirs", "Take theirs for all {n}")),
        ):
            card.button.setText(plain_button(KEYS.tip(text, key)))
        self._pages.setCurrentIndex(0)
        self.setAccessibleDescription(
            clauses(self.ours.accessibleName(), self.theirs.accessibleName())
        )

    def _show_side(self, card: SideCard, dispute: Dispute, caption: str, is_proposed: bool) -> None:
        if isinstance(dispute, Conflict):
            side = dispute.ours if card is self.ours else dispute.theirs
            *above, name = split_path(side.path) or (wording.class_text(side.path),)
            person = wording.person_text(side.who, side.when)
            card.show_answer(caption, name, join_path(above), person, is_proposed=is_proposed)
        else:
            note = dispute.ours if card is self.ours else dispute.theirs
            person = wording.person_text(note.who, note.when)
            card.show_answer(caption, note.comment, "", person, is_proposed=is_proposed)

    def show_faces(
        self, dispute: Dispute, faces: Sequence[Sequence[int]], state: CollectionState
    ) -> None:
        """Show labelled images of both classes, unless another conflict is current."""
        if dispute is self.dispute:
            for card, image_ids in zip((self.ours, self.theirs), faces, strict=True):
                card.strip.show_images(image_ids, state)

    def show_end(self) -> None:
        """Show the summary, whose texts are already set."""
        self.group, self.dispute, self.is_waiting = (), None, False
        self._pages.setCurrentWidget(self.summary)
        self.summary.setFocus()

    # -- user actions

    def _act(self, name: str) -> None:
        """Request the action of a key if it applies, unless a decision is being saved."""
        is_comment = isinstance(self.dispute, CommentConflict)
        applies = {
            "suggested": self.dispute is not None and self.dispute.proposed is not None,
            "other": not is_comment,
            "both": is_comment,
            "unknown": not is_comment,
            "apart": len(self.group) > 1,
        }
        if self.dispute is not None and not self.is_waiting and applies.get(name, True):
            self.action_requested.emit(name)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        acts = {row.name: partial(self._act, row.name) for row in KEYS.rows}
        if self.is_at_end or not KEYS.press(event, acts):
            super().keyPressEvent(event)
