"""Canvas of the drawing with selection and hit testing; `canvas` adds the interaction."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import final

import numpy as np
from PySide6.QtCore import QObject, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QHideEvent, QPainter, QPaintEvent

from app.canvas.camera import Camera, Rect
from app.canvas.canvas import PanZoomCanvas
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
from app.graph_view.framing import (
    FIT_MARGIN,
    LARGEST_STEP,
    READABLE_STEP,
    bringing_in,
    fitting,
    kept_within,
    scale_of,
    step_near,
)
from app.graph_view.model import GraphModel
from app.graph_view.picture import GraphPicture
from app.images.thumbnails import Thumbnails
from app.signal_types import either
from app.theme.tokens import tokens

MOST_LIT = 300  # highlighted edges of a class, at most
ZOOM_MS = 140  # duration of a zoom step
FLIGHT_MS = 280  # duration of a flight to a class
MARGIN = 48.0  # logical pixels around the target of a flight


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


class GraphSheet(PanZoomCanvas):
    """Abstract canvas: shows a drawing."""

    opened = Signal(int)  # a branch should be expanded or collapsed
    # Class whose neighbourhood should be shown, or None for all.
    focus_requested = Signal(either(int | None))
    drawn = Signal()

    def __init__(self, model: GraphModel, thumbnails: Thumbnails, requests: ClassRequests) -> None:
        super().__init__()
        self.model, self.requests = model, requests
        self.drawing: Drawing = empty_drawing()
        self.covered = 0.0  # logical pixels at the top covered by other widgets
        self.chosen = ChosenClasses(self)
        self.picture = GraphPicture(model.look, model.weight, model.classes_with, thumbnails, self)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.picture.has_news.connect(self.update)
        self.chosen.changed.connect(self.update)
        self.chosen.current_changed.connect(self._on_current_changed)

    @property
    def is_complete(self) -> bool:
        return not self.is_moving and self.picture.is_complete

    # -- camera

    @property
    def fitting(self) -> Camera:
        return fitting(self.drawing.bounds, self.camera, covered=self.covered)

    @property
    def scale_limits(self) -> tuple[float, float]:
        """From slightly less than the scale that shows all."""
        return scale_of(step_near(self.fitting.scale) - 1), scale_of(LARGEST_STEP)

    @property
    def readable_room(self) -> tuple[float, float]:
        """Size of the view at the least readable scale, in drawing units."""
        scale = scale_of(READABLE_STEP)
        width = self.camera.width - 2 * FIT_MARGIN
        height = self.camera.height - self.covered - 2 * FIT_MARGIN
        return max(width, 1.0) / scale, max(height, 1.0) / scale

    def zoom(self, steps: float, at: QPointF | None = None) -> None:
        """Zoom in by steps around a point of the view, by default its centre."""
        least, most = self.scale_limits
        scale = scale_of(step_near(self.goal.scale) + round(steps))
        point = self.point_or_centre(at)
        self.animate_to(self.camera.zoomed(min(max(scale, least), most), point), ZOOM_MS)

    def end_pinch(self) -> None:
        """Settle on the nearest step."""
        self.animate_to(replace(self.camera, scale=scale_of(step_near(self.camera.scale))), ZOOM_MS)

    def fit(self) -> None:
        if len(self.drawing):
            self.animate_to(self.fitting, FLIGHT_MS)

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
        self.pan(-shift[0] * self.camera.scale, -shift[1] * self.camera.scale)
        first = first_row(drawing)
        if first is not None and (is_first or begins_at is not None):
            camera = self._first_camera(first, begins_at)
            self.set_camera(camera) if is_first else self.animate_to(camera, FLIGHT_MS)
        self.picture.show(drawing, shift, is_calm=self.is_calm)
        self.drawn.emit()
        self.update()

    def _first_camera(self, first: int, class_id: int | None) -> Camera:
        """Show all of the drawing if names are readable then.

        Else centre a class, or show the part that begins with the row `first`.
        """
        drawing, goal, scale = self.drawing, self.fitting, scale_of(READABLE_STEP)
        if goal.scale >= scale:
            return goal
        row = None if class_id is None else drawing.row_of(class_id)
        if row is not None:
            return self._centred(drawing.box(row), scale)
        start = self._centred(drawing.box(first), scale)
        return kept_within(start, drawing.bounds, covered=self.covered)

    def _centred(self, box: Rect, scale: float) -> Camera:
        return self.camera.centred(box, scale, covered=self.covered)

    def steady_class(self, after: Drawing) -> int | None:
        """Choose an anchor: a visible class that moves like most of the others."""
        rows = self.drawing.rows_in(self.camera.seen).tolist()
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
        """Move the camera as little as needed to show a class."""
        if (row := self.drawing.row_of(class_id)) is not None:
            goal = bringing_in(self.goal, self.drawing.box(row), MARGIN, covered=self.covered)
            if goal != self.goal:
                self.animate_to(goal, FLIGHT_MS)

    def fly_to(self, class_id: int) -> None:
        """Centre a class, at a scale where its name is readable."""
        if (row := self.drawing.row_of(class_id)) is not None:
            scale = max(self.goal.scale, scale_of(READABLE_STEP))
            self.animate_to(self._centred(self.drawing.box(row), scale), FLIGHT_MS)

    def centre(self, class_id: int) -> None:
        """Centre a class unless it is visible and readable."""
        if (row := self.drawing.row_of(class_id)) is None:
            return
        goal, box = self.goal, self.drawing.box(row)
        is_visible = bringing_in(goal, box, 0.0, covered=self.covered) == goal
        if not is_visible or step_near(goal.scale) < READABLE_STEP:
            self.fly_to(class_id)

    # -- hit testing

    def look(self, row: int) -> CardLook:
        return self.model.look(int(self.drawing.ids[row]))

    def row_at(self, place: QPointF) -> int | None:
        row = self.drawing.row_at(*self.camera.to_plane(place.x(), place.y()))
        if row is None or not self.rect_of(row).adjusted(-3, -3, 3, 3).contains(place):
            return None
        return row

    def class_at(self, place: QPointF) -> int | None:
        row = self.row_at(place)
        return None if row is None else int(self.drawing.ids[row])

    @property
    def current_row(self) -> int | None:
        """Row of the current class, if it is drawn."""
        return None if self.chosen.current is None else self.drawing.row_of(self.chosen.current)

    def rect_of(self, row: int) -> QRectF:
        return card_rect(self.picture.motion.drawing, row, self.camera)

    def body_of(self, row: int) -> QRectF:
        """Rectangle of a class's card, without the edges below a collapsed branch."""
        return card_body(self.rect_of(row), is_closed=bool(self.drawing.hidden[row]))

    def rows_in(self, band: QRectF) -> Sequence[int]:
        corner = self.camera.to_plane(band.left(), band.top())
        opposite = self.camera.to_plane(band.right(), band.bottom())
        rows: list[int] = self.drawing.rows_in((*corner, *opposite)).tolist()
        return [row for row in rows if self.rect_of(row).intersects(band)]

    # -- painting

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        self.picture.paint(painter, self.camera)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if not self.picture.motion.is_going_on:
            self._paint_lit_edges(painter)
        self._paint_chosen(painter)
        self.paint_over(painter)
        painter.end()

    def paint_over(self, painter: QPainter) -> None:
        """Paint feedback of the interaction on top."""

    def _paint_lit_edges(self, painter: QPainter) -> None:
        if self.current_row is not None:
            edges = self.drawing.edges_of(self.current_row, self.camera.seen)[:MOST_LIT]
            routes = [self.drawing.routes[edge] for edge in edges.tolist()]
            paint_lit_edges(painter, routes, self.camera, tokens().colours.accent)

    def _paint_chosen(self, painter: QPainter) -> None:
        if not self.chosen.ids:
            return
        colour, drawing, current = tokens().colours.accent, self.drawing, self.current_row
        seen = drawing.rows_in(self.camera.seen)
        others = (row for row in seen.tolist() if int(drawing.ids[row]) in self.chosen)
        paint_chosen(painter, [self.body_of(row) for row in others if row != current], colour)
        if current is not None:
            paint_ring(painter, self.body_of(current), colour, width=2.5)

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
