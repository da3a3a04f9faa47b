"""The edge under the pointer: it lights up, and says what is propagated over it; a click chooses it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

from PySide6.QtCore import QPoint, QPointF, QTimer
from PySide6.QtGui import QPainter

from app.graph_view.edge_hint import EdgeHint
from app.graph_view.marks import paint_lit_edges
from app.theme.tokens import tokens

if TYPE_CHECKING:
    from app.graph_view.sheet import GraphSheet

REACH: Final = 6.0  # logical pixels from an edge at which it is meant
REST_MS: Final = 250  # the pointer rests so long before an edge says something: who passes over is not told
BELOW: Final = QPoint(14, 16)  # from the pointer's tip to what is said

Ends = tuple[int, int]  # parent and child


@final
class EdgePointer:
    """Follows the pointer over edges."""

    def __init__(self, sheet: GraphSheet) -> None:
        self._sheet = sheet
        self.hovered: Ends | None = None
        self.chosen: Ends | None = None  # the edge that was clicked; Delete unlinks it
        self._hint: EdgeHint | None = None
        self._place = QPoint()
        self._timer = QTimer(sheet, singleShot=True, interval=REST_MS)
        self._timer.timeout.connect(self._say)
        sheet.chosen.changed.connect(self.let_go)
        sheet.viewport.moved.connect(self._leave)
        sheet.drawn.connect(self._leave)

    @property
    def hint(self) -> EdgeHint | None:
        """What is said of an edge, while it is said."""
        return self._hint if self._hint is not None and self._hint.isVisible() else None

    def hover(self, place: QPointF | None) -> None:
        """The pointer is here, and on no class; None where it is on no edge either way."""
        ends = None if place is None else self._at(place)
        if ends != self.hovered:
            self.hovered = ends
            self._sheet.update()
            self._hide()
        if ends is not None and place is not None and self.hint is None:
            self._place = place.toPoint()
            self._timer.start()

    def choose(self) -> bool:
        """Choose the edge under the pointer; whether there is one."""
        is_there = self.hovered is not None
        if is_there:
            self._sheet.chosen.choose(None)
        self.chosen = self.hovered
        self._sheet.update()
        return is_there

    def let_go(self) -> None:
        self.chosen = None

    def paint(self, painter: QPainter) -> None:
        drawing, sheet = self._sheet.drawing, self._sheet
        for ends in {self.hovered, self.chosen} - {None}:
            assert ends is not None
            edge = drawing.edge_between(*ends)
            if edge is not None:
                colour = tokens().colours.accent
                paint_lit_edges(painter, [drawing.routes[edge]], sheet.viewport.camera, sheet.size_seen, colour)

    def _leave(self) -> None:
        """The drawing is elsewhere, or another one: what is said goes with its edge."""
        if self.hovered is not None or self._timer.isActive():
            self.hover(None)

    def _at(self, place: QPointF) -> Ends | None:
        sheet = self._sheet
        x, y = sheet.viewport.camera.to_drawing(place.x(), place.y(), sheet.size_seen)
        edge = sheet.drawing.edge_near(x, y, REACH / sheet.viewport.camera.scale)
        if edge is None:
            return None
        drawing = sheet.drawing
        return int(drawing.ids[drawing.parents[edge]]), int(drawing.ids[drawing.children[edge]])

    def _say(self) -> None:
        if self.hovered is None or not self._sheet.isVisible():
            return
        if self._hint is None:
            self._hint = EdgeHint(self._sheet, self._sheet.picture.face)
        model, child = self._sheet.model, self.hovered[1]
        self._hint.say(model.edge_words(child), model.parent_shares(child), self._place + BELOW)

    def _hide(self) -> None:
        self._timer.stop()
        if self._hint is not None:
            self._hint.hide()
