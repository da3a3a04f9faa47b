"""The interactive canvas of the class graph, and the board that connects it with the model."""

from typing import Final, final

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, Qt, QTimer, Signal
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
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QStyle, QToolTip, QWidget

from app.class_requests import ClassRequests
from app.controls import fill_column
from app.dragging import is_link, read_dragged
from app.graph_view.drawing import LaidOut, empty_drawing
from app.graph_view.drops import CanvasDrops
from app.graph_view.keys import press_key
from app.graph_view.model import GraphModel
from app.graph_view.overlays import MiniMap, ToolStrip
from app.graph_view.pointer import GraphPointer
from app.graph_view.sheet import GraphSheet
from app.images.thumbnails import Thumbnails
from app.mirroring import placed
from app.session import Session
from app.texts import plain_tip, tr
from app.theme.tokens import tokens

# Debounce: a rubber band changes the selection with each movement.
ANNOUNCED_MS: Final = 120
MOST_ANNOUNCED: Final = 200  # besides the current one; the tree shows no more


@final
class GraphCanvas(GraphSheet):
    """Interactive canvas of the class graph: mouse, keys and drops."""

    def __init__(self, model: GraphModel, thumbnails: Thumbnails, requests: ClassRequests) -> None:
        super().__init__(model, thumbnails, requests)
        self.drops = CanvasDrops(self)
        self.pointer = GraphPointer(self, self.drops)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setAcceptDrops(True)

    def paint_over(self, painter: QPainter) -> None:
        self.pointer.paint(painter)
        self.drops.paint(painter)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        event.accept()

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        dragged = read_dragged(event.mimeData())
        if dragged is not None and self.drops.look(
            dragged, event.position(), is_link=is_link(event)
        ):
            event.accept()
        else:
            event.ignore()

    def dragLeaveEvent(self, _event: QDragLeaveEvent) -> None:
        self.drops.end()

    def dropEvent(self, event: QDropEvent) -> None:
        dragged, class_id = read_dragged(event.mimeData()), self.class_at(event.position())
        is_taken = dragged is not None and self.drops.look(
            dragged, event.position(), is_link=is_link(event)
        )
        self.drops.end()
        if dragged is None or not is_taken:
            event.ignore()
            return
        event.accept()
        self.requests.drop(dragged, class_id, is_link=is_link(event))

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
        """Zoom at the pointer; on a touchpad two fingers pan, and zoom with Ctrl."""
        place, keys = event.position(), event.modifiers()
        if not event.pixelDelta().isNull() and not keys & Qt.KeyboardModifier.ControlModifier:
            self.viewport.push(event.pixelDelta().x(), event.pixelDelta().y())
        else:
            self.viewport.turn_wheel(event.angleDelta().y(), (place.x(), place.y()))
        event.accept()

    def event(self, event: QEvent) -> bool:
        """Handle pinch gestures and tool tips, and claim Delete for the selection."""
        gesture = event.gestureType() if isinstance(event, QNativeGestureEvent) else None
        if _is_delete_wanted(event):
            event.accept()
        elif isinstance(event, QHelpEvent):
            self._show_tip(event)
        elif (
            isinstance(event, QNativeGestureEvent)
            and gesture == Qt.NativeGestureType.ZoomNativeGesture
        ):
            place = event.position()
            self.viewport.pinch(1 + event.value(), (place.x(), place.y()))
        elif gesture == Qt.NativeGestureType.EndNativeGesture:
            self.viewport.rest()
        else:
            return super().event(event)
        return True

    def _show_tip(self, event: QHelpEvent) -> None:
        class_id = self.class_at(QPointF(event.pos()))
        text = "" if class_id is None else self.model.tip(class_id)
        QToolTip.showText(event.globalPos(), plain_tip(text), self)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not press_key(self, self.pointer, event):
            super().keyPressEvent(event)

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        """On release of Space, toggle the current branch unless the drawing was panned."""
        if event.key() == Qt.Key.Key_Space and not event.isAutoRepeat():
            self.pointer.let_space_go()
        else:
            super().keyReleaseEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Request the context menu at the pointer, or at the current class if opened by key."""
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            row = None if self.chosen.current is None else self.drawing.row_of(self.chosen.current)
            place = QPointF(self.rect().center()) if row is None else self.rect_of(row).center()
        else:
            place = QPointF(event.pos())
        self.requests.menu_requested.emit(self.class_at(place), self.mapToGlobal(place.toPoint()))


def _is_delete_wanted(event: QEvent) -> bool:
    is_early = event.type() == QEvent.Type.ShortcutOverride
    return is_early and isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Delete


@final
class GraphBoard(QWidget):
    """Connects the canvas with the model."""

    classes_selected = Signal(tuple)  # ids, the current one first

    def __init__(self, session: Session, thumbnails: Thumbnails, requests: ClassRequests) -> None:
        super().__init__()
        self.model = GraphModel(session, self)
        self.canvas = GraphCanvas(self.model, thumbnails, requests)
        self.canvas.setAccessibleName(tr("Class graph"))
        self._wanted: int | None = None  # class to show once it is drawn
        self._is_flight = False
        self._is_following = False
        self._focus: int | None = None  # class whose neighbourhood is drawn
        fill_column(self, self.canvas)
        self.setFocusProxy(self.canvas)
        self.tools = ToolStrip(lambda: self.model.graph, self.canvas)
        self.map = MiniMap(self.canvas)
        self._connect()
        session.closed.connect(self._on_session_closed)

    def move_calmly(self, *, is_wanted: bool) -> None:
        """Enable animations only if wanted here and enabled in the system."""
        length_ms = self.style().styleHint(
            QStyle.StyleHint.SH_Widget_Animation_Duration, None, self
        )
        self.canvas.viewport.is_calm = is_wanted or length_ms == 0

    def _connect(self) -> None:
        tools, viewport = self.tools, self.canvas.viewport
        self.model.room = lambda: viewport.readable_room
        tools.class_found.connect(self.fly_to)
        tools.zoomed.connect(viewport.zoom)
        tools.fitted.connect(self.canvas.fit)
        tools.focus_left.connect(lambda: self.model.set_focus(None))
        tools.left.connect(self.canvas.setFocus)
        self.canvas.looked.connect(lambda: tools.show_scale(viewport.goal.scale))
        self.model.laid_out.connect(self._on_laid_out)
        self.model.looks_changed.connect(self.canvas.picture.refresh)
        self.canvas.opened.connect(self.model.toggle)
        self.canvas.focus_requested.connect(self.model.set_focus)
        self.canvas.chosen.changed.connect(self._on_chosen)
        self._pause = QTimer(self, singleShot=True, interval=ANNOUNCED_MS)
        self._pause.timeout.connect(self._announce)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        gap = tokens().spacing.medium
        self.tools.adjustSize()
        self.tools.setGeometry(
            placed(QRect(QPoint(gap, gap), self.tools.size()), self.canvas.rect())
        )
        self.canvas.viewport.covered = float(self.tools.geometry().bottom())
        self.map.follow()

    def select_class(self, class_id: int | None) -> None:
        if class_id == self.canvas.chosen.current:
            return
        if class_id is None or self.canvas.drawing.row_of(class_id) is not None:
            self._choose(class_id)
            if class_id is not None:
                self.canvas.centre(class_id)
        else:
            self._draw_for(class_id, is_flight=False)

    def fly_to(self, class_id: int) -> None:
        if self.canvas.drawing.row_of(class_id) is not None:
            self._choose(class_id, announces=True)
            self.canvas.fly_to(class_id)
        else:
            self._draw_for(class_id, is_flight=True)

    def _draw_for(self, class_id: int, *, is_flight: bool) -> None:
        """Draw a class that is in a collapsed branch or outside the focus."""
        self._wanted, self._is_flight = class_id, is_flight
        self.model.lay_out(shown=class_id)

    def _choose(self, class_id: int | None, *, announces: bool = False) -> None:
        """Select a class; without `announces`, no signal is emitted."""
        self._is_following = not announces
        self.canvas.chosen.choose(class_id)
        self._is_following = False

    def _on_laid_out(self, answer: LaidOut) -> None:
        anchor, focus, wanted = answer.request.anchor, self.model.focus, self._wanted
        is_new, self._focus = (
            answer.request.focus != self._focus or not len(self.canvas.drawing),
            answer.request.focus,
        )
        current = self.canvas.chosen.current if wanted is None else wanted
        self.canvas.show_drawing(
            answer.drawing,
            self.canvas.steady_class(answer.drawing) if anchor is None else anchor,
            begins_at=(current if anchor is None else anchor) if is_new else None,
        )
        self.tools.show_focus("" if focus is None else self.model.graph.shown_name(focus))
        if wanted is None or answer.drawing.row_of(wanted) is None:
            return
        self._wanted = None
        self._choose(wanted, announces=self._is_flight)
        if not is_new:
            self.canvas.fly_to(wanted) if self._is_flight else self.canvas.centre(wanted)

    def _on_session_closed(self) -> None:
        self._wanted = self._focus = None
        self.canvas.chosen.choose(None)
        self.canvas.show_drawing(empty_drawing(), None)
        self.tools.show_focus("")

    def _on_chosen(self) -> None:
        """Emit a single class at once; debounce several."""
        if not self._is_following:
            self._pause.start() if len(self.canvas.chosen.ids) > 1 else self._announce()

    def _announce(self) -> None:
        self._pause.stop()
        chosen = self.canvas.chosen
        if chosen.current is not None:
            others = [class_id for class_id in chosen.ids if class_id != chosen.current]
            self.classes_selected.emit((chosen.current, *others[:MOST_ANNOUNCED]))
