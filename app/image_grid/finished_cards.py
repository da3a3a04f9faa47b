"""Cards as they stand on the screen: painted once, kept in bounded memory, and copied from there in each frame."""

from collections import OrderedDict
from typing import Final, final

from PySide6.QtCore import QRect, QSize
from PySide6.QtGui import QColor, QPainter, QPixmap

from app.image_grid.card import Look, paint_card
from app.image_grid.model import Card
from app.theme.tokens import Tokens, tokens

MEMORY_BYTES: Final = 40 * 1024 * 1024
"""Twice what a window of 1920 x 1080 shows at 200 %."""
_BYTES_PER_PIXEL: Final = 4

_Key = tuple[Card, int, Look, int]


@final
class FinishedCards:
    """Keeps the cards that were shown last; the oldest goes first.

    Args:
        limit_bytes: of all that is kept.
    """

    def __init__(self, limit_bytes: int = MEMORY_BYTES) -> None:
        self._limit_bytes = limit_bytes
        self._kept: OrderedDict[_Key, QPixmap] = OrderedDict()
        self._worn: tuple[Tokens, QColor, float] | None = None
        self.used_bytes = 0

    def wear(self, ground: QColor, ratio: float) -> None:
        """Say what cards stand on before they are asked for; another look or screen makes all of them anew.

        Args:
            ground: colour behind the cards.
            ratio: device pixels for one logical pixel.
        """
        worn = (tokens(), ground, ratio)
        if self._worn is None or worn[0] is not self._worn[0] or worn[1:] != self._worn[1:]:
            self._worn = worn
            self._kept.clear()
            self.used_bytes = 0

    def of(self, card: Card, picture: QPixmap | None, look: Look, size: QSize) -> QPixmap:
        """A card as it is to be shown.

        Args:
            card: its words.
            picture: its thumbnail; None while it is on its way.
            look: how it stands among the others.
            size: in logical pixels.
        """
        key = (card, 0 if picture is None else picture.cacheKey(), look, size.width())
        finished = self._kept.get(key)
        if finished is not None:
            self._kept.move_to_end(key)
            return finished
        finished = self._finish(card, picture, look, size)
        self._kept[key] = finished
        self.used_bytes += _size_bytes(finished)
        while self.used_bytes > self._limit_bytes and len(self._kept) > 1:
            _, oldest = self._kept.popitem(last=False)
            self.used_bytes -= _size_bytes(oldest)
        return finished

    def _finish(self, card: Card, picture: QPixmap | None, look: Look, size: QSize) -> QPixmap:
        """Paint it on its ground: letters keep the sharp edges that they lose over nothing."""
        assert self._worn is not None, "wear comes first"
        _, ground, ratio = self._worn
        finished = QPixmap(size * ratio)
        finished.setDevicePixelRatio(ratio)
        finished.fill(ground)
        painter = QPainter(finished)
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
        paint_card(painter, QRect(0, 0, size.width(), size.height()), card, picture, look)
        painter.end()
        return finished


def _size_bytes(picture: QPixmap) -> int:
    return picture.width() * picture.height() * _BYTES_PER_PIXEL
