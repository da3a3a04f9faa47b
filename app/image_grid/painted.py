"""Which card is seen at a place: a press means the one that was painted there, wherever newer rows have it by now."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, final

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPoint
from PySide6.QtWidgets import QAbstractItemView

from app.image_grid.folded import NO_IMAGES, ShownImages
from app.image_grid.geometry import GridGeometry
from app.image_grid.model import ImageGridModel


@dataclass(frozen=True, eq=False)
class _Frame:
    """Cards as they were painted."""

    shown: ShownImages
    geometry: GridGeometry
    offset: int  # of the viewport from the grid's top

    def id_at(self, point: QPoint) -> int | None:
        place = self.geometry.place_at(point.x(), point.y() + self.offset)
        return None if place is None else int(self.shown.at(slice(place, place + 1))[0])


_NO_FRAME: Final = _Frame(NO_IMAGES, GridGeometry(1, 1, 0), 0)


@final
class PaintedCards(QObject):
    """Knows the last frame of a view, and which card was pressed on it."""

    def __init__(self, view: QAbstractItemView, model: ImageGridModel, geometry: Callable[[], GridGeometry]) -> None:
        super().__init__(view)
        self._view, self._model, self._geometry = view, model, geometry
        self._frame = _NO_FRAME
        self._pressed_id: int | None = None
        view.installEventFilter(self)

    def note(self) -> None:
        """Cards are painted as they are now."""
        self._frame = _Frame(self._model.shown, self._geometry(), self._view.verticalScrollBar().value())

    def press(self, point: QPoint) -> QModelIndex:
        """The card that is seen at a place, wherever it is now; none between cards, and where it has left."""
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
        """The card that was pressed last: also a double click's, should cards have been sorted in between."""
        row = None if self._pressed_id is None else self._model.row_of(self._pressed_id)
        return QModelIndex() if row is None else self._model.index(row)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Nothing is seen of a hidden view."""
        if event.type() == QEvent.Type.Hide:
            self._frame = _NO_FRAME
        return super().eventFilter(watched, event)
