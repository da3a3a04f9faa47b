"""The page "Why not the other?": an image next to examples of its two most likely classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import final

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QFocusEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QVBoxLayout, QWidget

from app.actions.key_tips import follow_keys
from app.compare.logic import LONGEST_OF_SHOT, SHOTS, Rival
from app.compare.page import ComparedPage
from app.compare.pane import Pane
from app.controls import fill_column, make_flowing_label
from app.image_grid.card_words import Card
from app.image_view.canvas import LARGEST_SIDE, ImageCanvas, picture_of
from app.inspector.logic import ScoreRow
from app.inspector.page import ScoreLine
from app.texts import plain_tip, shortened, tr
from app.theme.tokens import tokens

RIVALS = 2  # classes compared
WIDE_ENOUGH = 720  # logical pixels that the image and the shots need side by side
MARGIN_OF_SHOT = 4  # logical pixels around a fitted picture
LONGEST_NOTE = 240  # characters


@final
class RivalRow(QWidget):
    """A class with its key, score, note and nearest shots."""

    chosen = Signal(int)  # class id
    image_clicked = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.line = ScoreLine()
        self.line.chosen.connect(self.chosen)
        self.note = make_flowing_label("", "muted")
        self.nothing = make_flowing_label(tr("No labelled images yet"), "muted")
        self.canvases = [
            ImageCanvas(longest_side=LONGEST_OF_SHOT, margin=MARGIN_OF_SHOT) for _ in range(SHOTS)
        ]
        self.shot_ids: tuple[int, ...] = ()
        shots = QHBoxLayout()
        shots.setSpacing(tokens().spacing.small)
        for canvas in self.canvases:
            shots.addWidget(canvas, 1)
        column = fill_column(
            self, self.line, self.note, self.nothing, spacing=tokens().spacing.tiny
        )
        column.addLayout(shots, 1)

    def show_rival(self, rival: Rival | None, digit: int) -> None:
        """Show a class; its shots are set separately."""
        self.setVisible(rival is not None)
        if rival is not None:
            self.line.show_row(ScoreRow(rival.class_id, rival.name, "", rival.score, digit))
            self.note.setText(shortened(rival.note, LONGEST_NOTE))
            self.note.setVisible(bool(rival.note))

    def show_shots(self, shots: Sequence[tuple[int, Path]], *, is_known: bool) -> None:
        self.shot_ids = tuple(image_id for image_id, _path in shots)
        self.nothing.setVisible(is_known and not shots)
        for place, canvas in enumerate(self.canvases):
            canvas.setVisible(place < len(shots))
            if place < len(shots):
                path = shots[place][1]
                canvas.setToolTip(plain_tip(path.name))
                canvas.setAccessibleName(path.name)
                if canvas.source != picture_of(path):
                    canvas.show_image(path)


@final
class WhyNotPage(ComparedPage):
    """The image on the left and the classes on the right, or below it in a narrow window."""

    class_chosen = Signal(int)
    step_requested = Signal(int)  # -1 or 1: previous or next image of the grid

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(tr("Why not the other?"))
        self.pane = Pane(-1, longest_side=LARGEST_SIDE)
        self.pane.show_active(is_active=True)
        self.rows = [RivalRow() for _ in range(RIVALS)]
        self.message = make_flowing_label("", "muted")
        self.message.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._halves = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self.rivals: tuple[Rival, ...] = ()
        self._lay_out()
        for row in self.rows:
            row.chosen.connect(self.class_chosen)
        self.lock_together(
            [self.pane.canvas, *(canvas for row in self.rows for canvas in row.canvases)]
        )
        follow_keys(self, self._show_rivals)

    def _lay_out(self) -> None:
        spacing = tokens().spacing
        column = fill_column(self, self.bar, spacing=0)
        self._halves.setContentsMargins(spacing.medium, 0, spacing.medium, spacing.medium)
        self._halves.setSpacing(spacing.large)
        right = QWidget()
        classes = QVBoxLayout(right)
        classes.setContentsMargins(0, 0, 0, 0)
        classes.setSpacing(spacing.medium)
        for row in self.rows:
            classes.addWidget(row, 1)
        classes.addWidget(self.message)
        self._halves.addWidget(self.pane, 1)
        self._halves.addWidget(right, 1)
        column.addLayout(self._halves, 1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        is_wide = (
            event.size().width() >= WIDE_ENOUGH or event.size().width() > event.size().height()
        )
        row, column = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom
        self._halves.setDirection(row if is_wide else column)

    # -- content

    @property
    def image_id(self) -> int:
        return self.pane.image_id

    @property
    def active_canvas(self) -> ImageCanvas:
        return self.pane.canvas

    def show_image(self, card: Card, taken_at: datetime | None) -> None:
        """Show an image; a different one is fitted to the pane."""
        if card.image_id != self.pane.image_id:
            self.pane.canvas.fit()
        self.pane.image_id = card.image_id
        self.pane.show_card(card, taken_at=taken_at)

    def show_rivals(self, rivals: tuple[Rival, ...], relation: str, message: str) -> None:
        """Show the most likely classes in the order of their keys, or a message without any."""
        if [rival.class_id for rival in rivals] != [rival.class_id for rival in self.rivals]:
            for row in self.rows:
                row.show_shots((), is_known=False)
        self.rivals = rivals
        self.bar.text.show_text(relation)
        self.message.setText(message)
        self.message.setVisible(bool(message))
        self._show_rivals()

    def _show_rivals(self) -> None:
        for place, row in enumerate(self.rows):
            row.show_rival(self.rivals[place] if place < len(self.rivals) else None, place + 1)

    def show_shots(self, shots: Mapping[int, Sequence[tuple[int, Path]]]) -> None:
        """Show the nearest labelled images of each class."""
        for row, rival in zip(self.rows, self.rivals, strict=False):
            row.show_shots(shots.get(rival.class_id, ()), is_known=rival.class_id in shots)
        if self.is_locked:
            self.pane.canvas.view_changed.emit(self.pane.canvas.view)

    # -- navigation

    def step(self, x: int, y: int) -> None:
        self.step_requested.emit(x + y)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Pass the keyboard focus to the image."""
        super().focusInEvent(event)
        QTimer.singleShot(0, self.pane, lambda: self.pane.setFocus(Qt.FocusReason.OtherFocusReason))
