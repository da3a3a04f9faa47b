"""Cards as they stand on the screen: painted once, kept in bounded memory, and copied from there in each frame."""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Final, final

from PySide6.QtCore import QPoint, QRect, QSize
from PySide6.QtGui import QColor, QPainter, QPixmap

from app.image_grid.card import Look, paint_card, paint_words
from app.image_grid.model import Card
from app.theme.tokens import Tokens, tokens

MEMORY_BYTES: Final = 40 * 1024 * 1024  # a window on the whole of a 4K screen, and a little more
_BYTES_PER_PIXEL: Final = 4

_Key = tuple[int, int, Look, int]


@dataclass
class _Finished:
    """A card that is kept."""

    card: Card  # its words as painted
    pixmap: QPixmap


@final
class FinishedCards:
    """Keeps the cards that were shown last; the oldest goes first."""

    def __init__(self, limit_bytes: int = MEMORY_BYTES) -> None:
        self._limit_bytes = limit_bytes
        self._kept: OrderedDict[_Key, _Finished] = OrderedDict()
        self._worn: Tokens | None = None
        self._ground = QColor()
        self._ratio = 1.0
        self.used_bytes = 0

    def wear(self, ground: QColor, ratio: float) -> None:
        """Say what cards stand on before they are asked for; another look or screen makes all of them anew."""
        if self._worn is not tokens() or (self._ground, self._ratio) != (ground, ratio):
            self._worn, self._ground, self._ratio = tokens(), ground, ratio
            self._kept.clear()
            self.used_bytes = 0

    def of(self, card: Card, picture: QPixmap | None, look: Look, size: QSize) -> QPixmap:
        """A card as it is to be shown."""
        key = (card.image_id, 0 if picture is None else picture.cacheKey(), look, size.width())
        kept = self._kept.get(key)
        if kept is None:
            pixmap = QPixmap(size * self._ratio)
            pixmap.setDevicePixelRatio(self._ratio)
            self._paint(pixmap, card, picture, look)
            self._keep(key, _Finished(card, pixmap))
            return pixmap
        self._kept.move_to_end(key)
        if kept.card != card:
            self._follow(kept, card, picture, look)
        return kept.pixmap

    def _keep(self, key: _Key, finished: _Finished) -> None:
        self._kept[key] = finished
        self.used_bytes += _size_bytes(finished.pixmap)
        while self.used_bytes > self._limit_bytes and len(self._kept) > 1:
            _, oldest = self._kept.popitem(last=False)
            self.used_bytes -= _size_bytes(oldest.pixmap)

    def _follow(self, kept: _Finished, card: Card, picture: QPixmap | None, look: Look) -> None:
        """Bring a card up to date: words change far more often than the picture, which costs most."""
        if picture is None or kept.card.is_missing != card.is_missing:
            self._paint(kept.pixmap, card, picture, look)
        else:
            painter = _painter(kept.pixmap)
            paint_words(painter, _rect(kept.pixmap), self._ground, card, look)
            painter.end()
        kept.card = card

    def _paint(self, pixmap: QPixmap, card: Card, picture: QPixmap | None, look: Look) -> None:
        """Paint a card on its ground, over which letters keep the sharp edges that they lose over nothing."""
        pixmap.fill(self._ground)
        painter = _painter(pixmap)
        paint_card(painter, _rect(pixmap), card, picture, look)
        painter.end()


def _painter(pixmap: QPixmap) -> QPainter:
    painter = QPainter(pixmap)
    painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
    return painter


def _rect(pixmap: QPixmap) -> QRect:
    return QRect(QPoint(), pixmap.deviceIndependentSize().toSize())


def _size_bytes(picture: QPixmap) -> int:
    return picture.width() * picture.height() * _BYTES_PER_PIXEL
