"""Fonts, names and floating cards on a canvas."""

from functools import lru_cache

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPixmap

from app.theme.tokens import tokens

SMALLEST_TEXT = 11.0  # logical pixels
_OPACITY = 0.86  # of the ground of a name


@lru_cache(maxsize=256)
def text_font(pixels: float, *, is_strong: bool = False) -> QFont:
    """Font of a pixel size, but never unreadably small, with tabular figures."""
    font = QFont()
    font.setPixelSize(round(max(SMALLEST_TEXT, round(2 * pixels) / 2)))
    font.setFeature(QFont.Tag("tnum"), 1)
    if is_strong:
        font.setWeight(QFont.Weight.DemiBold)
    return font


@lru_cache(maxsize=1000)
def name_picture(
    name: str,
    width: float,
    height: float,
    *,
    radius: float,
    ratio: float,
    ground: str,
    ink: str,
    is_strong: bool = False,
) -> QPixmap:
    """A name on a translucent ground with rounded corners; cached."""
    room, veil = QRectF(0, 0, width, height), QColor(ground)
    picture = QPixmap((room.size() * ratio).toSize())
    picture.setDevicePixelRatio(ratio)
    picture.fill(Qt.GlobalColor.transparent)
    veil.setAlphaF(_OPACITY)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(veil)
    painter.drawRoundedRect(room, radius, radius)
    painter.setFont(text_font(tokens().sizes.caption, is_strong=is_strong))
    painter.setPen(QColor(ink))
    painter.drawText(room, Qt.AlignmentFlag.AlignCenter, name)
    painter.end()
    return picture


def paint_floating_card(painter: QPainter, rect: QRect, ground: QColor, border: str) -> None:
    """Paint the background of a card that floats over a canvas."""
    radius = tokens().spacing.radius
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QColor(border))
    painter.setBrush(ground)
    painter.drawRoundedRect(QRectF(rect).adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)
