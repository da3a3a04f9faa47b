"""One of the compared images: the picture, and below it name, date, and label or prediction."""

from __future__ import annotations

from datetime import datetime
from typing import final

from PySide6.QtCore import QEvent, QObject, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFocusEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app.controls import ElidedLabel, make_label
from app.image_grid.card_words import Card, Mark
from app.image_view.canvas import ImageCanvas, picture_of
from app.texts import plain_tip
from app.theme.icons import icon_pixmap
from app.theme.tokens import tokens
from app.wording import image_name, moment_text, titled
from engine.file_parts import ImageSource

# Logical pixels.
FRAME = 3
ROUNDING = 8
ICON = 14
_LABELLED = frozenset({Mark.LABELLED, Mark.LABELLED_UNKNOWN})


@final
class Pane(QWidget):
    """An image with its name, date and class; the active one has a frame."""

    chosen = Signal()  # clicked, or got the keyboard focus

    def __init__(self, image_id: int, *, longest_side: int) -> None:
        super().__init__()
        self.image_id = image_id
        self.canvas = ImageCanvas(longest_side=longest_side)
        self.is_active = False
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._name = ElidedLabel("strong", mode=Qt.TextElideMode.ElideMiddle)
        self._date = make_label("", "muted")
        self._person = QLabel()
        self._title = ElidedLabel("secondary")
        self._detail = make_label("", "muted")
        self._lay_out()
        self.canvas.installEventFilter(self)

    def _lay_out(self) -> None:
        spacing = tokens().spacing
        column = QVBoxLayout(self)
        column.setContentsMargins(FRAME, FRAME, FRAME, FRAME)
        column.setSpacing(0)
        column.addWidget(self.canvas, 1)
        words = QVBoxLayout()
        words.setContentsMargins(spacing.small, spacing.small, spacing.small, spacing.small)
        words.setSpacing(spacing.tiny)
        for first, last in ((self._name, self._date), (self._title, self._detail)):
            row = QHBoxLayout()
            row.setSpacing(spacing.small)
            if first is self._title:
                row.addWidget(self._person)
            row.addWidget(first, 1)
            row.addWidget(last)
            words.addLayout(row)
        column.addLayout(words)

    @property
    def words_height(self) -> int:
        """Height of the text below the picture, frame included."""
        return self.sizeHint().height() - self.canvas.sizeHint().height()

    def show_card(self, card: Card, *, taken_at: datetime | None) -> None:
        """Show the current state of the image."""
        self._show_picture(card.source)
        is_labelled = card.mark in _LABELLED
        self._name.show_text(image_name(card.source), tip=str(card.source.path))
        self._date.setText("" if taken_at is None else moment_text(taken_at.replace(tzinfo=None)))
        self._person.setVisible(is_labelled)
        if is_labelled:
            ratio = self.devicePixelRatioF()
            self._person.setPixmap(icon_pixmap("person", ICON, colour="accent_text", ratio=ratio))
        self._title.show_text(
            f"{card.title}  {card.score}".rstrip(), role="strong" if is_labelled else "secondary"
        )
        self._detail.setText(card.detail)
        self._detail.setToolTip(plain_tip(card.detail))
        facts = titled(image_name(card.source), f"{card.title} {card.detail} {card.score}".strip())
        self.setAccessibleName(facts)

    def _show_picture(self, source: ImageSource) -> None:
        if picture_of(source) != self.canvas.source:
            view = self.canvas.view
            self.canvas.show_image(source)
            self.canvas.show_view(view)

    @property
    def words(self) -> str:
        """All text below the picture."""
        parts = (self._name.text(), self._date.text(), self._title.text(), self._detail.text())
        return " ".join(part for part in parts if part)

    def show_active(self, *, is_active: bool) -> None:
        self.is_active = is_active
        self.update()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.chosen.emit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Focus the pane when its picture is clicked."""
        if event.type() == QEvent.Type.MouseButtonPress:
            self.setFocus(Qt.FocusReason.MouseFocusReason)
        return super().eventFilter(watched, event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        colours, painter = tokens().colours, QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        width = FRAME - 1 if self.is_active else 1
        painter.setPen(QPen(QColor(colours.accent if self.is_active else colours.hairline), width))
        painter.setBrush(QColor(colours.surface))
        inset = width / 2
        painter.drawRoundedRect(
            QRectF(self.rect()).adjusted(inset, inset, -inset, -inset), ROUNDING, ROUNDING
        )
        painter.end()
