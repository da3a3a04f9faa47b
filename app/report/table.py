"""Tables of a report, sortable by column; Enter or a double click opens the class of a cell."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, final

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QAbstractItemView, QTableView

from app.key_names import ENTER_KEYS
from app.tables import dress_table
from app.texts import plain_tip
from engine.collation import collation
from engine.graph.codes import UNKNOWN
from engine.report.document import ClassName
from engine.report.words import NUMBERS, printable, shown_value

if TYPE_CHECKING:
    from engine.report.document import FigureTable, Value

Index = QModelIndex | QPersistentModelIndex
Role = Qt.ItemDataRole
ROW = 28  # height in logical pixels
NAME_WIDTH = 180  # logical pixels, at most
LEAST_NAME = 90  # logical pixels, at least
PADDING = 18  # logical pixels added to the text width
MEASURED = 60  # rows measured for the column widths


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

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Role.DisplayRole
    ) -> Any:
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

    def is_detail(self, column: int) -> bool:
        return self._table.columns[column].is_detail

    def class_at(self, index: Index) -> int | None:
        """The class of a cell, else the first class in its row; None without any."""
        if not index.isValid():
            return None
        row = self.rows[index.row()]
        cells = (row[index.column()], *row)
        found = next((cell for cell in cells if isinstance(cell, ClassName)), None)
        return None if found is None or found.class_id == UNKNOWN else found.class_id

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column; rows without a value come last in both orders."""
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
    """A table as high as its rows: the page scrolls vertically."""

    class_requested = Signal(int)

    def __init__(self, table: FigureTable) -> None:
        super().__init__()
        self._model = ReportTableModel(table)
        self.setModel(self._model)
        head = dress_table(self, table.title, ROW)
        head.setSectionsClickable(True)
        head.setSortIndicatorShown(True)
        head.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        head.sortIndicatorChanged.connect(self._model.sort)
        head.setMinimumSectionSize(48)
        head.setStretchLastSection(False)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self._widths = [self._wide(column) for column in range(self._model.columnCount())]
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._fit_height()
        self.doubleClicked.connect(self._open)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_widths()
        self._fit_height()

    def _fit_height(self) -> None:
        """Set the height for rows, header and, if needed, the horizontal scroll bar."""
        bar = self.horizontalScrollBar()
        below = bar.sizeHint().height() if bar.maximum() > 0 else 0
        head = self.horizontalHeader().sizeHint().height()
        self.setFixedHeight(head + ROW * self._model.rowCount() + 2 + below)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave vertical scrolling to the page."""
        event.ignore() if event.angleDelta().x() == 0 else super().wheelEvent(event)

    def _wide(self, column: int) -> int:
        """Width of a column: of all digits for numbers, limited for names."""
        texts = [self._model.headerData(column, Qt.Orientation.Horizontal) + "  ▾"]
        texts += [
            self._model.data(self._model.index(row, column))
            for row in range(min(len(self._model.rows), MEASURED))
        ]
        width = max(self.fontMetrics().horizontalAdvance(text) for text in texts) + PADDING
        return width if self._model.is_number(column) else max(min(width, NAME_WIDTH), LEAST_NAME)

    def _fit_widths(self) -> None:
        """Hide detail columns until the rest fit; the first name column gets the spare width."""
        shown, room = list(range(self._model.columnCount())), self.viewport().width()
        details = [column for column in shown if self._model.is_detail(column)]
        while details and sum(self._widths[column] for column in shown) > room:
            shown.remove(details.pop())
        for column, width in enumerate(self._widths):
            self.setColumnHidden(column, column not in shown)
            self.setColumnWidth(column, width)
        names = [column for column in shown if not self._model.is_number(column)]
        numbers = sum(self._widths[column] for column in shown if column not in names)
        for place, column in enumerate(names):
            others = sum(self._widths[each] for each in names if each != column)
            share = max((room - numbers) // len(names), LEAST_NAME)
            is_wide = room < numbers + sum(self._widths[each] for each in names)
            wanted = min(self._widths[column], share) if is_wide else self._widths[column]
            self.setColumnWidth(column, wanted if place or is_wide else room - numbers - others)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in ENTER_KEYS:
            self._open(self.currentIndex())
        else:
            super().keyPressEvent(event)

    def _open(self, index: QModelIndex) -> None:
        class_id = self._model.class_at(index)
        if class_id is not None:
            self.class_requested.emit(class_id)
