"""View of the class tree: painting, drops, and a selection that survives edits of the graph."""

from collections.abc import Collection, Sequence
from typing import final

from PySide6.QtCore import (
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QContextMenuEvent,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QStyle, QStyleOptionViewItem, QTreeView

from app.class_requests import ClassRequests, drag_classes
from app.class_tree.delegate import (
    ROW_HEIGHT,
    ClassDelegate,
    FittedColumns,
    Ground,
    paint_chevron,
    paint_ground,
)
from app.class_tree.drop_target import DropTarget
from app.class_tree.model import ClassTreeModel
from app.class_tree.row_data import COUNT, NAME, AnyIndex
from app.class_tree.saved_rows import SavedRows, is_below, open_rows
from app.dragging import Places, is_link
from app.texts import tr
from engine.graph.category_graph import ClassId

_AS_NEEDED = QAbstractItemView.ScrollHint.EnsureVisible
_ROWS = QItemSelectionModel.SelectionFlag.Rows
_WITH_ROW = QItemSelectionModel.SelectionFlag.Select | _ROWS
_WITHOUT_ROW = QItemSelectionModel.SelectionFlag.Deselect | _ROWS
_ONLY_ROW = QItemSelectionModel.SelectionFlag.ClearAndSelect | _ROWS


@final
class ClassTreeView(QTreeView):
    """Shows a `ClassTreeModel`.

    Args:
        has_paths: whether rows are search results with their paths below the names.
    """

    class_selected = Signal(int)

    def __init__(
        self, model: ClassTreeModel, requests: ClassRequests, *, has_paths: bool = False
    ) -> None:
        super().__init__()
        self._model, self.requests = model, requests
        self._selected: ClassId | None = None
        self._kept = SavedRows(self, model)
        self._places: Places | None = None  # of the selected rows; None until needed
        self._was_chosen = self._was_dragged = False
        self._drop_target = DropTarget(self, model)
        self.columns = FittedColumns(self, model)
        self._set_up(has_paths=has_paths)
        # Before the selection drops these rows.
        model.rowsAboutToBeRemoved.connect(self._on_rows_about_to_be_removed)
        self.setModel(model)
        self.columns.fit_counts("")
        self.collapsed.connect(self._on_collapsed)
        model.edits_applied.connect(self._on_edits_applied)

    def _set_up(self, *, has_paths: bool) -> None:
        self.setItemDelegate(ClassDelegate(self))
        self.setUniformRowHeights(not has_paths)
        self.setExpandsOnDoubleClick(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setDragEnabled(True)
        self.setAcceptDrops(True)
        self.setDropIndicatorShown(False)  # the row itself is highlighted
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setAccessibleName(tr("Classes"))

    def updateGeometries(self) -> None:
        """Allow a long tree to scroll one row further, so that there is free space to drop on."""
        bar = self.verticalScrollBar()
        place = bar.value()
        super().updateGeometries()
        if bar.maximum() > 0:
            bar.setMaximum(bar.maximum() + ROW_HEIGHT)
            bar.setValue(place)

    def scrollTo(self, index: AnyIndex, hint: QAbstractItemView.ScrollHint = _AS_NEEDED) -> None:
        place = self.horizontalScrollBar().value()
        super().scrollTo(index, hint)
        self.horizontalScrollBar().setValue(place)
        self.columns.show_name(index)

    def visualRect(self, index: AnyIndex) -> QRect:
        rect = super().visualRect(index)
        return self.columns.indented(rect) if index.column() == NAME else rect

    @property
    def selected_rows(self) -> list[QModelIndex]:
        return self._model.rows_of(self.selectionModel().selection())

    @property
    def selected_places(self) -> Places:
        if self._places is None:
            self._places = self._model.places_of(self.selected_rows)
        return self._places

    @property
    def selected_index(self) -> QModelIndex:
        current = self.currentIndex().siblingAtColumn(NAME)
        if current.isValid() and self.selectionModel().isSelected(current):
            return current
        return next(iter(self.selected_rows), QModelIndex())

    @property
    def selected_class(self) -> ClassId | None:
        return self._model.class_of(self.selected_index)

    @property
    def selected_parent(self) -> ClassId | None:
        return self._model.parent_class_of(self.selected_index)

    def select(self, index: QModelIndex) -> None:
        """Select only this row, regardless of modifier keys, and scroll to it."""
        if index.isValid():
            self.selectionModel().setCurrentIndex(index, _ONLY_ROW)
            self.scrollTo(index)

    def select_path(self, path: Sequence[ClassId]) -> bool:
        index = self._model.index_of_path(path)
        self.select(index)
        return index.isValid()

    def select_built(self, class_id: ClassId) -> bool:
        """Select the first visible row of a class; False if there is none."""
        index = self._open_row(class_id)
        self.select(index)
        return index.isValid()

    def _open_row(self, class_id: ClassId) -> QModelIndex:
        """The first row of a class whose ancestors are expanded; invalid if there is none."""
        return next(
            filter(self._is_in_open_branches, self._model.indexes_of(class_id)), QModelIndex()
        )

    def has_open(self, class_id: ClassId) -> bool:
        return self._open_row(class_id).isValid()

    def select_all_built(self, class_ids: Collection[ClassId]) -> None:
        chosen = {class_id for class_id, _parent in self.selected_places}
        for class_id in class_ids:
            if class_id not in chosen and (index := self._open_row(class_id)).isValid():
                self.selectionModel().select(index, _WITH_ROW)

    def clear_choice(self) -> None:
        self._selected = None
        self.selectionModel().clear()

    def _is_in_open_branches(self, index: QModelIndex) -> bool:
        above = index.parent()
        while above.isValid() and self.isExpanded(above):
            above = above.parent()
        return not above.isValid()

    def selectionChanged(self, selected: QItemSelection, deselected: QItemSelection) -> None:
        """Emit the new selection; a row that only becomes current by focus is not selected."""
        self._places = None
        super().selectionChanged(selected, deselected)
        self._announce_choice()

    def currentChanged(self, current: AnyIndex, previous: AnyIndex) -> None:
        super().currentChanged(current, previous)
        # A press makes a row current before it is selected.
        if self.selectionModel().isSelected(current):
            self._announce_choice()

    def _announce_choice(self) -> None:
        if self._model.is_following_edits:
            return  # a neighbour that Qt selected for a removed row
        chosen = self.selected_class
        if chosen is not None and chosen != self._selected:
            self._selected = chosen
            self.class_selected.emit(chosen)

    def reset(self) -> None:
        self._places = None
        super().reset()

    def _on_collapsed(self, index: QModelIndex) -> None:
        """Deselect rows that are hidden by collapsing, so that they are not removed unseen."""
        gone = [each for each in self.selected_rows if is_below(each, index.siblingAtColumn(NAME))]
        if not gone:
            return
        if len(gone) == len(self.selected_rows):
            self.select(index.siblingAtColumn(NAME))
        for each in gone:
            self.selectionModel().select(each, _WITHOUT_ROW)

    def _on_rows_about_to_be_removed(self, parent: QModelIndex, first: int, last: int) -> None:
        self._kept.note_choice(self.selected_rows, parent, first, last)
        self._kept.note_open(parent, first, last)

    def _on_edits_applied(self, came: Sequence[int]) -> None:
        self._places = None
        self._kept.open_again(came)
        self._choose_again()
        self.scheduleDelayedItemsLayout()  # a class may need a chevron, as it got its first child

    def _choose_again(self) -> None:
        """Reselect the same classes after their rows were removed; emit if the class is gone."""
        others, neighbour = self._kept.take_chosen()
        wanted, now = self._selected, self.selected_class
        if wanted is None or (wanted == now and not others):
            return
        others |= {class_id for class_id, _parent in self.selected_places}
        if (
            wanted == now
            or self.select_built(wanted)
            or self.select_path(self._model.first_path(wanted))
        ):
            self.select_all_built(others)
            return
        if not self.selected_rows:
            self.select(neighbour)
        self._announce_choice()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Request a new class; other keys are shortcuts of actions."""
        key, has_control = event.key(), event.modifiers() == Qt.KeyboardModifier.ControlModifier
        is_new = key == Qt.Key.Key_Insert or (key == Qt.Key.Key_N and has_control)
        if is_new and self._model.is_editable:
            self.requests.create_requested.emit(self.selected_class)
        elif key == Qt.Key.Key_Asterisk:  # Qt would expand every path
            open_rows(self, [self.currentIndex().siblingAtColumn(NAME)])
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        index = self.indexAt(event.pos())
        self.requests.menu_requested.emit(self._model.class_of(index), event.globalPos())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Remember whether the pressed row was selected, for a drag of all selected classes."""
        pressed = self.indexAt(event.position().toPoint()).siblingAtColumn(NAME)
        self._was_chosen = pressed.isValid() and self.selectionModel().isSelected(pressed)
        self._was_dragged = False
        super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Ignore moves after a drag, which would select rows."""
        if not self._was_dragged:
            super().mouseMoveEvent(event)

    def startDrag(self, _actions: Qt.DropAction) -> None:
        """Drag the selected classes, or the pressed one if it was not selected."""
        if not self._model.is_editable:
            return
        if not self._was_chosen:
            self.selectionModel().select(self.currentIndex(), _ONLY_ROW)
        if not (rows := self.selected_rows):
            return
        self._was_dragged = True
        # Afterwards the model follows the graph.
        drag_classes(self, self._model.places_of(rows), self._model.graph)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Accept every drag; `dragMoveEvent` decides for each row."""
        event.accept()

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        self._drop_target.judge(event)

    def dragLeaveEvent(self, _event: QDragLeaveEvent) -> None:
        self._drop_target.leave()

    def dropEvent(self, event: QDropEvent) -> None:
        taken = self._drop_target.take(event)
        if taken is not None:
            self.requests.drop(*taken, is_link=is_link(event))

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter = QPainter(self.viewport())
        self._drop_target.paint_below(painter)
        painter.end()

    def drawRow(self, painter: QPainter, options: QStyleOptionViewItem, index: AnyIndex) -> None:
        row: QRect = options.rect
        is_selected = self.selectionModel().isSelected(index)
        self._paint_background(painter, row, index, is_selected=is_selected)
        if self._model.hasChildren(index):
            paint_chevron(painter, self.visualRect(index), is_open=self.isExpanded(index))
        for column in (NAME, COUNT):
            option = QStyleOptionViewItem(options)
            cell = index.sibling(index.row(), column)
            option.rect = self.columns.painted_rect(cell)
            if is_selected:
                option.state |= QStyle.StateFlag.State_Selected
            self.itemDelegate().paint(painter, option, cell)

    def drawBranches(self, _painter: QPainter, _rect: QRect, _index: AnyIndex) -> None:
        """Do nothing: the chevron is painted with its row."""

    def _paint_background(
        self, painter: QPainter, row: QRect, index: AnyIndex, *, is_selected: bool
    ) -> None:
        ground = self._drop_target.ground_of(index) or (Ground.CHOSEN if is_selected else None)
        cursor = self.viewport().mapFromGlobal(self.cursor().pos())
        is_hovered = self.viewport().underMouse() and row.top() <= cursor.y() <= row.bottom()
        if ground is not None or is_hovered:
            whole = QRect(0, row.y(), self.viewport().width(), row.height())
            paint_ground(painter, whole, ground or Ground.HOVERED)

    def sizeHint(self) -> QSize:
        return QSize(240, 320)
