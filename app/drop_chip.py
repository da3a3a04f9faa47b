"""The chip beside the pointer that says what a drop would do, or why it is refused."""

from typing import Final, final

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from app.dragging import Dragged, carried_height
from app.texts import with_breaks
from app.theme.tokens import tokens

# Logical pixels: of the text, and around it.
WIDEST: Final = 320
MARGIN: Final = 12
# From the pointer's tip to the chip: below the arrow, and out of the way of the row that is aimed at.
BESIDE: Final = QPoint(16, 18)
_WRAPPED: Final = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextWordWrap


@final
class LazyChip:
    """The chip of a view over which things are dragged; made when it first says something."""

    def __init__(self, view: QWidget) -> None:
        self._view = view
        self._chip: DropChip | None = None

    def say(self, text: str, place: QPoint, dragged: Dragged | None = None, *, is_refusal: bool = False) -> None:
        """Show a text below what hangs at a place of the screen; "" takes the chip away."""
        if not text:
            self.hide()
            return
        if self._chip is None:
            self._chip = DropChip(self._view.window())
        self._chip.say(text, place, 0 if dragged is None else carried_height(dragged), is_refusal=is_refusal)

    def hide(self) -> None:
        if self._chip is not None:
            self._chip.hide()


@final
class DropChip(QWidget):
    """Floats over the window; neither the mouse nor the drag takes notice of it."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self.text = ""
        self.is_refusal = False  # whether the text says why nothing can be dropped here
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.hide()

    def say(self, text: str, place: QPoint, carried_height: int, *, is_refusal: bool = False) -> None:
        window = self._window
        self.is_refusal = is_refusal
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
        """The text with room around it; a long one takes several lines."""
        text = self.fontMetrics().boundingRect(QRect(0, 0, WIDEST, WIDEST), int(_WRAPPED), with_breaks(self.text))
        return QSize(text.width() + 1 + 2 * MARGIN, text.height() + MARGIN)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint it in the colours of tool tips, and a refusal in those of what is wrong."""
        look = tokens()
        ground, ink = look.colours.inverse, look.colours.on_inverse
        if self.is_refusal:
            ground, ink = look.colours.danger_soft, look.colours.danger
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(ink), 1) if self.is_refusal else Qt.PenStyle.NoPen)
        painter.setBrush(QColor(ground))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), *2 * (look.spacing.radius,))
        painter.setPen(QColor(ink))
        painter.drawText(self.rect().adjusted(MARGIN, 0, -MARGIN, 0), int(_WRAPPED), with_breaks(self.text))
        painter.end()
