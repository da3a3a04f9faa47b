"""The image grid: an item view with arithmetic geometry, which paints only visible cards."""

from collections.abc import Sequence
from dataclasses import replace
from typing import final

from PySide6.QtCore import (
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QPoint,
    QRect,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import (
    QContextMenuEvent,
    QDragEnterEvent,
    QDragMoveEvent,
    QDropEvent,
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QRegion,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QFrame

from app.actions.keys import keys_in_use
from app.dragging import IMAGES_MIME, paint_rubber_band, take_files
from app.drops import DropLight
from app.image_grid.card import Look
from app.image_grid.choice import Choice, PlaceKeeper
from app.image_grid.geometry import (
    GAP,
    KEYS,
    LARGEST_SIDE,
    MARGIN,
    SMALLEST_SIDE,
    GridGeometry,
    row_after,
)
from app.image_grid.hovered_card import HoveredCard
from app.image_grid.model import CARD_ROLE, AnyIndex, ImageGridModel
from app.image_grid.painted import PaintedCards
from app.image_grid.pointer import MOST_SHOWN, Pointer, carry
from app.images.thumbnails import Thumbnails
from app.mirroring import key_in_reading_order
from app.texts import tr
from engine.file_parts import ImageSource

ZOOM_STEP = 1.15  # factor of a step
WHEEL_STEP = 120  # `QWheelEvent.angleDelta` of one step
REPAINT_MS = 30  # debounce of arriving thumbnails
_RETURNING = {Qt.FocusReason.ActiveWindowFocusReason, Qt.FocusReason.PopupFocusReason}


@final
class ImageGrid(QAbstractItemView):
    """View of an `ImageGridModel`."""

    current_image_changed = Signal(int)  # image id, or -1 for none
    images_selected = Signal(tuple)  # tuple of image ids
    open_requested = Signal(int)  # image to show alone
    files_dropped = Signal(Sequence)  # list of paths dropped from outside
    # Paths dropped with Alt: search for similar images.
    similar_requested = Signal(Sequence)
    fold_toggled = Signal(int)  # image whose card should be folded or unfolded
    zoom_changed = Signal(int)  # side of a thumbnail
    menu_requested = Signal(QPoint)  # global position

    def __init__(self, model: ImageGridModel, thumbnails: Thumbnails) -> None:
        super().__init__()
        self._grid_model, self._thumbnails = model, thumbnails
        self._choice = Choice(self, model)
        self._painted = PaintedCards(self, model, thumbnails, self._geometry)
        self.thumbnail_side = 168  # in logical pixels
        self._announced_id = -1
        self.setObjectName("imageGrid")
        self.setAccessibleName(tr("Images"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.setMouseTracking(True)
        # Drags out of the view are started by `Pointer`.
        self.setDragDropMode(QAbstractItemView.DragDropMode.DropOnly)
        self.setModel(model)
        DropLight(self.viewport())
        self._pointer = Pointer(self, self._choice, self._geometry, self._take_along)
        self._hovered = HoveredCard(self, model)
        PlaceKeeper(self, model, self._choice)
        model.modelReset.connect(self._on_model_reset)
        self._repaint_timer = QTimer(self, singleShot=True, interval=REPAINT_MS)
        self._repaint_timer.timeout.connect(self._on_repaint_due)
        keys_in_use().changed.connect(self._on_keys_changed)
        thumbnails.ready.connect(self._on_thumbnail_ready)

    @property
    def selected_ids(self) -> tuple[int, ...]:
        return self._choice.ids

    @property
    def current_id(self) -> int | None:
        return self._choice.current_id

    def select_image(self, image_id: int) -> bool:
        row = self._grid_model.row_of(image_id)
        if row is None:
            return False
        self._choice.choose_alone(row)
        return True

    def select_row(self, row: int) -> None:
        """Select the card in a row, or the last one."""
        if self._grid_model.rowCount():
            self._choice.choose_alone(min(row, self._grid_model.rowCount() - 1))

    def set_thumbnail_side(self, side: int) -> None:
        """Set the thumbnail size; the current card stays visible."""
        side = max(SMALLEST_SIDE, min(LARGEST_SIDE, side))
        if side == self.thumbnail_side:
            return
        self.thumbnail_side = side
        self.updateGeometries()
        self.scrollTo(self.currentIndex())
        self.viewport().update()
        self.zoom_changed.emit(side)

    def zoom(self, steps: float) -> None:
        self.set_thumbnail_side(round(self.thumbnail_side * ZOOM_STEP**steps))

    def _geometry(self) -> GridGeometry:
        count, shape = self._grid_model.rowCount(), self._thumbnails.shape.value
        return GridGeometry(self.viewport().width(), self.thumbnail_side, count, shape=shape)

    def places_in_view(self) -> range:
        top = self.verticalOffset()
        return self._geometry().places_between(top, top + self.viewport().height())

    def visualRect(self, index: AnyIndex) -> QRect:
        return (
            self._geometry().rect(index.row()).translated(0, -self.verticalOffset())
            if index.isValid()
            else QRect()
        )

    def indexAt(self, point: QPoint) -> QModelIndex:
        place = self._geometry().place_at(point.x(), point.y() + self.verticalOffset())
        return QModelIndex() if place is None else self._grid_model.index(place)

    def scrollTo(
        self,
        index: AnyIndex,
        hint: QAbstractItemView.ScrollHint = QAbstractItemView.ScrollHint.EnsureVisible,
    ) -> None:
        rect, height = self.visualRect(index), self.viewport().height()
        bar = self.verticalScrollBar()
        if hint == QAbstractItemView.ScrollHint.PositionAtCenter:
            bar.setValue(bar.value() + rect.center().y() - height // 2)
        elif rect.top() < GAP:
            bar.setValue(bar.value() + rect.top() - MARGIN)
        elif rect.bottom() > height - GAP:
            bar.setValue(bar.value() + rect.bottom() - height + MARGIN)

    def updateGeometries(self) -> None:
        geometry, bar = self._geometry(), self.verticalScrollBar()
        bar.setRange(0, max(0, geometry.total_height - self.viewport().height()))
        bar.setPageStep(self.viewport().height())
        bar.setSingleStep(max(1, geometry.row_height // 3))
        super().updateGeometries()

    def horizontalOffset(self) -> int:
        return 0

    def verticalOffset(self) -> int:
        return self.verticalScrollBar().value()

    def isIndexHidden(self, _index: AnyIndex) -> bool:
        return False

    def moveCursor(
        self, action: QAbstractItemView.CursorAction, _modifiers: Qt.KeyboardModifier
    ) -> QModelIndex:
        if not self._grid_model.rowCount() or not self.currentIndex().isValid():
            return self._grid_model.index(0)
        height = self.viewport().height()
        return self._grid_model.index(
            row_after(action, self._choice.current_row, self._geometry(), height)
        )

    def setSelection(self, rect: QRect, command: QItemSelectionModel.SelectionFlag) -> None:
        selection = QItemSelection()
        for place in self._geometry().places_in(
            rect.normalized().translated(0, self.verticalOffset())
        ):
            selection.select(self._grid_model.index(place), self._grid_model.index(place))
        self.selectionModel().select(selection, command)

    def visualRegionForSelection(self, selection: QItemSelection) -> QRegion:
        region = QRegion()
        for place in self.places_in_view():
            index = self._grid_model.index(place)
            if selection.contains(index):
                region += QRegion(self.visualRect(index))
        return region

    def _on_model_reset(self) -> None:
        """Make a card current after a reset; emit signals if no cards are left."""
        if not self._grid_model.rowCount():
            self._thumbnails.shape.forget()
            self._publish_current(-1)
            self.images_selected.emit(())
        elif not self.currentIndex().isValid():
            self._choice.choose_alone(0)
        self.viewport().update()

    def currentChanged(self, current: AnyIndex, previous: AnyIndex) -> None:
        super().currentChanged(current, previous)
        self._publish_current(self._grid_model.id_at(current.row()) if current.isValid() else -1)

    def _publish_current(self, image_id: int) -> None:
        """Emit the current image, unless it was emitted already."""
        if image_id != self._announced_id:
            self._announced_id = image_id
            self.current_image_changed.emit(image_id)

    def publish_current(self) -> None:
        """Emit the current image, even if it has not changed."""
        self._announced_id = -1 if self.current_id is None else self.current_id
        self.current_image_changed.emit(self._announced_id)

    def selectionChanged(self, selected: QItemSelection, deselected: QItemSelection) -> None:
        super().selectionChanged(selected, deselected)
        self.images_selected.emit(self.selected_ids)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        is_due = self._painted.paint(painter, event, self._look, self._hovered.picture_of)
        if (band := self._pointer.band_rect) is not None:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            paint_rubber_band(painter, band)
        painter.end()
        if is_due:
            self._repaint_timer.start()

    def _look(self, row: int) -> Look:
        return Look(
            self._choice.has(row), row == self._choice.current_row, row == self._hovered.row
        )

    def _on_thumbnail_ready(self, _source: ImageSource) -> None:
        if not self._repaint_timer.isActive():
            self._repaint_timer.start()

    def _on_keys_changed(self) -> None:
        """Repaint the cards, which show keys."""
        self._painted.forget()
        self.viewport().update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        before = replace(self._geometry(), width=event.oldSize().width())
        super().resizeEvent(event)
        self._lay_out_after(before)

    def _on_repaint_due(self) -> None:
        before = self._geometry()
        if self._thumbnails.shape.decide():
            self._lay_out_after(before)
        self.viewport().update()

    def _lay_out_after(self, before: GridGeometry) -> None:
        """Lay out again, keeping the topmost card in place."""
        # The gap above a row is visible with that row.
        top = self.verticalOffset() + MARGIN
        anchor = before.places_between(top, top).start
        self.updateGeometries()
        if before != self._geometry() and 0 < anchor < self._grid_model.rowCount():
            self.verticalScrollBar().setValue(self._geometry().rect(anchor).top() - MARGIN)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        index, is_left = (
            self._painted.press(event.position().toPoint()),
            event.button() == Qt.MouseButton.LeftButton,
        )
        if is_left and index.isValid() and self.chip_at(index).contains(event.position().toPoint()):
            self.fold_toggled.emit(self._grid_model.id_at(index.row()))
        elif is_left:
            self._pointer.press(event, index)
        elif event.button() == Qt.MouseButton.RightButton and index.isValid():
            self._choice.choose_for_menu(index.row())
        if index.isValid():
            self.publish_current()
        event.accept()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._hovered.move_to(self.indexAt(event.position().toPoint()).row())
        self._pointer.move(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._pointer.release()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        index = self._painted.pressed
        is_plain = (
            event.button() == Qt.MouseButton.LeftButton
            and event.modifiers() == Qt.KeyboardModifier.NoModifier
        )
        if (
            is_plain
            and index.isValid()
            and not self.chip_at(index).contains(event.position().toPoint())
        ):
            self.open_requested.emit(self._grid_model.id_at(index.row()))
        else:
            self.mousePressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Request the context menu at the pointer, or on the current card if opened by a key."""
        is_by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        place = self.visualRect(self.currentIndex()).center() if is_by_key else event.pos()
        if self.indexAt(place).isValid():
            self.menu_requested.emit(self.viewport().mapToGlobal(place))

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Announce the current image, as keys now act on it."""
        super().focusInEvent(event)
        if event.reason() not in _RETURNING:
            self.publish_current()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handle keys: arrows select, Space opens the image, Esc clears the selection.

        Characters are shortcuts; the keyboard search of item views is off.
        """
        key, keys = key_in_reading_order(event.key()), event.modifiers()
        if (
            key in KEYS
            and self._grid_model.rowCount()
            and not keys & Qt.KeyboardModifier.AltModifier
        ):
            row = self.moveCursor(KEYS[key], keys).row()
            is_range = bool(keys & Qt.KeyboardModifier.ShiftModifier)
            self._choice.choose_up_to(row) if is_range else self._choice.choose_alone(row)
        elif key == Qt.Key.Key_Space:
            self._on_space()
        elif key == Qt.Key.Key_Escape and self._pointer.give_up():
            event.accept()
        elif key == Qt.Key.Key_Escape and len(self.selected_ids) > 1:
            self._choice.let_go()
        elif event.text().isprintable() and not keys & Qt.KeyboardModifier.ControlModifier:
            event.ignore()
        else:
            super().keyPressEvent(event)

    def _on_space(self) -> None:
        """Open the image, unless Space is the key of another action."""
        if self.current_id is not None and "Space" in keys_in_use().of("open_image", ("Space",)):
            self.open_requested.emit(self.current_id)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.zoom(event.angleDelta().y() / WHEEL_STEP)
            event.accept()
        else:
            super().wheelEvent(event)

    def _take_along(self) -> None:
        current, ratio, side = (
            self._choice.current_row,
            self.devicePixelRatioF(),
            self._geometry().picture_side,
        )
        rows = [
            current,
            *(row for row in self._choice.rows[:MOST_SHOWN].tolist() if row != current),
        ]
        pictures = [
            self._thumbnails.pixmap(self._grid_model.card(row).source, side, ratio) for row in rows
        ]
        carry(self, self._grid_model.images_meant(self.selected_ids)[0], pictures)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        self.dragMoveEvent(event)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        if event.mimeData().hasUrls() and not event.mimeData().hasFormat(IMAGES_MIME):
            event.setDropAction(Qt.DropAction.CopyAction)
            event.accept()
        else:
            event.ignore()

    def dropEvent(self, event: QDropEvent) -> None:
        is_search, paths = (
            bool(event.modifiers() & Qt.KeyboardModifier.AltModifier),
            take_files(event),
        )
        if paths:
            (self.similar_requested if is_search else self.files_dropped).emit(paths)

    def chip_at(self, index: AnyIndex) -> QRect:
        """Rectangle of a card's count badge in the viewport; empty without one."""
        return self._painted.chip(index.data(CARD_ROLE), self.visualRect(index))
