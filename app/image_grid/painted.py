"""Paints the visible cards, and maps points to the cards that were painted there.

A press refers to the painted card, even if the model changed since.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPoint, QRect
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractItemView

from app.image_grid.card import CardPlace, FinishedCards, Look, chip_rect
from app.image_grid.card_words import Card
from app.image_grid.folded import NO_IMAGES, ShownImages
from app.image_grid.geometry import GridGeometry
from app.image_grid.model import ImageGridModel
from app.images.pixels import on_pixels
from app.images.thumbnails import Thumbnails
from engine.file_parts import ImageSource


@dataclass(frozen=True, eq=False)
class _Frame:
    """Layout of the last painted frame."""

    shown: ShownImages
    geometry: GridGeometry
    offset: int  # scroll offset of the viewport

    def id_at(self, point: QPoint) -> int | None:
        place = self.geometry.place_at(point.x(), point.y() + self.offset)
        return None if place is None else int(self.shown.at(slice(place, place + 1))[0])


_NO_FRAME = _Frame(NO_IMAGES, GridGeometry(1, 1, 0), 0)


@final
class PaintedCards(QObject):
    """Paints the cards of a view, and tracks the pressed card."""

    def __init__(
        self,
        view: QAbstractItemView,
        model: ImageGridModel,
        thumbnails: Thumbnails,
        geometry: Callable[[], GridGeometry],
    ) -> None:
        super().__init__(view)
        self._view, self._model, self._geometry = view, model, geometry
        self._thumbnails = thumbnails
        self._finished = FinishedCards()
        self._frame = _NO_FRAME
        self._pressed_id: int | None = None
        view.installEventFilter(self)

    def forget(self) -> None:
        """Clear the cache of rendered cards."""
        self._finished = FinishedCards()

    def paint(
        self,
        painter: QPainter,
        event: QPaintEvent,
        look_of: Callable[[int], Look],
        picture_of: Callable[[Card], ImageSource],
    ) -> bool:
        """Paint the exposed cards.

        Returns:
            Whether the aspect ratio of the frames can be decided.
        """
        viewport, geometry, offset = (
            self._view.viewport(),
            self._geometry(),
            self._view.verticalScrollBar().value(),
        )
        self._frame = _Frame(self._model.shown, geometry, offset)
        ratio = viewport.devicePixelRatioF()
        self._finished.apply_look(viewport.palette().color(viewport.backgroundRole()), ratio)
        in_sight, are_all_there = set(), True
        places = geometry.places_between(offset, offset + viewport.height())
        # The latest request is loaded first, so the top is requested last.
        for place in reversed(places):
            rect = geometry.rect(place).translated(0, -offset)
            if not event.region().intersects(rect):
                continue
            card = self._model.card(place)
            in_sight.add(source := picture_of(card))
            picture = self._thumbnails.pixmap(
                source, geometry.picture_side, ratio, is_fleeting=True
            )
            are_all_there &= picture is not None or self._thumbnails.has_failed(source)
            finished = self._finished.of(card, picture, look_of(place), rect.size())
            painter.drawPixmap(on_pixels(rect.topLeft(), ratio), finished)
        if event.rect() != viewport.rect():
            return False
        self._thumbnails.keep_only(in_sight)
        return self._thumbnails.shape.is_due(are_all_there=are_all_there)

    def chip(self, card: Card, rect: QRect) -> QRect:
        """Rectangle of a card's count badge; empty without one."""
        geometry, ratio = self._geometry(), self._view.devicePixelRatioF()
        picture = self._thumbnails.pixmap(
            card.source, geometry.picture_side, ratio, is_fleeting=True
        )
        return chip_rect(CardPlace(rect, geometry.caption), card, picture) if card.chip else QRect()

    def press(self, point: QPoint) -> QModelIndex:
        """Index of the card painted at a point; invalid between cards, or if it was removed."""
        frame, now = self._frame, (self._geometry(), self._view.verticalScrollBar().value())
        is_same = frame.shown.is_same(self._model.shown) and (frame.geometry, frame.offset) == now
        if is_same or not len(frame.shown):
            index = self._view.indexAt(point)
            self._pressed_id = self._model.id_at(index.row()) if index.isValid() else None
            return index
        self._pressed_id = frame.id_at(point)
        return self.pressed

    @property
    def pressed(self) -> QModelIndex:
        """Index of the last pressed card, for a double click after the cards were sorted."""
        row = None if self._pressed_id is None else self._model.row_of(self._pressed_id)
        return QModelIndex() if row is None else self._model.index(row)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Forget the frame when the view is hidden."""
        if event.type() == QEvent.Type.Hide:
            self._frame = _NO_FRAME
        return super().eventFilter(watched, event)
