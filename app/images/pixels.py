"""Decoded pixels as a Qt image, made without Qt's own readers.

Those probe every image plugin, and some plugins connect signals while they do. On a thread that holds Python's lock
this waits for the GUI thread, which may be waiting for that lock. The engine's decoders know no Qt and give the lock
away.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSize
from PySide6.QtGui import QColor, QImage, QPainter, QPainterPath, QPixmap

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


def image_of(pixels: NDArray[np.uint8]) -> QImage:
    """A Qt image with its own memory from (H, W, 3) uint8 RGB."""
    height, width = pixels.shape[:2]
    shared = np.ascontiguousarray(pixels)
    return QImage(shared.data, width, height, 3 * width, QImage.Format.Format_RGB888).copy()


def fitted(size: QSize, frame: QRect) -> QRectF:
    """Cover the square frame when the picture is nearly square, else show all of it, centred."""
    scale = min(frame.width() / max(1, size.width()), frame.height() / max(1, size.height()))
    width, height = size.width() * scale, size.height() * scale
    centre = QPointF(QRectF(frame).center())
    return QRectF(centre.x() - width / 2, centre.y() - height / 2, width, height)


def on_pixels(place: QPoint | QPointF, ratio: float) -> QPointF:
    """The nearest place where a picture's pixels fall on those of the screen, so that nothing blurs at 125%."""
    return QPointF(round(place.x() * ratio) / ratio, round(place.y() * ratio) / ratio)
