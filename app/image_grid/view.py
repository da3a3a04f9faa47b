"""The image grid: an item view whose geometry is arithmetic, so that a frame costs what is visible and nothing else."""

import json
from pathlib import Path
from typing import Final, final

from PySide6.QtCore import (
    QByteArray,
    QItemSelection,
    QItemSelectionModel,
    QMimeData,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QSize,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import (
    QDrag,
    QDragEnterEvent,
    QDragMoveEvent,
    QDropEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QRegion,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QFrame, QWidget

from app.dragging import IMAGES_MIME, take_files
from app.image_grid.card import Look, paint_card
from app.image_grid.geometry import GAP, LARGEST_SIDE, MARGIN, SMALLEST_SIDE, GridGeometry
from app.image_grid.model import ImageGridModel
from app.image_grid.place_keeper import PlaceKeeper
from app.images.thumbnails import Thumbnails

AnyIndex = QModelIndex | QPersistentModelIndex
ZOOM_STEP: Final = 1.15
WHEEL_STEP: Final = 120
DRAGGED_SIDE: Final = 72
REPAINT_MS: Final = 30


@final
class ImageGrid(QAbstractItemView):
    """Shows the cards of an `ImageGridModel`.

    Signals:
        current_image_changed: image id, or -1 for none.
        images_selected: tuple of image ids.
        open_requested: image to look at alone.
        files_dropped: list of paths dropped from outside.
        zoom_changed: side of a thumbnail.
    """

    current_image_changed = Signal(int)
    images_selected = Signal(object)
    open_requested = Signal(int)
    files_dropped = Signal(object)
    zoom_changed = Signal(int)

    def __init__(self, model: ImageGridModel, thumbnails: Thumbnails, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._grid_model = model
        self._thumbnails = thumbnails
        self._side = 168
        self._hovered = -1
        self._told_id = -1
        self.setObjectName("imageGrid")
        self.setAccessibleName(self.tr("Images"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.setMouseTracking(True)
        self.setDragEnabled(True)
        self.setAcceptDrops(True)
        self.setDragDropMode(QAbstractItemView.DragDropMode.DragDrop)
        self.setModel(model)
        PlaceKeeper(self, model, lambda: self.selected_ids)
        model.modelReset.connect(self._on_model_reset)
        self._repaint_timer = QTimer(self, singleShot=True, interval=REPAINT_MS)
        self._repaint_timer.timeout.connect(self.viewport().update)
        thumbnails.ready.connect(self._on_thumbnail_ready)
        self.pressed.connect(self._on_pressed)
        self.doubleClicked.connect(lambda index: self.open_requested.emit(model.id_at(index.row())))

    # -- what is chosen

    @property
    def selected_ids(self) -> tuple[int, ...]:
        """Chosen images in the order shown."""
        ids = self._grid_model.image_ids
        chosen = self.selectionModel().selection()
        parts = [chosen.at(number) for number in range(chosen.count())]
        rows = sorted(row for part in parts for row in range(part.top(), part.bottom() + 1))
        return tuple(ids[rows].tolist())

    @property
    def current_id(self) -> int | None:
        """The image with the keyboard's frame."""
        index = self.currentIndex()
        return self._grid_model.id_at(index.row()) if index.isValid() else None

    def select_image(self, image_id: int) -> bool:
        """Choose one image and scroll to it; False when it is not shown."""
        row = self._grid_model.row_of(image_id)
        if row is None:
            return False
        self._choose(row)
        return True

    def select_row(self, row: int) -> None:
        """Choose the card in a row, the last one when there are fewer."""
        if self._grid_model.rowCount():
            self._choose(min(row, self._grid_model.rowCount() - 1))

    def _choose(self, row: int) -> None:
        """Choose one card alone; the view's own way would take a Ctrl that is held down just now for a click's."""
        index = self._grid_model.index(row)
        self.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)

    # -- zoom

    @property
    def thumbnail_side(self) -> int:
        """Wanted side of a thumbnail in logical pixels."""
        return self._side

    def set_thumbnail_side(self, side: int) -> None:
        """Show larger or smaller cards; the current one stays in sight."""
        side = max(SMALLEST_SIDE, min(LARGEST_SIDE, side))
        if side == self._side:
            return
        anchor = self.currentIndex().row() if self.currentIndex().isValid() else self._first_visible()
        self._side = side
        self.updateGeometries()
        if 0 <= anchor < self._grid_model.rowCount():
            self.scrollTo(self._grid_model.index(anchor))
        self.viewport().update()
        self.zoom_changed.emit(side)

    def zoom(self, steps: float) -> None:
        """Larger by so many steps; negative for smaller."""
        self.set_thumbnail_side(round(self._side * ZOOM_STEP**steps))

    # -- geometry

    def _geometry(self) -> GridGeometry:
        return GridGeometry(self.viewport().width(), self._side, self._grid_model.rowCount())

    def _first_visible(self) -> int:
        places = self._visible_places()
        return places.start if places else -1

    def _visible_places(self) -> range:
        top = self.verticalOffset()
        return self._geometry().places_between(top, top + self.viewport().height())

    def visualRect(self, index: AnyIndex) -> QRect:
        """Where a card lies on the viewport."""
        return self._geometry().rect(index.row()).translated(0, -self.verticalOffset()) if index.isValid() else QRect()

    def indexAt(self, point: QPoint) -> QModelIndex:
        """The card at a point of the viewport."""
        place = self._geometry().place_at(point.x(), point.y() + self.verticalOffset())
        return QModelIndex() if place is None else self._grid_model.index(place)

    def scrollTo(
        self, index: AnyIndex, hint: QAbstractItemView.ScrollHint = QAbstractItemView.ScrollHint.EnsureVisible
    ) -> None:
        """Bring a card into sight."""
        rect, height = self.visualRect(index), self.viewport().height()
        bar = self.verticalScrollBar()
        if hint == QAbstractItemView.ScrollHint.PositionAtCenter:
            bar.setValue(bar.value() + rect.center().y() - height // 2)
        elif rect.top() < GAP:
            bar.setValue(bar.value() + rect.top() - MARGIN)
        elif rect.bottom() > height - GAP:
            bar.setValue(bar.value() + rect.bottom() - height + MARGIN)

    def updateGeometries(self) -> None:
        """Fit the scroll bar to the number of cards."""
        geometry, bar = self._geometry(), self.verticalScrollBar()
        bar.setRange(0, max(0, geometry.total_height - self.viewport().height()))
        bar.setPageStep(self.viewport().height())
        bar.setSingleStep(max(1, geometry.row_height // 3))
        super().updateGeometries()

    def horizontalOffset(self) -> int:
        """Cards never lie beside the viewport."""
        return 0

    def verticalOffset(self) -> int:
        """How far the grid is scrolled."""
        return self.verticalScrollBar().value()

    def isIndexHidden(self, _index: AnyIndex) -> bool:
        """No card is hidden."""
        return False

    def moveCursor(self, action: QAbstractItemView.CursorAction, _modifiers: Qt.KeyboardModifier) -> QModelIndex:
        """Where a key leads."""
        count = self._grid_model.rowCount()
        if not count:
            return QModelIndex()
        place = max(0, self.currentIndex().row())
        geometry, cursor = self._geometry(), QAbstractItemView.CursorAction
        page = max(1, self.viewport().height() // geometry.row_height) * geometry.columns
        steps = {
            cursor.MoveLeft: -1, cursor.MovePrevious: -1, cursor.MoveRight: 1, cursor.MoveNext: 1,
            cursor.MoveUp: -geometry.columns, cursor.MoveDown: geometry.columns,
            cursor.MovePageUp: -page, cursor.MovePageDown: page, cursor.MoveHome: -count, cursor.MoveEnd: count,
        }  # fmt: skip
        if not self.currentIndex().isValid():
            return self._grid_model.index(0)
        return self._grid_model.index(max(0, min(count - 1, place + steps[action])))

    def setSelection(self, rect: QRect, command: QItemSelectionModel.SelectionFlag) -> None:
        """Choose the cards in a rectangle, or all from the card at its start to that at its end."""
        is_range = command & QItemSelectionModel.SelectionFlag.Current and self.state() != self.State.DragSelectingState
        ends = sorted(self.indexAt(point).row() for point in (rect.topLeft(), rect.bottomRight()))
        selection = QItemSelection()
        if is_range and ends[0] >= 0:
            selection.select(self._grid_model.index(ends[0]), self._grid_model.index(ends[1]))
        else:
            for place in self._geometry().places_in(rect.normalized().translated(0, self.verticalOffset())):
                selection.select(self._grid_model.index(place), self._grid_model.index(place))
        self.selectionModel().select(selection, command)

    def visualRegionForSelection(self, selection: QItemSelection) -> QRegion:
        """What must be painted anew when a selection changes: only what is in sight."""
        region = QRegion()
        for place in self._visible_places():
            index = self._grid_model.index(place)
            if selection.contains(index):
                region += QRegion(self.visualRect(index))
        return region

    # -- telling what is chosen

    def _on_model_reset(self) -> None:
        """Say so when the choice ended with its cards."""
        if not self.currentIndex().isValid():
            self._tell_current(-1)
            self.images_selected.emit(())
        self.viewport().update()

    def currentChanged(self, current: AnyIndex, previous: AnyIndex) -> None:
        """Tell which image has the keyboard's frame."""
        super().currentChanged(current, previous)
        self._tell_current(self._grid_model.id_at(current.row()) if current.isValid() else -1)
        self.viewport().update()

    def _tell_current(self, image_id: int) -> None:
        """Tell it once: cards that are laid out anew around the same image are no news."""
        if image_id != self._told_id:
            self._told_id = image_id
            self.current_image_changed.emit(image_id)

    def _on_pressed(self, index: QModelIndex) -> None:
        """A press on a card asks for its image, also when it had the frame all along."""
        self._told_id = self._grid_model.id_at(index.row())
        self.current_image_changed.emit(self._told_id)

    def selectionChanged(self, selected: QItemSelection, deselected: QItemSelection) -> None:
        """Tell which images are chosen."""
        super().selectionChanged(selected, deselected)
        self.images_selected.emit(self.selected_ids)
        self.viewport().update()

    # -- painting

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the cards in sight."""
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        geometry, offset, ratio = self._geometry(), self.verticalOffset(), self.devicePixelRatioF()
        chosen, current, has_focus = self.selectionModel(), self.currentIndex().row(), self.hasFocus()
        in_sight = set()
        for place in reversed(self._visible_places()):  # the newest wish is served first: wish for the top last
            card = self._grid_model.card(place)
            in_sight.add(card.path)
            picture = self._thumbnails.pixmap(card.path, geometry.card_width, ratio, is_fleeting=True)
            is_selected = chosen.isSelected(self._grid_model.index(place))
            look = Look(is_selected, place == current, place == self._hovered, has_focus)
            paint_card(painter, geometry.rect(place).translated(0, -offset), card, picture, look)
        painter.end()
        self._thumbnails.keep_only(in_sight)

    def _on_thumbnail_ready(self, _path: Path) -> None:
        """Repaint soon, once for all that come until then."""
        if not self._repaint_timer.isActive():
            self._repaint_timer.start()

    # -- input

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lay out anew around the card that was on top."""
        before = GridGeometry(event.oldSize().width(), self._side, self._grid_model.rowCount())
        top = self.verticalOffset() + MARGIN  # what is above is the gap that the row below is shown with
        anchor = before.places_between(top, top).start
        super().resizeEvent(event)
        self.updateGeometries()
        if event.oldSize().width() != event.size().width() and 0 < anchor < self._grid_model.rowCount():
            self.verticalScrollBar().setValue(self._geometry().rect(anchor).top() - MARGIN)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Light the card under the pointer."""
        hovered = self.indexAt(event.position().toPoint()).row()
        if hovered != self._hovered:
            self._hovered = hovered
            self.viewport().update()
        super().mouseMoveEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Space looks at the image alone; Esc lets go of the choice; other letters are shortcuts, never a search."""
        if event.key() == Qt.Key.Key_Space and self.current_id is not None:
            self.open_requested.emit(self.current_id)
        elif event.key() == Qt.Key.Key_Escape and len(self.selected_ids) > 1:
            self._choose(self.currentIndex().row())
        elif event.text().isalnum() and not event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            event.ignore()
        else:
            super().keyPressEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Ctrl and the wheel zoom."""
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.zoom(event.angleDelta().y() / WHEEL_STEP)
            event.accept()
        else:
            super().wheelEvent(event)

    def startDrag(self, _actions: Qt.DropAction) -> None:
        """Take the chosen images along, with a picture of the first."""
        ids = self.selected_ids
        if not ids:
            return
        data = QMimeData()
        data.setData(IMAGES_MIME, QByteArray(json.dumps(list(ids)).encode()))
        drag = QDrag(self)
        drag.setMimeData(data)
        card = self._grid_model.card(max(0, self.currentIndex().row()))
        picture = self._thumbnails.pixmap(card.path, DRAGGED_SIDE, self.devicePixelRatioF())
        if picture is not None:
            size = QSize(DRAGGED_SIDE, DRAGGED_SIDE)
            drag.setPixmap(picture.scaled(size, Qt.AspectRatioMode.KeepAspectRatio))
        drag.exec(Qt.DropAction.CopyAction)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Take files from outside."""
        self._take_files(event)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        """Take files from outside."""
        self._take_files(event)

    def _take_files(self, event: QDragMoveEvent) -> None:
        if event.mimeData().hasUrls() and not event.mimeData().hasFormat(IMAGES_MIME):
            event.setDropAction(Qt.DropAction.CopyAction)
            event.accept()
        else:
            event.ignore()

    def dropEvent(self, event: QDropEvent) -> None:
        """Hand dropped files on."""
        paths = take_files(event)
        if paths:
            self.files_dropped.emit(paths)
