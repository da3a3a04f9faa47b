"""What hangs at the pointer while images are dragged: the first ones as a small pile, and how many they are."""

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QDrag, QFont, QFontMetrics, QPainter, QPainterPath, QPen, QPixmap
from PySide6.QtWidgets import QWidget

from app.dragging import images_mime_data
from app.images.pixels import fitted
from app.theme.tokens import tokens
from app.wording import number

# Logical pixels, and pictures; chosen by eye: a pile tells one image from many, and hides little of what lies below.
SIDE: Final = 72
MOST_SHOWN: Final = 3
STEP: Final = 6  # each picture of the pile lies this far below and right of the one above it
HOT_SPOT: Final = QPoint(-10, -10)  # the pile hangs beside the pointer, so that the row under it can be read
_BADGE_HEIGHT: Final = 20  # of the number, in logical pixels


def carry(grid: QWidget, image_ids: Sequence[int], pictures: Sequence[QPixmap]) -> None:
    """Take images along; returns when they were dropped."""
    drag = QDrag(grid)
    drag.setMimeData(images_mime_data(image_ids))
    drag.setPixmap(carried_picture(pictures, len(image_ids), grid.font(), grid.devicePixelRatioF()))
    drag.setHotSpot(HOT_SPOT)
    drag.exec(Qt.DropAction.CopyAction)


def carried_picture(pictures: Sequence[QPixmap], count: int, font: QFont, ratio: float) -> QPixmap:
    """The first pictures, one above the other, with a badge that says how many images they stand for."""
    shown = pictures[:MOST_SHOWN]
    side = SIDE + STEP * (max(1, len(shown)) - 1) + _BADGE_HEIGHT // 2
    pile = QPixmap(QSize(side, side) * ratio)
    pile.setDevicePixelRatio(ratio)
    pile.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pile)
    painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
    top = _BADGE_HEIGHT // 2
    for depth in reversed(range(max(1, len(shown)))):
        frame = QRect(depth * STEP, top + depth * STEP, SIDE, SIDE)
        _paint_picture(painter, frame, shown[depth] if shown else None)
    if count > 1:
        _paint_badge(painter, QPoint(SIDE + STEP * (max(1, len(shown)) - 1) + top, 0), number(count), font)
    painter.end()
    return pile


def _paint_picture(painter: QPainter, frame: QRect, picture: QPixmap | None) -> None:
    """Paint a picture, or plain ground while it is on its way."""
    colours, radius = tokens().colours, tokens().spacing.radius_small
    target = QRectF(frame) if picture is None else fitted(picture.size(), frame)
    shape = QPainterPath()
    shape.addRoundedRect(target, radius, radius)
    painter.save()
    painter.setClipPath(shape)
    if picture is None:
        painter.fillRect(target, QColor(colours.sunken))
    else:
        painter.drawPixmap(target, picture, QRectF(picture.rect()))
    painter.restore()
    painter.strokePath(shape, QPen(QColor(colours.raised), 1.5))


def _paint_badge(painter: QPainter, top_right: QPoint, text: str, font: QFont) -> None:
    small = QFont(font)
    small.setPixelSize(tokens().sizes.caption)
    small.setWeight(QFont.Weight.DemiBold)
    width = max(_BADGE_HEIGHT, QFontMetrics(small).horizontalAdvance(text) + 12)
    badge = QRectF(top_right.x() - width, top_right.y(), width, _BADGE_HEIGHT)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(tokens().colours.accent))
    painter.drawRoundedRect(badge, _BADGE_HEIGHT / 2, _BADGE_HEIGHT / 2)
    painter.setFont(small)
    painter.setPen(QColor(tokens().colours.on_accent))
    painter.drawText(badge, Qt.AlignmentFlag.AlignCenter, text)
