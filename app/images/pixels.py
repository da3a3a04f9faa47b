"""Decoded pixels as a Qt image, made without Qt's image readers.

Qt's readers probe every image plugin, and some plugins connect signals meanwhile. On a thread that
holds the GIL this waits for the GUI thread, which may be waiting for the GIL (a deadlock). The
engine's decoders do not use Qt and release the GIL.
"""

from math import log
from typing import final

import numpy as np
from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPainterPath, QPen, QPixmap

from app.theme.tokens import tokens
from engine.arrays import Pixels

RADIUS = 6.0  # corner radius in logical pixels
FRAME = 2  # width of a frame in logical pixels
SQUARE = 1.0
SHAPES = (9 / 16, 2 / 3, 3 / 4, SQUARE, 4 / 3)
"""Aspect ratios (height by width) of cards: those of screens and cameras. Chosen: a wider one would
leave no room for a badge, a taller one none for a second row."""
DECIDED_AT = (8, 64, 512)
"""Numbers of pictures after which the aspect ratio is decided. Chosen: cards that change shape
distract; some hundred pictures are representative."""


def paint_square(painter: QPainter, rect: QRect, picture: QPixmap | None) -> None:
    """Paint the central square of a picture; an empty well while there is none."""
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


def paint_frame(painter: QPainter, rect: QRect) -> None:
    """Paint the frame of a selected or hovered square."""
    painter.setPen(QPen(QColor(tokens().colours.accent), FRAME))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(QRectF(rect).adjusted(1, 1, -1, -1), RADIUS - 1, RADIUS - 1)


def image_of(pixels: Pixels) -> QImage:
    """Make a Qt image with its own memory from (H, W, 3) uint8 RGB."""
    height, width = pixels.shape[:2]
    shared = np.ascontiguousarray(pixels)
    return QImage(shared.data, width, height, 3 * width, QImage.Format.Format_RGB888).copy()


def fitted(size: QSize, frame: QRect) -> QRectF:
    """The rectangle that shows all of a picture, centred in a frame."""
    scale = min(frame.width() / max(1, size.width()), frame.height() / max(1, size.height()))
    width, height = size.width() * scale, size.height() * scale
    centre = QPointF(QRectF(frame).center())
    return QRectF(centre.x() - width / 2, centre.y() - height / 2, width, height)


def on_pixels(place: QPoint | QPointF, ratio: float) -> QPointF:
    """Align a position to device pixels, so that nothing blurs at scale factors such as 125%."""
    return QPointF(round(place.x() * ratio) / ratio, round(place.y() * ratio) / ratio)


@final
class PictureShape:
    """The aspect ratio of cards: that of most pictures, so that captions are close to them."""

    def __init__(self) -> None:
        self.value = SQUARE  # height by width
        self._logs: dict[object, float] = {}  # logarithm of the same, by picture
        self._decided = 0  # number of pictures at the last decision
        self._is_due = False

    def note(self, picture: object, width: int, height: int) -> None:
        """Record the size of a picture."""
        if len(self._logs) < DECIDED_AT[-1]:
            self._logs[picture] = log(max(1, height) / max(1, width))

    @property
    def is_decided(self) -> bool:
        return self._decided > 0

    def is_due(self, *, are_all_there: bool) -> bool:
        """Whether the shape is to be decided: enough new pictures, or all visible ones loaded."""
        count = len(self._logs)
        self._is_due = any(self._decided < each <= count for each in DECIDED_AT)
        self._is_due |= are_all_there and not self.is_decided and count > 0
        return self._is_due

    def decide(self) -> bool:
        """Decide the aspect ratio by the pictures so far, where due; return whether it changed."""
        if not self._is_due:
            return False
        self._is_due, self._decided, before = False, len(self._logs), self.value
        mean = sum(self._logs.values()) / len(self._logs)
        self.value = min(SHAPES, key=lambda shape: abs(log(shape) - mean))
        return self.value != before

    def forget(self) -> None:
        """Reset for other pictures."""
        self._logs.clear()
        self._decided, self._is_due = 0, False
