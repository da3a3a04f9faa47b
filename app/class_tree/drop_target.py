"""Feedback of a drag over the tree: highlighted row, a chip with the effect, and expanding rows."""

from typing import final

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QRect, Qt, QTimer
from PySide6.QtGui import QDragMoveEvent, QDropEvent, QPainter
from PySide6.QtWidgets import QTreeView

from app.class_requests import DropVerdict, judge_drop
from app.class_tree.delegate import Ground, paint_ground
from app.class_tree.model import ClassTreeModel
from app.class_tree.row_data import NAME, AnyIndex
from app.dragging import Dragged, DraggedClasses, DraggedFiles, EdgeScroll, is_link, read_dragged
from app.drops import LazyChip
from app.theme.tokens import tokens
from engine.graph.category_graph import ClassId
from engine.graph.placement import Obstacle

SPRING_MS = 600  # as in file managers: long enough to pass over a row
_ROOM_BELOW = {Obstacle.ALREADY_THERE, Obstacle.NAME_TAKEN}
"""Refusals for which a hovered row still expands, as a descendant may accept the drop."""


@final
class DropTarget:
    """Tracks a drag over the class tree."""

    def __init__(self, view: QTreeView, model: ClassTreeModel) -> None:
        self._view = view
        self._model = model
        self._dragged: Dragged | None = None
        self._is_link = False
        self._refused: tuple[ClassId, ...] = ()
        self._point = QPoint()
        self._row = QPersistentModelIndex()
        self._resting = QPersistentModelIndex()
        self._is_below = False
        self._opened: list[QPersistentModelIndex] = []
        self._chip = LazyChip(view)
        self._scroll = EdgeScroll(view, self._look)
        self._spring = QTimer(view, singleShot=True, interval=SPRING_MS)
        self._spring.timeout.connect(self._open)

    def judge(self, event: QDragMoveEvent) -> None:
        self._dragged, self._is_link = read_dragged(event.mimeData()), is_link(event)
        self._point = event.position().toPoint()
        self._scroll.follow(self._point.y())
        if self._look() and self._dragged is not None:
            event.setDropAction(_drop_action(self._dragged, is_link=self._is_link))
            event.accept()
        else:
            event.ignore()

    def leave(self) -> None:
        self._end()
        self._fold(QModelIndex())

    def take(self, event: QDropEvent) -> tuple[Dragged, ClassId | None] | None:
        """Finish a drop.

        Returns:
            The dragged data and the class it was dropped on (None: at the top level); None if
                refused.
        """
        dragged, index = (
            read_dragged(event.mimeData()),
            self._view.indexAt(event.position().toPoint()),
        )
        self._end()
        self._fold(index)
        if dragged is None or not self._judge(dragged, index, is_link(event)).is_taken:
            event.ignore()
            return None
        event.accept()
        return dragged, self._model.class_of(index)

    def _end(self) -> None:
        self._scroll.stop()
        self._dragged = None
        self._light_up(QModelIndex(), is_below=False)
        self._light_path(())
        self._spring_over(QModelIndex())
        self._chip.hide()

    def _look(self) -> bool:
        """Show the effect of a drop at the pointer, or why it is refused; True if accepted."""
        index = self._view.indexAt(self._point).siblingAtColumn(NAME)
        verdict = self._judge(self._dragged, index, self._is_link)
        is_taken, refusal = verdict.is_taken, verdict.refusal
        self._light_up(
            index if is_taken else QModelIndex(), is_below=is_taken and not index.isValid()
        )
        self._light_path(verdict.path)
        place = self._view.viewport().mapToGlobal(self._point)
        self._chip.show_message(verdict.text, place, self._dragged, is_refusal=refusal is not None)
        is_way = is_taken or (refusal is not None and refusal.obstacle in _ROOM_BELOW)
        self._spring_over(index if is_way else QModelIndex())
        return is_taken

    def _judge(self, dragged: Dragged | None, index: QModelIndex, is_link: bool) -> DropVerdict:
        if not self._model.is_editable:
            return DropVerdict()
        return judge_drop(self._model.graph, dragged, self._model.class_of(index), is_link=is_link)

    def _light_up(self, index: QModelIndex, *, is_below: bool) -> None:
        if self._row != index or self._is_below != is_below:
            self._row, self._is_below = QPersistentModelIndex(index), is_below
            self._view.viewport().update()

    def _light_path(self, path: tuple[ClassId, ...]) -> None:
        if self._refused != path:
            self._refused = path
            self._view.viewport().update()

    def _spring_over(self, index: QModelIndex) -> None:
        if self._resting != index:
            self._resting = QPersistentModelIndex(index)
            self._spring.start() if index.isValid() else self._spring.stop()

    def ground_of(self, index: AnyIndex) -> Ground | None:
        if self._row.isValid() and self._row == index:
            return Ground.TARGET
        return (
            Ground.REFUSED
            if self._refused and self._model.class_of(index) in self._refused
            else None
        )

    def paint_below(self, painter: QPainter) -> None:
        if not self._is_below:
            return
        view = self._view
        last = self._model.index(self._model.rowCount() - 1, NAME)
        while view.isExpanded(last) and self._model.rowCount(last):
            last = self._model.index(self._model.rowCount(last) - 1, NAME, last)
        top = view.visualRect(last).bottom() + 1 if last.isValid() else 0
        room = QRect(0, top, view.viewport().width(), view.viewport().height() - top)
        paint_ground(painter, room.adjusted(0, 1, 0, -tokens().spacing.tiny), Ground.TARGET)

    def _open(self) -> None:
        row = self._resting
        if row.isValid() and self._model.hasChildren(row) and not self._view.isExpanded(row):
            self._opened.append(QPersistentModelIndex(row))
            self._view.expand(row)

    def _fold(self, kept: QModelIndex) -> None:
        """Collapse the rows expanded during the drag, except the ancestors of a row."""
        way = []
        while kept.isValid():
            way.append(kept.siblingAtColumn(NAME))
            kept = kept.parent()
        for row in reversed(self._opened):
            if row.isValid() and not any(row == each for each in way):
                self._view.collapse(row)
        self._opened.clear()


def _drop_action(dragged: Dragged, *, is_link: bool) -> Qt.DropAction:
    if isinstance(dragged, DraggedClasses):
        return Qt.DropAction.LinkAction if is_link else Qt.DropAction.MoveAction
    return (
        Qt.DropAction.LinkAction if isinstance(dragged, DraggedFiles) else Qt.DropAction.CopyAction
    )
