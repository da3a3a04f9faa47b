"""The tree itself: paints rows, takes drops, keeps selection and open branches while the graph changes under it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Final, final

from PySide6.QtCore import (
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QContextMenuEvent,
    QDrag,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QStyle, QStyleOptionViewItem, QTreeView, QWidget

from app.class_tree.columns import FittedColumns
from app.class_tree.delegate import ROW_HEIGHT, ClassDelegate, Ground, paint_chevron, paint_ground
from app.class_tree.drop_target import DropTarget
from app.class_tree.kept_rows import KeptRows, is_below, open_rows
from app.class_tree.model import ClassTreeModel
from app.class_tree.row_data import COUNT, NAME
from app.dragging import DraggedClasses, DraggedImages, Places, drag_picture, is_link
from app.drops import classes_text
from app.signal_types import either
from app.texts import tr

if TYPE_CHECKING:  # the window shows first
    from engine.graph.category_graph import ClassId

AnyIndex = QModelIndex | QPersistentModelIndex

_AS_NEEDED: Final = QAbstractItemView.ScrollHint.EnsureVisible
_ROWS: Final = QItemSelectionModel.SelectionFlag.Rows
_WITH_ROW: Final = QItemSelectionModel.SelectionFlag.Select | _ROWS
_WITHOUT_ROW: Final = QItemSelectionModel.SelectionFlag.Deselect | _ROWS
_ONLY_ROW: Final = QItemSelectionModel.SelectionFlag.ClearAndSelect | _ROWS


@final
class ClassTreeView(QTreeView):
    """Shows a `ClassTreeModel`. Says what a person wants; changes nothing.

    Args:
        has_paths: whether these are classes that a search found, each with its path below its name.
    """

    class_selected = Signal(int)
    create_requested = Signal(either(int | None))  # a new class under this one, or at the top level (None)
    classes_dropped = Signal(tuple, either(int | None), bool)  # `Places`, new parent or None, whether to link
    images_dropped = Signal(either(int | None), tuple)  # class, or None for a new one; image ids
    files_dropped = Signal(int, tuple)  # class, paths
    menu_requested = Signal(either(int | None), QPoint)  # class or None, place on the screen

    def __init__(self, model: ClassTreeModel, *, has_paths: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._selected: ClassId | None = None
        self._kept = KeptRows(self, model)
        self._places: Places | None = None  # of the chosen rows; None until somebody asks
        self._was_chosen = self._was_dragged = False
        self._drop_target = DropTarget(self, model)
        self.columns = FittedColumns(self, model)
        self._set_up(has_paths=has_paths)
        model.rowsAboutToBeRemoved.connect(self._on_rows_about_to_be_removed)  # before the selection forgets them
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
        self.setDropIndicatorShown(False)  # the row itself lights up
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setAccessibleName(tr("Classes"))

    def updateGeometries(self) -> None:
        """Let a long tree be scrolled one row further: there is always room below all classes to drop something on."""
        bar = self.verticalScrollBar()
        place = bar.value()
        super().updateGeometries()
        if bar.maximum() > 0:
            bar.setMaximum(bar.maximum() + ROW_HEIGHT)
            bar.setValue(place)

    def scrollTo(self, index: AnyIndex, hint: QAbstractItemView.ScrollHint = _AS_NEEDED) -> None:
        """Bring a row into view; sideways no further than its name needs."""
        place = self.horizontalScrollBar().value()
        super().scrollTo(index, hint)
        self.horizontalScrollBar().setValue(place)
        self.columns.show_name(index)

    def visualRect(self, index: AnyIndex) -> QRect:
        rect = super().visualRect(index)
        return rect.adjusted(self.columns.first_indent, 0, 0, 0) if index.column() == NAME else rect

    # -- which class is chosen

    @property
    def selected_rows(self) -> list[QModelIndex]:
        """All chosen rows, from above to below."""
        return self._model.rows_of(self.selectionModel().selection())

    @property
    def selected_places(self) -> Places:
        """The chosen classes, each with the parent that its row stands under; a class may stand under several."""
        if self._places is None:
            self._places = self._model.places_of(self.selected_rows)
        return self._places

    @property
    def selected_index(self) -> QModelIndex:
        """The current one of the chosen rows; invalid when none is chosen."""
        current = self.currentIndex().siblingAtColumn(NAME)
        if current.isValid() and self.selectionModel().isSelected(current):
            return current
        return next(iter(self.selected_rows), QModelIndex())

    @property
    def selected_class(self) -> ClassId | None:
        return self._model.class_of(self.selected_index)

    @property
    def selected_parent(self) -> ClassId | None:
        """The parent under which the chosen row stands; None at the top level."""
        return self._model.parent_class_of(self.selected_index)

    def select(self, index: QModelIndex) -> None:
        """Choose a row, and no other whichever keys are held down, and bring it into view."""
        if index.isValid():
            self.selectionModel().setCurrentIndex(index, _ONLY_ROW)
            self.scrollTo(index)

    def select_path(self, path: Sequence[ClassId]) -> bool:
        """Open the branches along a path from a root and choose its end."""
        index = self._model.index_of_path(path)
        self.select(index)
        return index.isValid()

    def select_built(self, class_id: ClassId) -> bool:
        """Choose the first row of a class whose branches are open; whether there was one."""
        for index in self._model.indexes_of(class_id):
            if self._is_in_open_branches(index):
                self.select(index)
                return True
        return False

    def has_open(self, class_id: ClassId) -> bool:
        """Whether a row of a class stands in open branches."""
        return any(map(self._is_in_open_branches, self._model.indexes_of(class_id)))

    def select_all_built(self, class_ids: Collection[ClassId]) -> None:
        """Choose the first open row of each of these classes beside those that are chosen."""
        chosen = {class_id for class_id, _parent in self.selected_places}
        for class_id in class_ids:
            rows = () if class_id in chosen else self._model.indexes_of(class_id)
            index = next((each for each in rows if self._is_in_open_branches(each)), None)
            if index is not None:
                self.selectionModel().select(index, _WITH_ROW)

    def clear_choice(self) -> None:
        self._selected = None
        self.selectionModel().clear()

    def _is_in_open_branches(self, index: QModelIndex) -> bool:
        above = index.parent()
        while above.isValid():
            if not self.isExpanded(above):
                return False
            above = above.parent()
        return True

    def selectionChanged(self, selected: QItemSelection, deselected: QItemSelection) -> None:
        """Say what was chosen. Taking the focus makes a row the current one too, but chooses nothing."""
        self._places = None
        super().selectionChanged(selected, deselected)
        self._tell_choice()

    def currentChanged(self, current: AnyIndex, previous: AnyIndex) -> None:
        """Say which of several chosen classes is the current one now."""
        super().currentChanged(current, previous)
        if self.selectionModel().isSelected(current):  # a press makes a row the current one before it is chosen
            self._tell_choice()

    def _tell_choice(self) -> None:
        if self._model.is_following_edits:
            return  # a neighbour that Qt chose for a row that goes away; the right one comes in a moment
        chosen = self.selected_class
        if chosen is not None and chosen != self._selected:
            self._selected = chosen
            self.class_selected.emit(chosen)

    def reset(self) -> None:
        self._places = None
        super().reset()

    def _on_collapsed(self, index: QModelIndex) -> None:
        """What goes out of sight is not chosen any more: nobody removes what they do not see."""
        gone = [each for each in self.selected_rows if is_below(each, index.siblingAtColumn(NAME))]
        if not gone:
            return
        if len(gone) == len(self.selected_rows):
            self.select(index.siblingAtColumn(NAME))
        for each in gone:
            self.selectionModel().select(each, _WITHOUT_ROW)

    # -- while the graph changes

    def _on_rows_about_to_be_removed(self, parent: QModelIndex, first: int, last: int) -> None:
        self._kept.note_choice(self.selected_rows, parent, first, last)
        self._kept.note_open(parent, first, last)

    def _on_edits_applied(self, came: Sequence[int]) -> None:
        self._places = None
        self._kept.open_again(came)
        self._choose_again()
        self.scheduleDelayedItemsLayout()  # a class may have got its first child, and with it a chevron

    def _choose_again(self) -> None:
        """Keep the choice on its classes when their rows went away; when the class is gone, say which is chosen now."""
        others, beside = self._kept.take_chosen()
        wanted, now = self._selected, self.selected_class
        if wanted is None or (wanted == now and not others):
            return
        others |= {class_id for class_id, _parent in self.selected_places}
        if wanted == now or self.select_built(wanted) or self.select_path(self._model.first_path(wanted)):
            self.select_all_built(others)
            return
        if not self.selected_rows:
            self.select(beside)
        self._tell_choice()

    # -- keys and menu

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Ask for a new class by key; all other keys that do something are those of the window's actions."""
        is_new = event.key() == Qt.Key.Key_Insert or (
            event.key() == Qt.Key.Key_N and event.modifiers() == Qt.KeyboardModifier.ControlModifier
        )
        if is_new and self._model.is_editable:
            self.create_requested.emit(self.selected_class)
        elif event.key() == Qt.Key.Key_Asterisk:  # Qt would open every path
            open_rows(self, [self.currentIndex().siblingAtColumn(NAME)])
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        index = self.indexAt(event.pos())
        self.menu_requested.emit(self._model.class_of(index), event.globalPos())

    # -- dragging classes

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Remember whether a drag would take all chosen classes along, or the pressed one alone."""
        pressed = self.indexAt(event.position().toPoint()).siblingAtColumn(NAME)
        self._was_chosen = pressed.isValid() and self.selectionModel().isSelected(pressed)
        self._was_dragged = False
        super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """A drag that has ended chooses no rows on its last steps."""
        if not self._was_dragged:
            super().mouseMoveEvent(event)

    def startDrag(self, _actions: Qt.DropAction) -> None:
        """Take the chosen classes along; a class that was not among them when it was pressed goes alone."""
        if not self._model.is_editable:
            return
        if not self._was_chosen:
            self.selectionModel().select(self.currentIndex(), _ONLY_ROW)
        rows = self.selected_rows
        if not rows:
            return
        self._was_dragged = True
        drag = QDrag(self)
        drag.setMimeData(self._model.mimeData(rows))
        drag.setPixmap(drag_picture(self, str(rows[0].data()) if len(rows) == 1 else classes_text(len(rows))))
        drag.setHotSpot(QPoint(-8, -8))
        # Nothing is removed here when the drag ends: the rows follow the graph.
        drag.exec(
            Qt.DropAction.MoveAction | Qt.DropAction.CopyAction | Qt.DropAction.LinkAction, Qt.DropAction.MoveAction
        )

    # -- taking drops

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Let it in, wherever it comes in: what is refused here is offered nowhere else in the tree."""
        event.accept()

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        self._drop_target.judge(event)

    def dragLeaveEvent(self, _event: QDragLeaveEvent) -> None:
        self._drop_target.leave()

    def dropEvent(self, event: QDropEvent) -> None:
        taken = self._drop_target.take(event)
        if taken is None:
            return
        dragged, target = taken
        if isinstance(dragged, DraggedClasses):
            self.classes_dropped.emit(dragged.places, target, is_link(event))
        elif isinstance(dragged, DraggedImages):
            self.images_dropped.emit(target, dragged.image_ids)
        else:
            self.files_dropped.emit(target, dragged.paths)

    # -- painting

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the rows, and the room below them while a drop would go there."""
        super().paintEvent(event)
        painter = QPainter(self.viewport())
        self._drop_target.paint_below(painter)
        painter.end()

    def drawRow(self, painter: QPainter, options: QStyleOptionViewItem, index: AnyIndex) -> None:
        """Paint background, chevron and both cells: the whole row is one rounded shape."""
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
        """Nothing: the chevron is painted with its row."""

    def _paint_background(self, painter: QPainter, row: QRect, index: AnyIndex, *, is_selected: bool) -> None:
        ground = self._drop_target.ground_of(index) or (Ground.CHOSEN if is_selected else None)
        cursor = self.viewport().mapFromGlobal(self.cursor().pos())
        is_hovered = self.viewport().underMouse() and row.top() <= cursor.y() <= row.bottom()
        if ground is not None or is_hovered:
            whole = QRect(0, row.y(), self.viewport().width(), row.height())
            paint_ground(painter, whole, ground or Ground.HOVERED)

    def sizeHint(self) -> QSize:
        return QSize(240, 320)
