"""The card "Split class": the images of both sides above one another, the name of the new class, and where it comes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QLineEdit, QRadioButton, QWidget

from app.class_split.board import PictureBoard
from app.class_split.logic import SplitDraft
from app.class_split.wording import below_text, beside_text, hint_text, leaving_title, staying_title
from app.controls import fill_column, make_button, make_flowing_label, make_label
from app.images.thumbnails import Thumbnails
from app.palette.overlay import ScrollingCard
from app.side_panel.cards import FailureNotice
from app.texts import plain_button, tr
from app.theme.tokens import tokens

if TYPE_CHECKING:
    from pathlib import Path

    from engine.collection.state import CollectionState

WIDTH: Final = 720  # logical pixels


@final
class SplitCard(ScrollingCard):
    """Floats over the window; Enter splits once there is a name, Esc or a click beside it changes nothing."""

    # the `SplitDraft`, the name of the new class, and whether it comes below the class
    split_requested = Signal(SplitDraft, str, bool)

    def __init__(self, host: QWidget, thumbnails: Thumbnails) -> None:
        super().__init__(host, WIDTH, tr("Split class"))
        self._draft: SplitDraft | None = None
        self._state: CollectionState | None = None
        self.staying = PictureBoard(thumbnails, tr("Images that stay"))
        self.leaving = PictureBoard(thumbnails, tr("Images of the new class"))
        self.name = QLineEdit()
        self.name.setAccessibleName(tr("Name of the new class"))
        self.name.setPlaceholderText(self.name.accessibleName())
        self.below, self.beside = QRadioButton(), QRadioButton()
        self.failure = FailureNotice()
        self.exchange_button = make_button(tr("Swap"), self._on_exchange, variant="flat")
        self.split_button = make_button(tr("Split"), self._on_split, variant="primary")
        self.keep_button = make_button(tr("Cancel"), self.dismiss)
        self._staying_title, self._leaving_title = make_label("", "strong"), make_label("", "strong")
        for title in (self._staying_title, self._leaving_title):
            title.setContentsMargins(0, tokens().spacing.small, 0, 0)
        self._lay_out()
        for board in (self.staying, self.leaving):
            board.moved.connect(self._on_moved)
        self.name.textChanged.connect(self._on_name_changed)

    def _lay_out(self) -> None:
        spacing = tokens().spacing
        place = QWidget()
        row = QHBoxLayout(place)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(spacing.medium)
        self._places = QButtonGroup(self)
        for button in (self.below, self.beside):
            self._places.addButton(button)
            row.addWidget(button)
        row.addStretch(1)
        parts = (
            *(make_flowing_label(hint_text(), "secondary"), self._staying_title, self.staying),
            *(self._leaving_title, self.leaving, self.name, place, self.failure),
        )
        column = fill_column(self.body, *parts, spacing=spacing.small)
        column.setContentsMargins(spacing.large, spacing.small, spacing.large, spacing.small)
        column.addStretch(1)
        whole = self.panel.layout()
        assert whole is not None, "the card has one"
        whole.addWidget(self._make_foot())  # never scrolled away

    def _make_foot(self) -> QWidget:
        foot, spacing = QWidget(), tokens().spacing
        row = QHBoxLayout(foot)
        row.setContentsMargins(spacing.large, spacing.small, spacing.large, spacing.small)
        row.setSpacing(spacing.small)
        row.addWidget(self.exchange_button)
        row.addStretch(1)
        row.addWidget(self.keep_button)
        row.addWidget(self.split_button)
        return foot

    def wanted_height(self, width: int) -> int:
        """With the foot, which does not scroll."""
        return super().wanted_height(width) + self.split_button.sizeHint().height() + 2 * tokens().spacing.small

    # -- what is shown

    @property
    def draft(self) -> SplitDraft | None:
        """What would be done; None while the card is not in use."""
        return self._draft

    def show_draft(self, draft: SplitDraft, state: CollectionState) -> None:
        self._state = state
        self.name.clear()
        self.below.setText(plain_button(below_text(draft.name)))
        self.beside.setText(plain_button(beside_text(draft.name)))
        self.beside.setChecked(True)
        self.failure.show_text("")
        self._show(draft)
        self.show_over()
        self.name.setFocus()

    def show_failure(self, reason: str) -> None:
        """Say why it could not be split; nothing changed."""
        self.failure.show_text(reason)
        self._settle()

    def _show(self, draft: SplitDraft) -> None:
        self._draft = draft
        self._staying_title.setText(staying_title(draft))
        self._leaving_title.setText(leaving_title(draft))
        self.staying.show_images(self._placed(draft.staying))
        self.leaving.show_images(self._placed(draft.leaving))
        self._show_whether_it_can_be_split()
        self._settle()

    def _placed(self, image_ids: tuple[int, ...]) -> list[tuple[int, Path]]:
        state = self._state
        assert state is not None, "images are shown of a state"
        return [(image_id, state.path_of(image_id)) for image_id in image_ids]

    def _show_whether_it_can_be_split(self) -> None:
        draft = self._draft
        self.split_button.setEnabled(draft is not None and bool(draft.leaving) and bool(self.name.text().strip()))

    # -- what is done

    def _on_moved(self, image_ids: tuple[int, ...]) -> None:
        if self._draft is not None:
            self._show(self._draft.moved(image_ids))

    def _on_exchange(self) -> None:
        if self._draft is not None:
            self._show(self._draft.exchanged())

    def _on_name_changed(self) -> None:
        self.failure.show_text("")
        self._show_whether_it_can_be_split()

    def _on_split(self) -> None:
        if self._draft is not None and self.split_button.isEnabled():
            self.split_requested.emit(self._draft, self.name.text().strip(), self.below.isChecked())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            self._on_split()
            return
        super().keyPressEvent(event)
