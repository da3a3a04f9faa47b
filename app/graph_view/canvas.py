"""The drawing on the screen: classes as cards or dots, edges, and what a hand does with them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, final

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QKeyEvent,
    QMouseEvent,
    QNativeGestureEvent,
    QPainter,
    QPaintEvent,
    QPixmap,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QWidget

from app.graph_view.choice import ChosenClasses
from app.graph_view.drawing import Drawing, empty_drawing
from app.graph_view.far_names import FarNames
from app.graph_view.ground import Ground
from app.graph_view.keys import press_key
from app.graph_view.marks import card_body, card_rect, paint_band, paint_lit_edges, paint_ring
from app.graph_view.motion import Motion
from app.graph_view.overview import Overview
from app.graph_view.pointer import GraphPointer
from app.graph_view.sight import Sight
from app.graph_view.tiles import Tiles
from app.images.thumbnails import Thumbnails
from app.theme.tokens import Scheme, tokens

if TYPE_CHECKING:
    from app.graph_view.model import GraphModel

SLICE_S: Final = 0.005
"""Of each frame, spent on pieces that are missing: a third, so that a frame is never late."""
REPAINT_MS: Final = 60
"""Faces that come one after the other are painted together."""
READABLE: Final = 0.71
"""Scale at which a class is shown that was flown to."""


@final
class GraphCanvas(QWidget):
    """Shows a drawing. Says what a person wants; changes nothing itself.

    Attributes:
        drawing: what is shown.
        chosen: the chosen classes.
        sight: where one looks from.
        overview: the whole in a small picture.

    Signals:
        opened: a closed branch is to be opened, or an open one closed.
        images_requested: the images of a class are to be shown.
        create_requested: parent of the new class, or None.
        remove_requested: class ids.
        focus_requested: a class whose surroundings alone are to be shown, or None for all.
        menu_requested: class or None, place on the screen.
        looked: one looks from elsewhere, or at something else.
    """

    opened = Signal(int)
    images_requested = Signal(int)
    create_requested = Signal(object)
    remove_requested = Signal(object)
    focus_requested = Signal(object)
    menu_requested = Signal(object, QPoint)
    looked = Signal()

    def __init__(self, model: GraphModel, thumbnails: Thumbnails, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model, self._thumbnails = model, thumbnails
        self.drawing: Drawing = empty_drawing()
        self.chosen = ChosenClasses(self)
        self.sight = Sight(self)
        self.ground = Ground(model.look, model.weight, self._picture)
        self._gliding = Ground(model.look, model.weight, self._picture)
        self.overview = Overview(model.look)
        self._tiles = Tiles(self.ground.paint)
        self._names = FarNames(model.look)
        self._motion = Motion(self)
        self.pointer = GraphPointer(self)
        self._scheme: Scheme | None = None
        self._came: set[int] = set()
        self._slices = QTimer(self, interval=0)
        self._face_timer = QTimer(self, singleShot=True, interval=REPAINT_MS)
        self._set_up()

    def _set_up(self) -> None:
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setAcceptDrops(True)
        self._slices.timeout.connect(self._on_slice)
        self._face_timer.timeout.connect(self._on_faces)
        self.sight.moved.connect(self._on_looked)
        self.sight.settled.connect(self._on_looked)
        self._motion.moved.connect(self.update)
        self._motion.arrived.connect(self._on_arrived)
        self.chosen.changed.connect(self.update)
        self.chosen.current_changed.connect(self._on_current_changed)
        self._thumbnails.ready.connect(self._on_picture_ready)

    # -- what is shown

    @property
    def is_complete(self) -> bool:
        """Whether nothing moves, and all is painted as it is to be."""
        is_still = not (self.sight.is_moving or self._motion.is_going_on or self._face_timer.isActive())
        return is_still and self._tiles.is_complete and self.overview.is_complete

    def show_drawing(self, drawing: Drawing, anchor: int | None) -> None:
        """Show another drawing.

        Args:
            drawing: the classes and where they stand.
            anchor: a class that is to stay where it is on the screen.
        """
        before, is_first = self.drawing, not len(self.drawing)
        shift = self._shift(before, drawing, anchor)
        self.drawing = drawing
        self.ground.show(drawing)
        self.ground.forget_cards()
        self._names.show(drawing)
        self.chosen.keep_only(drawing.ids.tolist())
        self.sight.allow(drawing.bounds)
        self._tiles.forget()
        self.overview.show(drawing, self.devicePixelRatioF())
        if is_first:
            self.fit(at_once=True)
        else:
            self.sight.shift(*shift)
        self._motion.go(drawing, shift, is_calm=self.sight.is_calm)
        self.update()

    @staticmethod
    def _shift(before: Drawing, after: Drawing, anchor: int | None) -> tuple[float, float]:
        """How far the anchor moved in the drawing."""
        old = None if anchor is None else before.row_of(anchor)
        new = None if anchor is None else after.row_of(anchor)
        if old is None or new is None:
            return 0.0, 0.0
        dx, dy = (after.centres[new] - before.centres[old]).tolist()
        return dx, dy

    def refresh(self) -> None:
        """Paint all classes anew: what is known of them has changed."""
        self.ground.weigh()
        self.ground.forget_cards()
        self._tiles.repaint_all()
        self.update()

    def fit(self, *, at_once: bool = False) -> None:
        """See the whole drawing."""
        if len(self.drawing):
            self.sight.fit(self.drawing.bounds, at_once=at_once)

    def show_class(self, class_id: int) -> None:
        """Bring a class into sight, moving as little as possible."""
        row = self.drawing.row_of(class_id)
        if row is not None:
            self.sight.bring_in(self.drawing.box(row))

    def fly_to(self, class_id: int) -> None:
        """See a class in the middle, large enough to be read."""
        row = self.drawing.row_of(class_id)
        if row is not None:
            self.sight.fly_to(self.drawing.box(row), READABLE)

    @property
    def has_focus_class(self) -> bool:
        """Whether only what is around one class is drawn."""
        return self._model.focus is not None

    # -- places

    @property
    def size_seen(self) -> tuple[float, float]:
        """Size of the view."""
        return float(self.width()), float(self.height())

    def row_at(self, place: QPointF) -> int | None:
        """Row of the class at a place of the view."""
        x, y = self.sight.camera.to_drawing(place.x(), place.y(), self.size_seen)
        row = self.drawing.row_at(x, y)
        return row if row is not None and self.rect_of(row).adjusted(-3, -3, 3, 3).contains(place) else None

    def rect_of(self, row: int) -> QRectF:
        """Where a class is seen."""
        return card_rect(self._motion.drawing, row, self.sight.camera, self.size_seen)

    def class_at(self, place: QPointF) -> int | None:
        """The class at a place of the view."""
        row = self.row_at(place)
        return None if row is None else int(self.drawing.ids[row])

    def rows_in(self, band: QRectF) -> Sequence[int]:
        """Rows of the classes that a rubber band touches."""
        camera, size = self.sight.camera, self.size_seen
        left, top = camera.to_drawing(band.left(), band.top(), size)
        right, bottom = camera.to_drawing(band.right(), band.bottom(), size)
        rows: list[int] = self.drawing.rows_in((left, top, right, bottom)).tolist()
        return [row for row in rows if self.rect_of(row).intersects(band)]

    # -- painting

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Copy the finished pieces, and paint on them what is chosen."""
        painter = QPainter(self)
        if self._scheme is not tokens().scheme:
            self._scheme = tokens().scheme
            self._dress()
        if self._motion.is_going_on:
            self._paint_gliding(painter)
        else:
            self._tiles.show(painter, self.sight.camera, self.size_seen, self._paint_stand_in)
            self._names.paint(painter, self.sight, self.size_seen)
        self._paint_marks(painter)
        painter.end()
        if not (self._tiles.is_complete and self.overview.is_complete):
            self._slices.start()

    def _dress(self) -> None:
        """Another look is worn."""
        self.ground.forget_cards()
        self._gliding.forget_cards()
        self._tiles.forget()
        self.overview.show(self.drawing, self.devicePixelRatioF())

    def _paint_gliding(self, painter: QPainter) -> None:
        self._gliding.show(self._motion.drawing)
        for _ in self._gliding.paint(painter, self.sight.camera.seen(self.size_seen), self.sight.camera.scale):
            pass

    def _paint_stand_in(self, painter: QPainter) -> None:
        painter.fillRect(self.rect(), QColor(tokens().colours.window))
        left, top, right, bottom = self.overview.bounds
        x, y = self.sight.camera.to_view(left, top, self.size_seen)
        scale = self.sight.camera.scale
        picture = self.overview.picture
        painter.drawPixmap(
            QRectF(x, y, (right - left) * scale, (bottom - top) * scale), picture, QRectF(picture.rect())
        )

    def _paint_marks(self, painter: QPainter) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colours, drawing, camera, view = tokens().colours, self.drawing, self.sight.camera, self.size_seen
        current = None if self.chosen.current is None else drawing.row_of(self.chosen.current)
        if current is not None and not self._motion.is_going_on:
            routes = [drawing.routes[edge] for edge in drawing.edges_of(current).tolist()]
            paint_lit_edges(painter, routes, camera, view, colours.accent)
        for class_id in self.chosen.ids:
            row = drawing.row_of(class_id)
            if row is not None:
                width = 2.5 if row == current else 1.5
                paint_ring(painter, self.body_of(row), colours.accent, width=width, is_filled=row != current)
        self.pointer.paint(painter)
        if (band := self.pointer.band) is not None:
            paint_band(painter, band)

    def body_of(self, row: int) -> QRectF:
        """Where a class's card is seen, without the sheets below it."""
        return card_body(self.rect_of(row), is_closed=bool(self.drawing.hidden[row]))

    def _on_slice(self) -> None:
        """Go on with what is missing; show it when there is something to be seen."""
        if self._motion.is_going_on:
            self._slices.stop()
            return
        has_news = self._tiles.make_some(SLICE_S)
        if self._tiles.is_complete:
            self.overview.make_some(SLICE_S)
        if self._tiles.is_complete and self.overview.is_complete:
            self._slices.stop()
            self.looked.emit()
            has_news = True
        if has_news:
            self.update()

    def _on_looked(self) -> None:
        self.update()
        self.looked.emit()

    def _on_arrived(self) -> None:
        self.update()
        self.looked.emit()

    def _on_current_changed(self, class_id: int | None) -> None:
        self.setAccessibleDescription("" if class_id is None else self._model.words(class_id))

    # -- faces

    def _picture(self, path: Path, side: int) -> QPixmap | None:
        return self._thumbnails.pixmap(path, side, self.devicePixelRatioF())

    def _on_picture_ready(self, path: Path) -> None:
        """Paint the cards soon that show it, once for all that come until then."""
        came = self._model.classes_with(path)
        if came:
            self._came |= came
            self._face_timer.start()

    def _on_faces(self) -> None:
        self.ground.forget_cards(self._came)
        for class_id in self._came:
            if (row := self.drawing.row_of(class_id)) is not None:
                self._tiles.repaint_in(self.drawing.box(row))
        self._came.clear()
        self.update()

    # -- input

    def resizeEvent(self, event: QResizeEvent) -> None:
        """See the same point in the middle."""
        self.sight.view = self.size_seen
        super().resizeEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose a class, or begin to drag."""
        self.pointer.press(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Light what is under the pointer, or go on with what the press began."""
        self.pointer.move(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """End what the press began."""
        self.pointer.release(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Open or close a branch."""
        self.pointer.press_twice(event)

    def leaveEvent(self, event: QEvent) -> None:
        """Nothing is under the pointer any more."""
        self.pointer.leave()
        super().leaveEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom at the pointer; on a touchpad two fingers push, and with Ctrl they zoom."""
        place = event.position()
        is_push = not event.pixelDelta().isNull() and not event.modifiers() & Qt.KeyboardModifier.ControlModifier
        if is_push:
            self.sight.push(event.pixelDelta().x(), event.pixelDelta().y())
        else:
            self.sight.turn_wheel(event.angleDelta().y(), (place.x(), place.y()))
        event.accept()

    def event(self, event: QEvent) -> bool:
        """Zoom as two fingers pinch."""
        if isinstance(event, QNativeGestureEvent):
            if event.gestureType() == Qt.NativeGestureType.ZoomNativeGesture:
                place = event.position()
                self.sight.pinch(1 + event.value(), (place.x(), place.y()))
                return True
            if event.gestureType() == Qt.NativeGestureType.EndNativeGesture:
                self.sight.rest()
                return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Walk, open, close, look around."""
        if not press_key(self, event):
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
