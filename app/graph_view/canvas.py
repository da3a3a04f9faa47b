"""What hands do with the drawing: mouse, wheel, touchpad and keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import (
    QContextMenuEvent,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QNativeGestureEvent,
    QPainter,
    QWheelEvent,
)
from PySide6.QtWidgets import QToolTip, QWidget

from app.dragging import DraggedClasses, DraggedImages, is_link, read_dragged
from app.graph_view.drops import CanvasDrops
from app.graph_view.keys import press_key
from app.graph_view.pointer import GraphPointer
from app.graph_view.sheet import GraphSheet
from app.texts import plain_tip

if TYPE_CHECKING:
    from app.graph_view.model import GraphModel
    from app.images.thumbnails import Thumbnails


@final
class GraphCanvas(GraphSheet):
    """The drawing, in hands."""

    def __init__(self, model: GraphModel, thumbnails: Thumbnails, parent: QWidget | None = None) -> None:
        super().__init__(model, thumbnails, parent)
        self.drops = CanvasDrops(self)
        self.pointer = GraphPointer(self, self.drops)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setAcceptDrops(True)

    def paint_over(self, painter: QPainter) -> None:
        self.pointer.paint(painter)
        self.drops.paint(painter)

    # -- what is dragged here

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        event.accept()

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        dragged = read_dragged(event.mimeData())
        if dragged is not None and self.drops.look(dragged, event.position(), is_link=is_link(event)):
            event.accept()
        else:
            event.ignore()

    def dragLeaveEvent(self, _event: QDragLeaveEvent) -> None:
        self.drops.end()

    def dropEvent(self, event: QDropEvent) -> None:
        dragged, class_id = read_dragged(event.mimeData()), self.class_at(event.position())
        is_taken = dragged is not None and self.drops.look(dragged, event.position(), is_link=is_link(event))
        self.drops.end()
        if dragged is None or not is_taken:
            event.ignore()
            return
        event.accept()
        if isinstance(dragged, DraggedClasses):
            self.classes_dropped.emit(dragged.places, class_id, is_link(event))
        elif isinstance(dragged, DraggedImages):
            self.images_dropped.emit(class_id, dragged.image_ids)
        elif class_id is not None:
            self.files_dropped.emit(class_id, dragged.paths)

    # -- hands

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.pointer.press(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.pointer.move(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self.pointer.release(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.pointer.press_twice(event)

    def leaveEvent(self, event: QEvent) -> None:
        self.pointer.leave()
        super().leaveEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom at the pointer; on a touchpad two fingers push, and with Ctrl they zoom."""
        place = event.position()
        is_push = not event.pixelDelta().isNull() and not event.modifiers() & Qt.KeyboardModifier.ControlModifier
        if is_push:
            self.viewport.push(event.pixelDelta().x(), event.pixelDelta().y())
        else:
            self.viewport.turn_wheel(event.angleDelta().y(), (place.x(), place.y()))
        event.accept()

    def event(self, event: QEvent) -> bool:
        """Zoom as two fingers pinch; Delete is meant for what is chosen here, be it an edge or a thousand classes."""
        if _is_delete_wanted(event):
            event.accept()
            return True
        if isinstance(event, QHelpEvent):
            self._tell_of_class(event)
            return True
        if isinstance(event, QNativeGestureEvent):
            if event.gestureType() == Qt.NativeGestureType.ZoomNativeGesture:
                place = event.position()
                self.viewport.pinch(1 + event.value(), (place.x(), place.y()))
                return True
            if event.gestureType() == Qt.NativeGestureType.EndNativeGesture:
                self.viewport.rest()
                return True
        return super().event(event)

    def _tell_of_class(self, event: QHelpEvent) -> None:
        class_id = self.class_at(QPointF(event.pos()))
        if class_id is None:
            QToolTip.hideText()
        else:
            QToolTip.showText(event.globalPos(), plain_tip(self.model.tip(class_id)), self)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not press_key(self, self.pointer, event):
            super().keyPressEvent(event)

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        """Space was let go: it opens a branch, unless the drawing was pushed with it."""
        if event.key() == Qt.Key.Key_Space and not event.isAutoRepeat():
            self.pointer.let_space_go()
        else:
            super().keyReleaseEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Ask for the menu of what is chosen: at the pointer, or at the current class when a key asks."""
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            row = None if self.chosen.current is None else self.drawing.row_of(self.chosen.current)
            place = QPointF(self.rect().center()) if row is None else self.rect_of(row).center()
        else:
            place = QPointF(event.pos())
        self.menu_requested.emit(self.class_at(place), self.mapToGlobal(place.toPoint()))


def _is_delete_wanted(event: QEvent) -> bool:
    """Whether Delete was pressed, before it is taken for the shortcut of an action."""
    is_early = event.type() == QEvent.Type.ShortcutOverride
    return is_early and isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Delete
