"""Widths of names and counts, and the indent: in a deep tree it shrinks, and names are scrolled to sideways."""

from __future__ import annotations

from typing import Final, final

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, QPoint, QRect, Qt, QTimer
from PySide6.QtGui import QFontMetrics, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QHeaderView, QTreeView

from app.class_tree.delegate import COUNT_MARGIN, DOT_ROOM, caption_font
from app.class_tree.model import ClassTreeModel
from app.class_tree.row_data import COUNT, NAME

AnyIndex = QModelIndex | QPersistentModelIndex

# Logical pixels.
COUNT_GAP: Final = 8
WIDEST_INDENT: Final = 18  # also the room for the chevron of a row, however small the indent is
NARROWEST_INDENT: Final = 8
LEAST_NAME: Final = 80  # room for a name at any depth, about ten letters: of longer ones the tool tip tells the rest


@final
class FittedColumns(QObject):
    """Fits the counts of a tree to the largest one, and its indent and names to the levels that are open."""

    def __init__(self, view: QTreeView, model: ClassTreeModel) -> None:
        super().__init__(view)
        self._view = view
        self._model = model
        self._levels = 1
        self._is_pressed = False  # on a chevron
        self._recount = self._timer(self._count_levels)
        self._reveal = self._timer(lambda: view.scrollTo(view.currentIndex()))
        for changed in (view.expanded, view.collapsed, model.rowsRemoved, model.rowsMoved, model.modelReset):
            changed.connect(self._recount.start)
        view.viewport().installEventFilter(self)
        view.setIndentation(WIDEST_INDENT)
        view.setHeaderHidden(True)
        view.header().setMinimumSectionSize(1)
        view.header().setStretchLastSection(False)
        view.header().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)

    def _timer(self, slot: object) -> QTimer:
        timer = QTimer(self, singleShot=True)
        timer.timeout.connect(slot)
        return timer

    @property
    def name_room(self) -> int:
        """Width of the window's part that names are painted in: the counts at the right stay where they are."""
        return self._view.viewport().width() - self._view.header().sectionSize(COUNT)

    @property
    def first_indent(self) -> int:
        """How much further than Qt's all names begin, so that a top-level class has room for its chevron."""
        return WIDEST_INDENT - self._view.indentation()

    def painted_rect(self, index: AnyIndex) -> QRect:
        """Where a cell is painted: counts stay in sight at the right, and a name ends before them."""
        rect = self._view.visualRect(index)
        rect.setRight(self.name_room) if index.column() == NAME else rect.moveLeft(self.name_room)
        return rect

    # -- widths

    def fit_counts(self, widest: str) -> None:
        metrics = QFontMetrics(caption_font(self._view.font()))
        width = metrics.horizontalAdvance(widest or "888") + COUNT_MARGIN + COUNT_GAP
        self._view.header().resizeSection(COUNT, width)
        self._fit()

    def _fit(self) -> None:
        below, ends = self._levels - 1, WIDEST_INDENT + DOT_ROOM + LEAST_NAME
        indent = (self.name_room - ends) // below if below else WIDEST_INDENT
        indent = min(max(indent, NARROWEST_INDENT), WIDEST_INDENT)
        self._view.setIndentation(indent)
        needed = below * indent + ends if below else 0  # a flat list never scrolls sideways
        self._view.header().resizeSection(NAME, max(self.name_room, needed))

    def _count_levels(self) -> None:
        self._levels = max(1, self._model.open_levels(self._view.isExpanded))
        self._fit()

    # -- what is in sight

    def show_name(self, index: AnyIndex) -> None:
        """Scroll sideways, no further than needed, until a row's chevron and the beginning of its name are there."""
        bar, start = self._view.horizontalScrollBar(), self._view.visualRect(index.sibling(index.row(), NAME)).x()
        left, right = start - WIDEST_INDENT, start + DOT_ROOM + LEAST_NAME
        beyond = max(right - self.name_room, 0)
        bar.setValue(bar.value() + (left if left < 0 else min(beyond, left)))

    def _follow_size(self, event: QResizeEvent) -> None:
        """Fit the new width; a row that was in sight stays so, also when a scroll bar comes where it stands."""
        self._fit()
        current = self._view.visualRect(self._view.currentIndex())
        if event.size().height() < event.oldSize().height() and 0 <= current.top() < event.oldSize().height():
            self._reveal.start()

    # -- chevrons

    def _branch_at(self, point: QPoint) -> QModelIndex:
        """The row that opens by a click at a point; invalid where there is no chevron."""
        index = self._view.indexAt(point)
        index = index.siblingAtColumn(NAME) if index.isValid() else index
        start = self._view.visualRect(index).x()
        is_chevron = index.isValid() and self._model.hasChildren(index) and start - WIDEST_INDENT <= point.x() < start
        return index if is_chevron else QModelIndex()

    def _takes(self, event: QMouseEvent) -> bool:
        """Open or close the row whose chevron is pressed: with a narrow indent Qt's own place for it is too small."""
        if event.type() in (QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonDblClick):
            index = self._branch_at(event.position().toPoint())
            self._is_pressed = index.isValid() and event.button() == Qt.MouseButton.LeftButton
            if self._is_pressed:
                self._view.setExpanded(index, not self._view.isExpanded(index))
            return self._is_pressed
        was_pressed = self._is_pressed
        if event.type() == QEvent.Type.MouseButtonRelease:
            self._is_pressed = False
        return was_pressed

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Follow the width of the pane, and take presses on chevrons."""
        if isinstance(event, QResizeEvent):
            self._follow_size(event)
        return isinstance(event, QMouseEvent) and self._takes(event)
