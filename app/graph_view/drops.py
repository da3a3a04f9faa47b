"""Feedback of a drag over the drawing: highlights the target card, or the cycle it would make."""

from dataclasses import replace
from itertools import pairwise
from typing import final

from PySide6.QtCore import QPointF, QTimer
from PySide6.QtGui import QPainter

from app.class_requests import DropVerdict, judge_drop
from app.dragging import TICK_MS, Dragged, DraggedClasses, speed_at
from app.drops import LazyChip
from app.graph_view.drawing_painter import paint_lit_edges, paint_ring
from app.graph_view.sheet import GraphSheet
from app.texts import tr
from app.theme.tokens import tokens

SPRING_MS = 600  # as in the tree: long enough to pass over a card
# Frames before scrolling begins, so that drops on cards at the edge are possible.
PATIENCE = 15


@final
class CanvasDrops:
    """Tracks a drag over the drawing."""

    def __init__(self, sheet: GraphSheet) -> None:
        self._sheet = sheet
        self._chip = LazyChip(sheet)
        self._dragged: Dragged | None = None
        self._place = QPointF()
        self._is_link = False
        self.target: int | None = None  # row of the class under the drag
        # Rows of the classes that would form a cycle.
        self.refused: tuple[int, ...] = ()
        self._resting: int | None = None
        self._ticks = 0
        self._spring = QTimer(sheet, singleShot=True, interval=SPRING_MS)
        self._spring.timeout.connect(self._open)
        self._pushing = QTimer(sheet, interval=TICK_MS)
        self._pushing.timeout.connect(self._push)

    def look(self, dragged: Dragged, place: QPointF, *, is_link: bool) -> bool:
        """Show the effect of a drop at a point; True if it is accepted."""
        self._dragged, self._place, self._is_link = dragged, place, is_link
        sheet = self._sheet
        row, class_id, model = sheet.row_at(place), sheet.class_at(place), sheet.model
        verdict = (
            judge_drop(model.graph, dragged, class_id, is_link=is_link)
            if model.is_editable
            else DropVerdict()
        )
        self.target = row if verdict.is_taken else None
        self._show(verdict, dragged)
        self._rest_on(row)
        self._push_on(is_at_edge=any(self._speed()))
        return verdict.is_taken

    def look_under(self, dragged: DraggedClasses, parent_id: int, place: QPointF) -> bool:
        """Show the effect of linking the class at the pointer to a parent; True if possible."""
        graph, sheet = self._sheet.model.graph, self._sheet
        verdict = judge_drop(graph, dragged, parent_id, is_link=True)
        self._dragged, self._place = None, place
        self.target = sheet.row_at(place) if verdict.is_taken else None
        if verdict.is_taken:
            text = tr(
                "Add {1} as a parent of {2}",
                graph.shown_name(parent_id),
                graph.shown_name(dragged.places[0][0]),
            )
            verdict = replace(verdict, text=text)
        self._show(verdict, None)
        return verdict.is_taken

    def end(self) -> None:
        self._dragged, self.target, self.refused = None, None, ()
        self._rest_on(None)
        self._push_on(is_at_edge=False)
        self._chip.hide()
        self._sheet.update()

    def paint(self, painter: QPainter) -> None:
        colours, sheet = tokens().colours, self._sheet
        if self.target is not None:
            paint_ring(
                painter, sheet.body_of(self.target), colours.accent, width=2.5, is_filled=True
            )
        drawing = sheet.drawing
        ids = [int(drawing.ids[row]) for row in self.refused]
        edges = [drawing.edge_between(upper, lower) for upper, lower in pairwise(ids)]
        routes = [drawing.routes[edge] for edge in edges if edge is not None]
        if routes:
            paint_lit_edges(painter, routes, sheet.camera, colours.danger)
        for row in self.refused:
            paint_ring(painter, sheet.body_of(row), colours.danger, width=2.5, is_filled=True)

    def _show(self, verdict: DropVerdict, dragged: Dragged | None) -> None:
        rows = (self._sheet.drawing.row_of(class_id) for class_id in verdict.path)
        self.refused = tuple(row for row in rows if row is not None)
        place = self._sheet.mapToGlobal(self._place.toPoint())
        self._chip.show_message(
            verdict.text, place, dragged, is_refusal=verdict.refusal is not None
        )
        self._sheet.update()

    def _rest_on(self, row: int | None) -> None:
        if row != self._resting:
            self._resting = row
            self._spring.start() if row is not None else self._spring.stop()

    def _open(self) -> None:
        if self._resting is not None and self._sheet.look(self._resting).hidden:
            self._sheet.opened.emit(int(self._sheet.drawing.ids[self._resting]))
        self._resting = None

    def _speed(self) -> tuple[int, int]:
        """Scroll speed in logical pixels per frame."""
        place, sheet = self._place.toPoint(), self._sheet
        return -speed_at(place.x(), sheet.width()), -speed_at(place.y(), sheet.height())

    def _push_on(self, *, is_at_edge: bool) -> None:
        if not is_at_edge:
            self._ticks = 0
            self._pushing.stop()
        elif not self._pushing.isActive():
            self._pushing.start()

    def _push(self) -> None:
        self._ticks += 1
        if self._ticks < PATIENCE:
            return
        self._sheet.pan(*self._speed())
        if self._dragged is not None:
            self.look(self._dragged, self._place, is_link=self._is_link)
