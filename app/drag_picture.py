"""The chip that hangs at the pointer while a class is dragged."""

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPixmap
from PySide6.QtWidgets import QWidget

from app.theme.tokens import tokens


def drag_picture(widget: QWidget, text: str) -> QPixmap:
    """A small rounded chip with a text, in the font and for the screen of `widget`."""
    look = tokens()
    metrics = widget.fontMetrics()
    name = metrics.elidedText(text, Qt.TextElideMode.ElideRight, 200)
    width, height = metrics.horizontalAdvance(name) + 24, metrics.height() + 12
    ratio = widget.devicePixelRatioF()
    picture = QPixmap(round(width * ratio), round(height * ratio))
    picture.setDevicePixelRatio(ratio)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setFont(widget.font())
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(look.colours.inverse))
    chip = QRectF(0, 0, width, height)
    painter.drawRoundedRect(chip, look.spacing.radius, look.spacing.radius)
    painter.setPen(QColor(look.colours.on_inverse))
    painter.drawText(chip, Qt.AlignmentFlag.AlignCenter, name)
    painter.end()
    return picture
