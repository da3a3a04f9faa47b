"""Paints the rubber band."""

from typing import Final

from PySide6.QtCore import QRect, QRectF
from PySide6.QtGui import QColor, QPainter, QPen

from app.theme.tokens import tokens

# How opaque it is; chosen by eye: pictures stay what they are below it.
FILL: Final = 0.14
EDGE: Final = 0.9


def paint_rubber_band(painter: QPainter, rect: QRect) -> None:
    """A thin, rounded, translucent rectangle in the accent's colour."""
    fill, edge = QColor(tokens().colours.accent), QColor(tokens().colours.accent)
    fill.setAlphaF(FILL)
    edge.setAlphaF(EDGE)
    painter.setPen(QPen(edge, 1))
    painter.setBrush(fill)
    painter.drawRoundedRect(QRectF(rect).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
