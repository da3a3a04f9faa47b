"""Mouse interaction of the drawing: selecting, panning, rubber band, and expanding branches."""

from enum import Enum, auto
from typing import Final, final

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QMouseEvent, QPainter
from PySide6.QtWidgets import QApplication

from app.class_requests import drag_classes
from app.dragging import DraggedClasses, paint_rubber_band
from app.graph_view.card import Detail, detail_at, foot_of
from app.graph_view.drawing import CARD_WIDTH
from app.graph_view.drawing_painter import PORT, paint_drawn_edge, paint_port, paint_ring, port_of
from app.graph_view.drops import CanvasDrops
from app.graph_view.edge_pointer import EdgePointer
from app.graph_view.sheet import GraphSheet
from app.theme.tokens import tokens

# Card width in logical pixels from which on the handle for drawing edges is shown.
PORT_FROM: Final = 60.0
_LEFT: Final = Qt.MouseButton.LeftButton
_MIDDLE: Final = Qt.MouseButton.MiddleButton


class _Doing(Enum):
    """Current action of the pressed button."""

    NOTHING = auto()
    WAITING = auto()  # on a class; may become a drag
    PUSHING = auto()
    LINKING = auto()
    BANDING = auto()


@final
class GraphPointer:
    """Handles the mouse over a canvas."""

    def __init__(self, canvas: GraphSheet, drops: CanvasDrops) -> None:
        self._canvas, self._drops = canvas, drops
        self._doing = _Doing.NOTHING
        self._start = self._last = QPointF()
        self._kept: tuple[int, ...] = ()
        self._is_space_down = self._has_pushed = False
        self.edges = EdgePointer(canvas)
        self.band: QRectF | None = None
        self.hovered: int | None = None  # row of the hovered class
        self._from: int | None = None  # row of the class where a drawn edge starts
        self._end: QPointF | None = None

    def press(self, event: QMouseEvent) -> None:
        self._start = self._last = event.position()
        self._canvas.setFocus(Qt.FocusReason.MouseFocusReason)
        row = self._canvas.row_at(event.position())
        if event.button() == _MIDDLE or (event.button() == _LEFT and self._is_space_down):
            self._doing = _Doing.PUSHING
            self._canvas.setCursor(Qt.CursorShape.ClosedHandCursor)
        elif event.button() == _LEFT and self._port_at(event.position()) is not None:
            self._doing, self._from = _Doing.LINKING, self._port_at(event.position())
        elif event.button() == _LEFT and row is not None:
            self._press_class(row, event)
        elif event.button() == _LEFT and self.edges.choose():
            return
        elif event.button() == _LEFT:
            self._doing = _Doing.BANDING
            self._kept = self._canvas.chosen.ids if is_adding(event) else ()
        elif event.button() == Qt.MouseButton.RightButton and row is not None:
            class_id = int(self._canvas.drawing.ids[row])
            if class_id not in self._canvas.chosen:
                self._canvas.chosen.choose(class_id)

    def _press_class(self, row: int, event: QMouseEvent) -> None:
        class_id, canvas = int(self._canvas.drawing.ids[row]), self._canvas
        if self._is_on_foot(row, event.position()):
            canvas.chosen.choose(class_id)
            canvas.opened.emit(class_id)
            return
        self._doing = _Doing.WAITING
        if not is_adding(event) and class_id not in canvas.chosen:
            canvas.chosen.choose(class_id)

    def press_twice(self, event: QMouseEvent) -> None:
        class_id = self._canvas.class_at(event.position())
        if event.button() == _LEFT and class_id is not None and not is_adding(event):
            has_children = bool(self._canvas.model.graph.children(class_id))
            (self._canvas.opened if has_children else self._canvas.requests.images_requested).emit(
                class_id
            )
        else:
            self.press(event)

    def move(self, event: QMouseEvent) -> None:
        place = event.position()
        if self._doing is _Doing.PUSHING:
            step = place - self._last
            self._has_pushed = True
            self._canvas.viewport.push(step.x(), step.y())
        elif self._doing is _Doing.BANDING:
            self._stretch_band(place)
        elif self._doing is _Doing.WAITING and has_gone(self._start, place):
            self._take_along()
        elif self._doing is _Doing.LINKING:
            self._draw_edge(place)
        elif self._doing is _Doing.NOTHING:
            self._hover(place)
        self._last = place

    def release(self, event: QMouseEvent) -> None:
        canvas, was = self._canvas, self._doing
        self._doing = _Doing.NOTHING
        if was is _Doing.PUSHING:
            self._show_hand()
        elif was is _Doing.BANDING and self.band is None and not self._kept:
            canvas.chosen.choose(None)
        elif was is _Doing.WAITING:
            class_id, chosen = canvas.class_at(self._start), canvas.chosen
            chosen.toggle(class_id) if class_id is not None and is_adding(event) else chosen.choose(
                class_id
            )
        elif was is _Doing.LINKING:
            self._end_edge(event.position())
        self.band = None
        canvas.update()

    def leave(self) -> None:
        self._light(None)
        self.edges.hover(None)

    def hold_space(self) -> None:
        self._is_space_down, self._has_pushed = True, False
        self._show_hand()

    def let_space_go(self) -> None:
        """Toggle the current branch, unless the drawing was panned meanwhile."""
        is_press = self._is_space_down and not self._has_pushed
        self._is_space_down = False
        self._show_hand()
        if is_press and self._canvas.chosen.current is not None:
            self._canvas.opened.emit(self._canvas.chosen.current)

    def _take_along(self) -> None:
        """Drag the selected classes, or only the pressed one; returns after the drop."""
        canvas, pressed = self._canvas, self._canvas.class_at(self._start)
        self._doing = _Doing.NOTHING
        if pressed is None or not canvas.model.is_editable:
            return
        ids = canvas.chosen.ids if pressed in canvas.chosen else (pressed,)
        drag_classes(
            canvas, tuple(canvas.model.place_of(class_id) for class_id in ids), canvas.model.graph
        )
        self._drops.end()

    def _port_at(self, place: QPointF) -> int | None:
        row, canvas = self._port_row(), self._canvas
        if row is None:
            return None
        gap = place - port_of(canvas.body_of(row))
        return row if gap.manhattanLength() <= 2 * PORT else None

    def _port_row(self) -> int | None:
        """Row of the class that shows its handle: the hovered one, else the current one."""
        canvas = self._canvas
        if not canvas.model.is_editable or CARD_WIDTH * canvas.viewport.camera.scale < PORT_FROM:
            return None
        if self.hovered is not None and self.hovered < len(canvas.drawing):
            return self.hovered
        return (
            None if canvas.chosen.current is None else canvas.drawing.row_of(canvas.chosen.current)
        )

    def _draw_edge(self, place: QPointF) -> None:
        canvas, child = self._canvas, self._canvas.class_at(place)
        self._end = place
        if child is None or self._from is None:
            self._drops.end()
        else:
            parent = int(canvas.drawing.ids[self._from])
            self._drops.look_under(DraggedClasses((canvas.model.place_of(child),)), parent, place)
        canvas.update()

    def _end_edge(self, place: QPointF) -> None:
        """Finish a drawn edge: link its end, or request a new class if it ends in empty space."""
        canvas, child = self._canvas, self._canvas.class_at(place)
        parent = None if self._from is None else int(canvas.drawing.ids[self._from])
        is_taken = self._drops.target is not None
        self._from = self._end = None
        self._drops.end()
        if parent is None or not has_gone(self._start, place):
            return
        if child is None:
            canvas.requests.create_requested.emit(parent)
        elif is_taken:
            canvas.requests.classes_dropped.emit((canvas.model.place_of(child),), parent, True)

    def _show_hand(self) -> None:
        if self._is_space_down:
            self._canvas.setCursor(Qt.CursorShape.OpenHandCursor)
        else:
            self._canvas.unsetCursor()

    def _stretch_band(self, place: QPointF) -> None:
        if self.band is None and not has_gone(self._start, place):
            return
        self.band = QRectF(self._start, place).normalized()
        ids = self._canvas.drawing.ids
        self._canvas.chosen.choose_all(
            (int(ids[row]) for row in self._canvas.rows_in(self.band)), also=self._kept
        )
        self._canvas.update()

    def _is_on_foot(self, row: int, place: QPointF) -> bool:
        canvas = self._canvas
        look = canvas.look(row)
        if (
            not (look.hidden or look.is_open)
            or detail_at(canvas.viewport.camera.scale) is not Detail.NAMED
        ):
            return False
        foot = foot_of(canvas.rect_of(row)).adjusted(0, -2, 0, 2)
        if not look.hidden:
            foot.setLeft(foot.right() - 2 * foot.height())
        return foot.contains(place)

    def _hover(self, place: QPointF) -> None:
        row = self._canvas.row_at(place)
        if row is None:
            row = self._port_at(place)
        self._light(row)
        self.edges.hover(place if row is None and not self._is_space_down else None)
        shape = Qt.CursorShape.ArrowCursor
        if self._port_at(place) is not None:
            shape = Qt.CursorShape.CrossCursor
        elif row is not None and self._is_on_foot(row, place):
            shape = Qt.CursorShape.PointingHandCursor
        if not self._is_space_down:
            self._canvas.setCursor(shape)

    def _light(self, row: int | None) -> None:
        if row != self.hovered:
            self.hovered = row
            self._canvas.update()

    def paint(self, painter: QPainter) -> None:
        self.edges.paint(painter)
        if self.band is not None:
            paint_rubber_band(painter, self.band.toRect())
        canvas, row = self._canvas, self.hovered
        port = self._from if self._from is not None else self._port_row()
        if port is not None and self._doing in (_Doing.NOTHING, _Doing.LINKING):
            knob = port_of(canvas.body_of(port))
            if self._end is not None:
                colours = tokens().colours
                paint_drawn_edge(
                    painter,
                    knob,
                    self._end,
                    colours.danger if self._drops.refused else colours.accent,
                )
            paint_port(painter, knob, is_held=self._from is not None)
        if (
            row is not None
            and row < len(canvas.drawing)
            and int(canvas.drawing.ids[row]) not in canvas.chosen
        ):
            paint_ring(painter, canvas.body_of(row), tokens().colours.text_muted, width=1.5)


def is_adding(event: QMouseEvent) -> bool:
    keys = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    return bool(event.modifiers() & keys)


def has_gone(start: QPointF, place: QPointF) -> bool:
    return (place - start).manhattanLength() >= QApplication.startDragDistance()
