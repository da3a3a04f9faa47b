"""The chip beside the pointer that says what a drop would do."""

from typing import Final, final

from PySide6.QtCore import QPoint, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.theme.tokens import tokens

# Logical pixels: of the text, and around it.
WIDEST: Final = 320
MARGIN: Final = 12
BESIDE: Final = QPoint(16, 18)
"""From the pointer's tip to the chip: below the arrow, and out of the way of the row that is aimed at."""


@final
class DropChip(QWidget):
    """Floats over the window; neither the mouse nor the drag takes notice of it.

    Args:
        view: over which something is dragged.
    """

    def __init__(self, view: QWidget) -> None:
        super().__init__(view.window())
        self.text = ""
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.hide()

    def say(self, text: str, place: QPoint, carried_height: int) -> None:
        """Show a text below what hangs at the pointer.

        Args:
            text: what a drop would do.
            place: of the pointer, on the screen.
            carried_height: of the picture that hangs at the pointer.
        """
        window = self.parentWidget()
        if window is None:
            return
        if text != self.text:
            self.text = text
            self.setAccessibleName(text)
            self.resize(self.sizeHint())
        tip = window.mapFromGlobal(place)
        corner = tip + BESIDE + QPoint(0, carried_height)
        if corner.y() + self.height() > window.height():
            corner.setY(tip.y() - self.height() - MARGIN)
        corner.setX(max(MARGIN, min(corner.x(), window.width() - self.width() - MARGIN)))
        self.move(corner)
        self.raise_()
        self.show()
        self.update()

    def sizeHint(self) -> QSize:
        """The text with room around it."""
        metrics = self.fontMetrics()
        return QSize(min(WIDEST, metrics.horizontalAdvance(self.text)) + 2 * MARGIN, metrics.height() + MARGIN)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint it in the colours of tool tips."""
        look = tokens()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(look.colours.inverse))
        painter.drawRoundedRect(QRectF(self.rect()), look.spacing.radius, look.spacing.radius)
        painter.setPen(QColor(look.colours.on_inverse))
        room = self.rect().adjusted(MARGIN, 0, -MARGIN, 0)
        text = self.fontMetrics().elidedText(self.text, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)
        painter.end()
