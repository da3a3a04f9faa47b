"""Rows of the inspector: a class with its score, a share of a prototype."""

from typing import Final, final

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QEnterEvent, QFont, QFontMetrics, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.inspector.logic import ScoreRow
from app.theme.tokens import tokens
from app.wording import percent

HEIGHT: Final = 34
BAR_HEIGHT: Final = 4
KEY_SIDE: Final = 18


@final
class ScoreLine(QWidget):
    """Key, name, percentage, and a thin bar below. A click chooses the class.

    Args:
        row: what it shows.
        tone: "accent" or "muted".
        is_clickable: whether a click chooses.
        condition: what the percentage depends on, for those who cannot see the words above it.

    Signals:
        chosen: class id.
    """

    chosen = Signal(int)

    def __init__(self, row: ScoreRow, *, tone: str = "accent", is_clickable: bool = True, condition: str = "") -> None:
        super().__init__()
        self._row = row
        self._tone = tone
        self._is_clickable = is_clickable
        self._is_hovered = False
        self.setFixedHeight(HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setToolTip(f"{row.place} / {row.name}" if row.place else row.name)
        self.setAccessibleName(f"{condition} {row.name}, {percent(row.score)}".strip())
        if is_clickable:
            self.setCursor(Qt.CursorShape.PointingHandCursor)

    def sizeHint(self) -> QSize:
        """Ask for room."""
        return QSize(200, HEIGHT)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the row."""
        worn, painter = tokens(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self._is_hovered:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(worn.colours.hover))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(-1, 0, 1, -1), 6, 6)
        left = self._paint_key(painter) if self._row.digit else 4
        body, caption = QFont(self.font()), QFont(self.font())
        body.setPixelSize(worn.sizes.body)
        caption.setPixelSize(worn.sizes.caption)
        text = self.rect().adjusted(left, 3, -4, -10)
        share = percent(self._row.score)
        painter.setFont(caption)
        painter.setPen(QColor(worn.colours.text_muted))
        painter.drawText(text, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, share)
        room = text.width() - QFontMetrics(caption).horizontalAdvance(share) - 8
        painter.setFont(body)
        painter.setPen(QColor(worn.colours.text))
        name = QFontMetrics(body).elidedText(self._row.name, Qt.TextElideMode.ElideRight, room)
        painter.drawText(text, Qt.AlignmentFlag.AlignVCenter, name)
        self._paint_bar(painter, left)

    def _paint_key(self, painter: QPainter) -> int:
        worn = tokens()
        box = QRectF(4, (self.height() - KEY_SIDE) / 2 - 2, KEY_SIDE, KEY_SIDE)
        painter.setPen(QColor(worn.colours.border))
        painter.setBrush(QColor(worn.colours.sunken))
        painter.drawRoundedRect(box, 4, 4)
        font = QFont(self.font())
        font.setPixelSize(worn.sizes.caption)
        painter.setFont(font)
        painter.setPen(QColor(worn.colours.text_secondary))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, str(self._row.digit))
        return KEY_SIDE + 12

    def _paint_bar(self, painter: QPainter, left: int) -> None:
        colours = tokens().colours
        groove = QRectF(left, self.height() - 9, self.width() - left - 4, BAR_HEIGHT)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.sunken))
        painter.drawRoundedRect(groove, 2, 2)
        filled = QRectF(groove)
        filled.setWidth(max(BAR_HEIGHT, groove.width() * min(1.0, self._row.score)))
        painter.setBrush(QColor(colours.accent if self._tone == "accent" else colours.text_disabled))
        painter.drawRoundedRect(filled, 2, 2)

    def enterEvent(self, event: QEnterEvent) -> None:
        """Light up."""
        self._is_hovered = self._is_clickable
        self.update()
        super().enterEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        """Go dark."""
        self._is_hovered = False
        self.update()
        super().leaveEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Tell that the class was chosen."""
        if self._is_clickable and event.button() == Qt.MouseButton.LeftButton:
            self.chosen.emit(self._row.class_id)
