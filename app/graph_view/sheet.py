"""Canvas of the drawing with selection and hit testing; the interaction is in `board`."""

from collections.abc import Iterable, Sequence
from typing import Final, final

import numpy as np
from PySide6.QtCore import QObject, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QHideEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from app.class_requests import ClassRequests
from app.graph_view.card import CardLook
from app.graph_view.drawing import Drawing, empty_drawing, first_row
from app.graph_view.drawing_painter import (
    card_body,
    card_rect,
    paint_chosen,
    paint_lit_edges,
    paint_ring,
)
from app.graph_view.model import GraphModel
from app.graph_view.picture import GraphPicture
from app.graph_view.viewport import Viewport
from app.images.thumbnails import Thumbnails
from app.signal_types import either
from app.theme.tokens import tokens

MOST_LIT: Final = 300  # highlighted edges of a class, at most


@final
class ChosenClasses(QObject):
    """The selected classes, and the current one among them."""

    changed = Signal()
    current_changed = Signal(either(int | None))  # id of the current class, or None

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._ids: dict[int, None] = {}
        self.current: int | None = None  # the class that keys act on

    @property
    def ids(self) -> tuple[int, ...]:
        return tuple(self._ids)

    def __contains__(self, class_id: int) -> bool:
        return class_id in self._ids

    def choose(self, class_id: int | None) -> None:
        self._set({} if class_id is None else {class_id: None}, class_id)

    def toggle(self, class_id: int) -> None:
        ids = dict(self._ids)
        if class_id in ids:
            del ids[class_id]
            self._set(ids, next(reversed(ids), None))
        else:
            self._set({**ids, class_id: None}, class_id)

    def choose_all(self, class_ids: Iterable[int], *, also: Iterable[int] = ()) -> None:
        ids = dict.fromkeys((*also, *class_ids))
        self._set(ids, self.current if self.current in ids else next(iter(ids), None))

    def keep_only(self, class_ids: Iterable[int]) -> None:
        kept = frozenset(class_ids)
        ids = {class_id: None for class_id in self._ids if class_id in kept}
        self._set(ids, self.current if self.current in ids else next(iter(ids), None))

    def _set(self, ids: dict[int, None], current: int | None) -> None:
        has_moved = current != self.current
        if ids.keys() == self._ids.keys() and not has_moved:
            return
        self._ids, self.current = ids, current
        self.changed.emit()
        if has_moved:
            self.current_changed.emit(current)


class GraphSheet(QWidget):
    """Abstract canvas: shows a drawing."""

    opened = Signal(int)  # a branch should be expanded or collapsed
    # Class whose neighbourhood should be shown, or None for all.
    focus_requested = Signal(either(int | None))
    looked = Signal()  # the view or the drawing changed
    drawn = Signal()

    def __init__(self, model: GraphModel, thumbnails: Thumbnails, requests: ClassRequests) -> None:
        super().__init__()
        self.model, self.requests = model, requests
        self.drawing: Drawing = empty_drawing()
        self.chosen = ChosenClasses(self)
        self.viewport = Viewport(self)
        self.picture = GraphPicture(model.look, model.weight, model.classes_with, thumbnails, self)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.viewport.moved.connect(self.update)
        self.viewport.moved.connect(self.looked)
        self.picture.has_news.connect(self.update)
        self.picture.finished.connect(self.looked)
        self.picture.motion.arrived.connect(self.looked)
        self.chosen.changed.connect(self.update)
        self.chosen.current_changed.connect(self._on_current_changed)

    @property
    def is_complete(self) -> bool:
        return not self.viewport.is_moving and self.picture.is_complete

    def show_drawing(
        self, drawing: Drawing, anchor: int | None, *, begins_at: int | None = None
    ) -> None:
        """Show a drawing; the class `anchor` keeps its position on the screen.

        Args:
            begins_at: current class, to set the view as for a first drawing.
        """
        is_first, shift = not len(self.drawing), _shift(self.drawing, drawing, anchor)
        self.drawing = drawing
        self.chosen.keep_only(drawing.ids.tolist())
        self.viewport.allow(drawing.bounds)
        self.viewport.shift(*shift)
        if is_first or begins_at is not None:
            self._begin(drawing, begins_at, at_once=is_first)
        self.picture.show(drawing, shift, is_calm=self.viewport.is_calm)
        self.drawn.emit()
        self.update()

    def _begin(self, drawing: Drawing, class_id: int | None, *, at_once: bool) -> None:
        row, first = None if class_id is None else drawing.row_of(class_id), first_row(drawing)
        if first is not None:
            chosen = None if row is None else drawing.box(row)
            self.viewport.begin(drawing.bounds, drawing.box(first), chosen, at_once=at_once)

    def fit(self, *, at_once: bool = False) -> None:
        if len(self.drawing):
            self.viewport.fit(self.drawing.bounds, at_once=at_once)

    def steady_class(self, after: Drawing) -> int | None:
        """Choose an anchor: a visible class that moves like most of the others."""
        rows = self.drawing.rows_in(self.viewport.camera.seen(self.size_seen)).tolist()
        found = [(row, after.row_of(int(self.drawing.ids[row]))) for row in rows]
        pairs = np.array([pair for pair in found if pair[1] is not None], dtype=np.int64).reshape(
            -1, 2
        )
        if not len(pairs):
            return None
        moves = after.centres[pairs[:, 1]] - self.drawing.centres[pairs[:, 0]]
        usual = np.abs(moves - np.median(moves, axis=0)).sum(axis=1)
        return int(self.drawing.ids[pairs[int(np.argmin(usual)), 0]])

    def show_class(self, class_id: int) -> None:
        if (row := self.drawing.row_of(class_id)) is not None:
            self.viewport.bring_in(self.drawing.box(row))

    def fly_to(self, class_id: int) -> None:
        if (row := self.drawing.row_of(class_id)) is not None:
            self.viewport.fly_to(self.drawing.box(row))

    def centre(self, class_id: int) -> None:
        """Centre a class unless it is visible and readable."""
        row = self.drawing.row_of(class_id)
        if row is not None and not self.viewport.sees(self.drawing.box(row)):
            self.fly_to(class_id)

    def look(self, row: int) -> CardLook:
        return self.model.look(int(self.drawing.ids[row]))

    @property
    def size_seen(self) -> tuple[float, float]:
        return float(self.width()), float(self.height())

    def row_at(self, place: QPointF) -> int | None:
        x, y = self.viewport.camera.to_drawing(place.x(), place.y(), self.size_seen)
        row = self.drawing.row_at(x, y)
        return (
            row
            if row is not None and self.rect_of(row).adjusted(-3, -3, 3, 3).contains(place)
            else None
        )

    def class_at(self, place: QPointF) -> int | None:
        row = self.row_at(place)
        return None if row is None else int(self.drawing.ids[row])

    def rect_of(self, row: int) -> QRectF:
        return card_rect(self.picture.motion.drawing, row, self.viewport.camera, self.size_seen)

    def body_of(self, row: int) -> QRectF:
        """Rectangle of a class's card, without the edges below a collapsed branch."""
        return card_body(self.rect_of(row), is_closed=bool(self.drawing.hidden[row]))

    def rows_in(self, band: QRectF) -> Sequence[int]:
        camera, size = self.viewport.camera, self.size_seen
        left, top = camera.to_drawing(band.left(), band.top(), size)
        right, bottom = camera.to_drawing(band.right(), band.bottom(), size)
        rows: list[int] = self.drawing.rows_in((left, top, right, bottom)).tolist()
        return [row for row in rows if self.rect_of(row).intersects(band)]

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        self.picture.paint(painter, self.viewport, self.size_seen)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if not self.picture.motion.is_going_on:
            self._paint_lit_edges(painter)
        self._paint_chosen(painter)
        self.paint_over(painter)
        painter.end()

    def paint_over(self, painter: QPainter) -> None:
        """Paint feedback of the interaction on top."""

    def _paint_lit_edges(self, painter: QPainter) -> None:
        current = None if self.chosen.current is None else self.drawing.row_of(self.chosen.current)
        if current is not None:
            edges = self.drawing.edges_of(current, self.viewport.camera.seen(self.size_seen))[
                :MOST_LIT
            ]
            routes = [self.drawing.routes[edge] for edge in edges.tolist()]
            paint_lit_edges(
                painter, routes, self.viewport.camera, self.size_seen, tokens().colours.accent
            )

    def _paint_chosen(self, painter: QPainter) -> None:
        if not self.chosen.ids:
            return
        colour, drawing = tokens().colours.accent, self.drawing
        seen = drawing.rows_in(self.viewport.camera.seen(self.size_seen))
        others = (row for row in seen.tolist() if int(drawing.ids[row]) in self.chosen)
        current = None if self.chosen.current is None else drawing.row_of(self.chosen.current)
        paint_chosen(painter, [self.body_of(row) for row in others if row != current], colour)
        if current is not None:
            paint_ring(painter, self.body_of(current), colour, width=2.5)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.viewport.view = self.size_seen
        super().resizeEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:
        self.picture.rest()
        super().hideEvent(event)

    def _on_current_changed(self, class_id: int | None) -> None:
        self.setAccessibleDescription("" if class_id is None else self.model.words(class_id))


def _shift(before: Drawing, after: Drawing, anchor: int | None) -> tuple[float, float]:
    old = None if anchor is None else before.row_of(anchor)
    new = None if anchor is None else after.row_of(anchor)
    if old is None or new is None:
        return 0.0, 0.0
    dx, dy = (after.centres[new] - before.centres[old]).tolist()
    return dx, dy
