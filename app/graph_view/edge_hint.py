"""What is propagated to a class, in a sentence and with the images behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from app.graph_view.card import Pictures, covering, text_font
from app.texts import with_breaks
from app.theme.tokens import tokens
from app.wording import percent

# Logical pixels.
WIDTH: Final = 320
PADDING: Final = 12
FACE: Final = 32
FACES: Final = 4
ROW: Final = 40  # of one parent
SHARE: Final = 44  # width of the share
MOST_ROWS: Final = 5
_WRAPPED: Final = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextWordWrap


@dataclass(frozen=True)
class ParentShare:
    """What a class takes from one of its parents."""

    name: str
    share: float  # of what its parents propagate, 0..1
    faces: tuple[Path, ...]  # images of the parent


@final
class EdgeHint(QWidget):
    """Floats over the drawing; the mouse takes no notice of it."""

    def __init__(self, sheet: QWidget, pictures: Pictures) -> None:
        super().__init__(sheet)
        self._sheet = sheet
        self._pictures = pictures
        self.text = ""
        self.shares: tuple[ParentShare, ...] = ()
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.hide()

    def say(self, text: str, shares: Sequence[ParentShare], place: QPoint) -> None:
        """Show it at a place of the drawing, or as near to it as there is room."""
        self.text, self.shares = text, tuple(shares[:MOST_ROWS])
        self.setAccessibleName(text)
        self.resize(self.sizeHint())
        room = self._sheet.rect().adjusted(PADDING, PADDING, -PADDING, -PADDING)
        corner = QPoint(min(place.x(), room.right() - self.width()), min(place.y(), room.bottom() - self.height()))
        self.move(corner)
        self.raise_()
        self.show()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(WIDTH, self._words().height() + 2 * PADDING + ROW * len(self.shares) + 4)

    def _words(self) -> QRect:
        room = QRect(0, 0, WIDTH - 2 * PADDING, 10 * ROW)
        font = text_font(tokens().sizes.body)
        return QFontMetrics(font).boundingRect(room, int(_WRAPPED), with_breaks(self.text))

    def paintEvent(self, _event: QPaintEvent) -> None:
        look, words = tokens(), self._words()
        painter = QPainter(self)
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
        painter.setPen(QPen(QColor(look.colours.border), 1))
        painter.setBrush(QColor(look.colours.raised))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), *2 * (look.spacing.radius,))
        painter.setFont(text_font(look.sizes.body))
        painter.setPen(QColor(look.colours.text))
        room = QRect(PADDING, PADDING, self.width() - 2 * PADDING, words.height() + 2)
        painter.drawText(room, int(_WRAPPED), with_breaks(self.text))
        for place, share in enumerate(self.shares):
            self._paint_share(painter, QRect(PADDING, room.bottom() + 6 + ROW * place, room.width(), ROW), share)
        painter.end()

    def _paint_share(self, painter: QPainter, row: QRect, share: ParentShare) -> None:
        colours = tokens().colours
        for place in range(FACES):
            cell = QRectF(row.left() + place * (FACE + 2), row.top() + 4, FACE, FACE)
            picture = self._pictures(share.faces[place], FACE) if place < len(share.faces) else None
            if picture is None:
                painter.fillRect(cell, QColor(colours.sunken))
            else:
                painter.drawPixmap(cell, picture, covering(picture, cell))
        words = row.adjusted(FACES * (FACE + 2) + 6, 0, 0, 0)
        painter.setFont(text_font(tokens().sizes.body, is_strong=True))
        painter.setPen(QColor(colours.accent_text))
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.drawText(QRect(words.left(), words.top(), SHARE, words.height()), middle, percent(share.share))
        painter.setFont(text_font(tokens().sizes.body))
        painter.setPen(QColor(colours.text_secondary))
        rest = words.adjusted(SHARE, 0, 0, 0)
        name = painter.fontMetrics().elidedText(share.name, Qt.TextElideMode.ElideRight, rest.width())
        painter.drawText(rest, middle, name)
