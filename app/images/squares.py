"""A picture cut to a square with round corners."""

from typing import Final

from PySide6.QtCore import QRect, QRectF
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPixmap

from app.theme.tokens import tokens

RADIUS: Final = 6.0  # of the corners, in logical pixels


def paint_square(painter: QPainter, rect: QRect, picture: QPixmap | None) -> None:
    """Paint the middle of a picture; an empty well while there is none."""
    shape = QPainterPath()
    shape.addRoundedRect(QRectF(rect), RADIUS, RADIUS)
    if picture is None:
        painter.fillPath(shape, QColor(tokens().colours.sunken))
        return
    side = min(picture.width(), picture.height())
    source = QRectF((picture.width() - side) / 2, (picture.height() - side) / 2, side, side)
    painter.save()
    painter.setClipPath(shape)
    painter.drawPixmap(QRectF(rect), picture, source)
    painter.restore()
