"""Decoded pixels as a Qt image, made without Qt's own readers.

Those probe every image plugin, and some plugins connect signals while they do. On a thread that holds Python's lock
this waits for the GUI thread, which may be waiting for that lock. The engine's decoders know no Qt and give the lock
away.
"""

from math import log
from typing import Final, final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSize
from PySide6.QtGui import QColor, QImage, QPainter, QPainterPath, QPixmap

from app.theme.tokens import tokens

RADIUS: Final = 6.0  # of the corners, in logical pixels
SQUARE: Final = 1.0
SHAPES: Final = (9 / 16, 2 / 3, 3 / 4, SQUARE, 4 / 3)
"""Heights of a picture for a width of one that cards have: those of screens and cameras. Chosen: a panorama would
leave no room for a count on it, and a taller one than that of a phone, no second row."""
DECIDED_AT: Final = (8, 64, 512)
"""Pictures after which their shape is looked at. Chosen: cards that change shape disturb; some hundred tell it."""


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


@final
class PictureShape:
    """The shape that cards have: that of most pictures, so that a caption lies at its picture."""

    def __init__(self) -> None:
        self.value = SQUARE  # height of a picture, as a share of its width
        self._logs: dict[object, float] = {}  # logarithm of the same by picture
        self._decided = 0  # pictures that were known when it was decided last
        self._is_due = False

    def note(self, picture: object, width: int, height: int) -> None:
        """A picture has these sides."""
        if len(self._logs) < DECIDED_AT[-1]:
            self._logs[picture] = log(max(1, height) / max(1, width))

    @property
    def is_decided(self) -> bool:
        return self._decided > 0

    def is_due(self, *, are_all_there: bool) -> bool:
        """Whether so many more pictures are known, or all that are in sight, that the shape is to be decided."""
        count = len(self._logs)
        self._is_due = any(self._decided < each <= count for each in DECIDED_AT)
        self._is_due |= are_all_there and not self.is_decided and count > 0
        return self._is_due

    def decide(self) -> bool:
        """Where that is due take the shape of most pictures; whether it is another one."""
        if not self._is_due:
            return False
        self._is_due, self._decided, before = False, len(self._logs), self.value
        mean = sum(self._logs.values()) / len(self._logs)
        self.value = min(SHAPES, key=lambda shape: abs(log(shape) - mean))
        return self.value != before

    def forget(self) -> None:
        """Other pictures come."""
        self._logs.clear()
        self._decided, self._is_due = 0, False
