"""Tables of a report: sorted by a click on a heading; a class opens its class, by Enter or a double click."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, final

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QTableView

from app.texts import plain_tip
from engine.collation import collation
from engine.collection.report.document import ClassName
from engine.collection.report.shown import NUMBERS, printable, shown_value
from engine.graph.codes import UNKNOWN

if TYPE_CHECKING:
    from engine.collection.report.document import FigureTable, Value

Index = QModelIndex | QPersistentModelIndex
Role = Qt.ItemDataRole
MOST_ROWS_HIGH: Final = 14  # rows that are seen at once; more scroll
TALL_ROWS: Final = 22  # of the table of classes
ROW: Final = 28  # logical pixels
NAME_WIDTH: Final = 180  # at most
MEASURED: Final = 60  # rows that widths are made from


@final
class ReportTableModel(QAbstractTableModel):
    """The rows of one table."""

    def __init__(self, table: FigureTable) -> None:
        super().__init__()
        self._table = table
        self.rows = list(table.rows)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 (Qt's own default)
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 (Qt's own default)
        return 0 if parent.isValid() else len(self._table.columns)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Role.DisplayRole) -> Any:
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role == Role.DisplayRole:
            return self._table.columns[section].title
        return self._alignment(section) if role == Role.TextAlignmentRole else None

    def data(self, index: Index, role: int = Role.DisplayRole) -> Any:
        if role == Role.TextAlignmentRole:
            return self._alignment(index.column())
        if role not in (Role.DisplayRole, Role.ToolTipRole):
            return None
        value = self.rows[index.row()][index.column()]
        if role == Role.DisplayRole:
            return printable(shown_value(self._table.columns[index.column()], value))
        return plain_tip(printable(value.path)) if isinstance(value, ClassName) else None

    def _alignment(self, column: int) -> Qt.AlignmentFlag:
        side = Qt.AlignmentFlag.AlignRight if self.is_number(column) else Qt.AlignmentFlag.AlignLeft
        return side | Qt.AlignmentFlag.AlignVCenter

    def is_number(self, column: int) -> bool:
        return self._table.columns[column].kind in NUMBERS

    def class_at(self, index: Index) -> int | None:
        """The class of a cell, else the first one of its row; None where there is none."""
        if not index.isValid():
            return None
        row = self.rows[index.row()]
        cells = (row[index.column()], *row)
        found = next((cell for cell in cells if isinstance(cell, ClassName)), None)
        return None if found is None or found.class_id == UNKNOWN else found.class_id

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Rows without a value come last either way."""
        if not 0 <= column < len(self._table.columns):
            return
        self.beginResetModel()
        known = [row for row in self.rows if not _is_missing(row[column])]
        missing = [row for row in self.rows if _is_missing(row[column])]
        known.sort(key=lambda row: _key(row[column]), reverse=order == Qt.SortOrder.DescendingOrder)
        self.rows = [*known, *missing]
        self.endResetModel()


def _is_missing(value: Value) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _key(value: Value) -> Any:
    if isinstance(value, ClassName):
        return collation()(value.name)
    return collation()(value) if isinstance(value, str) else value


@final
class ReportTableView(QTableView):
    """As high as its rows, up to a limit; then it scrolls by itself."""

    class_requested = Signal(int)

    def __init__(self, table: FigureTable, *, is_tall: bool = False) -> None:
        super().__init__()
        self._model = ReportTableModel(table)
        self.setModel(self._model)
        self.setAccessibleName(table.title)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setTabKeyNavigation(False)
        self.setWordWrap(False)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(ROW)
        self._dress_head()
        self._show_widths()
        rows = min(len(table.rows), TALL_ROWS if is_tall else MOST_ROWS_HIGH)
        self.setFixedHeight(ROW * (rows + 1) + 14)
        self.doubleClicked.connect(self._open)

    def _dress_head(self) -> None:
        head = self.horizontalHeader()
        head.setHighlightSections(False)
        head.setSectionsClickable(True)
        head.setSortIndicatorShown(True)
        head.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        head.sortIndicatorChanged.connect(self._model.sort)
        head.setMinimumSectionSize(48)

    def _show_widths(self) -> None:
        """Numbers are as wide as they are; names share the rest."""
        head, metrics = self.horizontalHeader(), self.fontMetrics()
        head.setStretchLastSection(False)
        names = [column for column in range(self._model.columnCount()) if not self._model.is_number(column)]
        for column in range(self._model.columnCount()):
            texts = [self._model.headerData(column, Qt.Orientation.Horizontal) + "  ▾"]
            texts += [
                self._model.data(self._model.index(row, column)) for row in range(min(len(self._model.rows), MEASURED))
            ]
            width = max(metrics.horizontalAdvance(text) for text in texts) + 24
            self.setColumnWidth(column, width if self._model.is_number(column) else max(min(width, NAME_WIDTH), 90))
        if names:
            head.setSectionResizeMode(names[0], QHeaderView.ResizeMode.Stretch)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._open(self.currentIndex())
        else:
            super().keyPressEvent(event)

    def _open(self, index: QModelIndex) -> None:
        class_id = self._model.class_at(index)
        if class_id is not None:
            self.class_requested.emit(class_id)
