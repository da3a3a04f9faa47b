"""View of the page of conflicts: image, own answer on the left, the other on the right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QStackedWidget, QWidget

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
from app.images.strip import GAP, ThumbnailStrip
from app.merging import wording
from app.merging.keys import KEYS
from app.merging.summary import SummaryView
from app.texts import plain_button, tr
from app.theme.tokens import tokens
from app.wording import SEPARATOR, clauses, titled
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

    def __init__(self, thumbnails: Thumbnails, key: str, on_chosen: Callable[[], None]) -> None:
        super().__init__()
        self._key = key
        self.setProperty("role", "card")
        spacing = tokens().spacing
        self.caption = make_label("", "section")
        self.answer = make_flowing_label("", "heading")
        self.place = ElidedLabel("secondary", mode=Qt.TextElideMode.ElideLeft)
        self.person = ElidedLabel("secondary")
        self.strip = ThumbnailStrip(thumbnails, side=FACE)
        self._faces: tuple[Sequence[int], CollectionState] | None = None
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
        self._faces = None
        self.strip.hide()
        set_property(self, "chosen", is_proposed)
        set_variant(self.button, "primary" if is_proposed else "")
        self.setAccessibleName(titled(caption, answer))

    def show_faces(self, image_ids: Sequence[int], state: CollectionState) -> None:
        """Show labelled images of the class, as many as fit into one row."""
        self._faces = image_ids, state
        room = (self.width() - 2 * tokens().spacing.medium + GAP) // (FACE + GAP)
        self.strip.show_images(image_ids[: max(1, room)], state)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._faces is not None:
            self.show_faces(*self._faces)

    def show_button(self, text: str) -> None:
        self.button.setText(plain_button(KEYS.tip(text, self._key)))


@final
class ConflictPage(QWidget):
    """Page with one conflict at a time, and a summary at the end; emits decisions."""

    decided = Signal(Verdict)
    other_requested = Signal()  # choose another class
    unknown_decided = Signal()
    put_off = Signal()
    apart_requested = Signal()  # decide each image of a burst separately
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
        self.burst = ThumbnailStrip(thumbnails, side=BURST_SIDE)
        self.burst.image_clicked.connect(self.image_chosen)
        self.ours = SideCard(thumbnails, "ours", lambda: self._decide(Verdict.OURS))
        self.theirs = SideCard(thumbnails, "theirs", lambda: self._decide(Verdict.THEIRS))
        self.other_button = self._button("other", tr("Another class…"), self._ask_other)
        self.both_button = self._button(
            "both", tr("Keep both"), lambda: self._decide(Verdict.OTHER)
        )
        self.unknown_button = self._button("unknown", tr("None of the classes"), self._mark_unknown)
        self.apart_button = self._button("apart", tr("One by one"), self._take_apart)
        self.later_button = self._button("later", tr("Later"), self._put_off)
        self.summary = SummaryView()
        self._pages = QStackedWidget()
        self._pages.addWidget(self._laid_out())
        self._pages.addWidget(self.summary)
        fill_column(self, self._pages, spacing=0)

    def _button(self, key: str, text: str, on_click: Callable[[], None]) -> QPushButton:
        button = make_button(plain_button(KEYS.tip(text, key)), on_click, variant="flat")
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
        row = QHBoxLayout(sides)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(spacing.medium)
        for side in (self.ours, self.theirs):
            row.addWidget(side, 1)
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
        self._place.setText(wording.progress_text(place, count))
        self._name.show_text(wording.burst_text(len(group)) or shown(dispute.path))
        self.canvas.show_image(state.source_of(dispute.image_id))
        self.burst.show_images([each.image_id for each in group[: self._room_of_burst()]], state)
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
        self.ours.show_button(wording.keep_text(len(group)))
        self.theirs.show_button(wording.take_text(len(group)))
        self._pages.setCurrentIndex(0)
        self.setAccessibleDescription(
            clauses(self.ours.accessibleName(), self.theirs.accessibleName())
        )

    def _room_of_burst(self) -> int:
        """Number of images of a burst that fit into one row."""
        return max(1, (self.width() - 2 * tokens().spacing.large + GAP) // (BURST_SIDE + GAP))

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
                card.show_faces(image_ids, state)

    def show_end(self) -> None:
        """Show the summary, whose texts are already set."""
        self.group, self.dispute, self.is_waiting = (), None, False
        self._pages.setCurrentWidget(self.summary)
        self.summary.setFocus()

    # -- user actions

    def _decide(self, choice: Verdict) -> None:
        if self.dispute is not None and not self.is_waiting:
            self.decided.emit(choice)

    def _take_suggested(self) -> None:
        if self.dispute is not None and self.dispute.proposed is not None:
            self._decide(self.dispute.proposed)

    def _ask_other(self) -> None:
        if isinstance(self.dispute, Conflict) and not self.is_waiting:
            self.other_requested.emit()

    def _keep_both(self) -> None:
        if isinstance(self.dispute, CommentConflict):
            self._decide(Verdict.OTHER)

    def _mark_unknown(self) -> None:
        if isinstance(self.dispute, Conflict) and not self.is_waiting:
            self.unknown_decided.emit()

    def _take_apart(self) -> None:
        if len(self.group) > 1 and not self.is_waiting:
            self.apart_requested.emit()

    def _put_off(self) -> None:
        if self.dispute is not None and not self.is_waiting:
            self.put_off.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Perform the action of a key, unless a decision is being saved."""
        acts = {
            "ours": lambda: self._decide(Verdict.OURS),
            "theirs": lambda: self._decide(Verdict.THEIRS),
            "suggested": self._take_suggested,
            "other": self._ask_other,
            "both": self._keep_both,
            "unknown": self._mark_unknown,
            "apart": self._take_apart,
            "later": self._put_off,
        }
        if self.is_at_end or not KEYS.press(event, acts):
            super().keyPressEvent(event)
