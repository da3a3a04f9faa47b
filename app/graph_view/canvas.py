"""Canvas of the class graph with its mouse gestures, keys and drops."""

from enum import Enum, auto
from typing import final

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt
from PySide6.QtGui import (
    QContextMenuEvent,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QWheelEvent,
)
from PySide6.QtWidgets import QApplication, QToolTip

from app.class_requests import ClassRequests, drag_classes
from app.dragging import DraggedClasses, is_link, paint_rubber_band, read_dragged
from app.graph_view.card import Detail, detail_at, footer_of
from app.graph_view.drawing import CARD_WIDTH
from app.graph_view.drawing_painter import PORT, paint_drawn_edge, paint_port, paint_ring, port_of
from app.graph_view.drops import CanvasDrops
from app.graph_view.edge_pointer import EdgePointer
from app.graph_view.keys import press_key
from app.graph_view.model import GraphModel
from app.graph_view.sheet import GraphSheet
from app.images.thumbnails import Thumbnails
from app.texts import plain_tip
from app.theme.tokens import tokens

# Card width in logical pixels from which on the handle for drawing edges is shown.
PORT_FROM = 60.0
WHEEL_UNITS = 60.0  # `QWheelEvent.angleDelta` per zoom step: a usual notch is two steps
_LEFT = Qt.MouseButton.LeftButton
_CONTROL = Qt.KeyboardModifier.ControlModifier
_SHIFT = Qt.KeyboardModifier.ShiftModifier


class _Gesture(Enum):
    """What the pressed button does."""

    NONE = auto()
    CLASS = auto()  # selects a class, or drags it
    LINK = auto()
    BAND = auto()


@final
class GraphCanvas(GraphSheet):
    """Interactive canvas of the class graph."""

    def __init__(self, model: GraphModel, thumbnails: Thumbnails, requests: ClassRequests) -> None:
        super().__init__(model, thumbnails, requests)
        self.drops = CanvasDrops(self)
        self.edges = EdgePointer(self)
        self._gesture = _Gesture.NONE
        self._start = QPointF()
        self._turned = 0.0  # steps of the wheel that are not carried out yet
        self._band: QRectF | None = None
        self._also: tuple[int, ...] = ()  # classes that a rubber band adds to
        self._hovered: int | None = None  # row
        self._link_from: int | None = None  # row where a drawn edge starts
        self._link_end: QPointF | None = None
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAcceptDrops(True)

    # -- mouse

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        super().mousePressEvent(event)

    def on_press(self, event: QMouseEvent) -> None:
        self._start = place = event.position()
        class_id, port = self.class_at(place), self._port_at(place)
        if event.button() == Qt.MouseButton.RightButton:
            if class_id is not None and class_id not in self.chosen:
                self.chosen.choose(class_id)
        elif event.button() != _LEFT:
            return
        elif port is not None:
            self._gesture, self._link_from = _Gesture.LINK, port
        elif class_id is not None:
            self._press_class(class_id, event)
        elif not self.edges.choose():
            self._gesture = _Gesture.BAND
            self._also = self.chosen.ids if is_adding(event) else ()

    def _press_class(self, class_id: int, event: QMouseEvent) -> None:
        if self._is_on_footer(event.position()):
            self.chosen.choose(class_id)
            self.opened.emit(class_id)
            return
        self._gesture = _Gesture.CLASS
        if not is_adding(event) and class_id not in self.chosen:
            self.chosen.choose(class_id)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Expand or collapse a branch, or show the images of a class without children."""
        class_id = self.class_at(event.position())
        if event.button() != _LEFT or class_id is None or is_adding(event):
            self.mousePressEvent(event)
        elif self.model.graph.children(class_id):
            self.opened.emit(class_id)
        else:
            self.requests.images_requested.emit(class_id)

    def on_move(self, event: QMouseEvent) -> None:
        place = event.position()
        if self._gesture is _Gesture.BAND:
            self._stretch_band(place)
        elif self._gesture is _Gesture.CLASS and has_gone(self._start, place):
            self._drag_classes()
        elif self._gesture is _Gesture.LINK:
            self._draw_edge(place)
        elif self._gesture is _Gesture.NONE:
            self._hover(place)

    def on_release(self, event: QMouseEvent) -> None:
        gesture, self._gesture = self._gesture, _Gesture.NONE
        if gesture is _Gesture.BAND and self._band is None and not self._also:
            self.chosen.choose(None)
        elif gesture is _Gesture.CLASS:
            class_id = self.class_at(self._start)
            if class_id is not None and is_adding(event):
                self.chosen.toggle(class_id)
            else:
                self.chosen.choose(class_id)
        elif gesture is _Gesture.LINK:
            self._end_edge(event.position())
        self._band = None
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        self._set_hovered(None)
        self.edges.hover(None)
        super().leaveEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom at the pointer; on a touchpad two fingers pan, and zoom with Ctrl."""
        pixels = event.pixelDelta()
        event.accept()
        if not pixels.isNull() and not event.modifiers() & _CONTROL:
            self.pan(pixels.x(), pixels.y())
            return
        self._turned += event.angleDelta().y() / WHEEL_UNITS
        if steps := round(self._turned):
            self._turned -= steps
            self.zoom(steps, event.position())

    def _drag_classes(self) -> None:
        """Drag the selected classes, or only the pressed one; returns after the drop."""
        pressed = self.class_at(self._start)
        self._gesture = _Gesture.NONE
        if pressed is None or not self.model.is_editable:
            return
        ids = self.chosen.ids if pressed in self.chosen else (pressed,)
        drag_classes(self, tuple(map(self.model.place_of, ids)), self.model.graph)
        self.drops.end()

    def _stretch_band(self, place: QPointF) -> None:
        if self._band is None and not has_gone(self._start, place):
            return
        self._band = QRectF(self._start, place).normalized()
        ids = self.drawing.ids[self.rows_in(self._band)].tolist()
        self.chosen.choose_all(ids, also=self._also)
        self.update()

    # -- edges drawn from the handle of a class

    def _port_at(self, place: QPointF) -> int | None:
        row = self._port_row()
        if row is None:
            return None
        gap = place - port_of(self.body_of(row))
        return row if gap.manhattanLength() <= 2 * PORT else None

    def _port_row(self) -> int | None:
        """Row of the class that shows its handle: the hovered one, else the current one."""
        if not self.model.is_editable or CARD_WIDTH * self.camera.scale < PORT_FROM:
            return None
        return self.current_row if self.hovered is None else self.hovered

    def _draw_edge(self, place: QPointF) -> None:
        child = self.class_at(place)
        self._link_end = place
        if child is None or self._link_from is None:
            self.drops.end()
        else:
            parent = int(self.drawing.ids[self._link_from])
            self.drops.look_under(DraggedClasses((self.model.place_of(child),)), parent, place)
        self.update()

    def _end_edge(self, place: QPointF) -> None:
        """Finish a drawn edge: link its end, or request a new class if it ends in empty space."""
        child = self.class_at(place)
        parent = None if self._link_from is None else int(self.drawing.ids[self._link_from])
        is_taken = self.drops.target is not None
        self._link_from = self._link_end = None
        self.drops.end()
        if parent is None or not has_gone(self._start, place):
            return
        if child is None:
            self.requests.create_requested.emit(parent)
        elif is_taken:
            self.requests.classes_dropped.emit((self.model.place_of(child),), parent, True)

    # -- hovering

    @property
    def hovered(self) -> int | None:
        """Row of the hovered class, if it is still drawn."""
        is_drawn = self._hovered is not None and self._hovered < len(self.drawing)
        return self._hovered if is_drawn else None

    def _is_on_footer(self, place: QPointF) -> bool:
        """Whether a point is on the line that expands or collapses a branch."""
        row = self.row_at(place)
        if row is None or detail_at(self.camera.scale) is not Detail.NAMED:
            return False
        look, footer = self.look(row), footer_of(self.rect_of(row)).adjusted(0, -2, 0, 2)
        if not look.hidden:
            footer.setLeft(footer.right() - 2 * footer.height())
        return bool(look.hidden or look.is_open) and footer.contains(place)

    def _hover(self, place: QPointF) -> None:
        row = self.row_at(place)
        if row is None:
            row = self._port_at(place)
        self._set_hovered(row)
        self.edges.hover(place if row is None and not self.is_space_down else None)
        if self.is_space_down:
            return
        if self._port_at(place) is not None:
            self.setCursor(Qt.CursorShape.CrossCursor)
        elif self._is_on_footer(place):
            self.setCursor(Qt.CursorShape.PointingHandCursor)
        else:
            self.setCursor(Qt.CursorShape.ArrowCursor)

    def _set_hovered(self, row: int | None) -> None:
        if row != self._hovered:
            self._hovered = row
            self.update()

    def paint_over(self, painter: QPainter) -> None:
        colours, row = tokens().colours, self.hovered
        self.edges.paint(painter)
        if self._band is not None:
            paint_rubber_band(painter, self._band.toRect())
        port = self._port_row() if self._link_from is None else self._link_from
        if port is not None and self._gesture in (_Gesture.NONE, _Gesture.LINK):
            knob = port_of(self.body_of(port))
            if self._link_end is not None:
                colour = colours.danger if self.drops.refused else colours.accent
                paint_drawn_edge(painter, knob, self._link_end, colour)
            paint_port(painter, knob, is_held=self._link_from is not None)
        if row is not None and int(self.drawing.ids[row]) not in self.chosen:
            paint_ring(painter, self.body_of(row), colours.text_muted, width=1.5)
        self.drops.paint(painter)

    # -- drops

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        event.accept()

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        event.setAccepted(self._is_taken(event))

    def dragLeaveEvent(self, _event: QDragLeaveEvent) -> None:
        self.drops.end()

    def dropEvent(self, event: QDropEvent) -> None:
        dragged, class_id = read_dragged(event.mimeData()), self.class_at(event.position())
        is_taken = self._is_taken(event)
        self.drops.end()
        event.setAccepted(is_taken)
        if dragged is not None and is_taken:
            self.requests.drop(dragged, class_id, is_link=is_link(event))

    def _is_taken(self, event: QDropEvent) -> bool:
        dragged = read_dragged(event.mimeData())
        return dragged is not None and self.drops.look(
            dragged, event.position(), is_link=is_link(event)
        )

    # -- keys, tool tips and menus

    def event(self, event: QEvent) -> bool:
        """Show tool tips, and claim Delete for the selection."""
        is_delete = isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Delete
        if is_delete and event.type() == QEvent.Type.ShortcutOverride:
            event.accept()
        elif isinstance(event, QHelpEvent):
            class_id = self.class_at(QPointF(event.pos()))
            text = "" if class_id is None else self.model.tip(class_id)
            QToolTip.showText(event.globalPos(), plain_tip(text), self)
        else:
            return super().event(event)
        return True

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Delete and self.edges.chosen is not None:
            parent_id, child_id = self.edges.chosen
            self.requests.unlink_requested.emit(((child_id, parent_id),))
        elif not press_key(self, event):
            super().keyPressEvent(event)

    def space_tapped(self) -> None:
        """Expand or collapse the current branch."""
        if self.chosen.current is not None:
            self.opened.emit(self.chosen.current)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Request the context menu at the pointer, or at the current class if opened by key."""
        place = QPointF(event.pos())
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            row = self.current_row
            place = (QRectF(self.rect()) if row is None else self.rect_of(row)).center()
        self.requests.menu_requested.emit(self.class_at(place), self.mapToGlobal(place.toPoint()))


def is_adding(event: QMouseEvent) -> bool:
    return bool(event.modifiers() & (_CONTROL | _SHIFT))


def has_gone(start: QPointF, place: QPointF) -> bool:
    return (place - start).manhattanLength() >= QApplication.startDragDistance()
