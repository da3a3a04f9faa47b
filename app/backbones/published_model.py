"""Published networks as a Qt table."""

from collections.abc import Sequence
from typing import Any, Final, final

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from app.backbones.logic import Column, PublishedRow, arranged
from app.backbones.wording import (
    COLUMN_TIPS,
    COLUMN_TITLES,
    accuracy,
    licence_text,
    pixels,
    published_facts,
    short_licence,
)
from app.texts import translate
from app.wording import file_size

COLUMNS: Final = tuple(Column)
_NUMBERS: Final = frozenset({Column.SIZE, Column.ACCURACY, Column.SIDE})
_LEFT: Final = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT: Final = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter

Index = QModelIndex | QPersistentModelIndex


@final
class PublishedModel(QAbstractTableModel):
    """The rows that hold the words that are searched for, sorted by one column."""

    def __init__(self) -> None:
        super().__init__()
        self._all: tuple[PublishedRow, ...] = ()
        self._shown: list[PublishedRow] = []
        self._column = Column.NAME
        self._descending = False
        self._words = ""

    @property
    def rows(self) -> list[PublishedRow]:
        """What is shown, in this order."""
        return self._shown

    def show_rows(self, rows: Sequence[PublishedRow]) -> None:
        """Take all networks."""
        self._all = tuple(rows)
        self._arrange()

    def search(self, words: str) -> None:
        """Show those that hold these words."""
        self._words = words
        self._arrange()

    def place_of(self, library_name: str) -> int | None:
        """Where a network is shown; None where it is not."""
        return next((place for place, row in enumerate(self._shown) if row.network.library_name == library_name), None)

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column."""
        self._column, self._descending = COLUMNS[column], order == Qt.SortOrder.DescendingOrder
        self._arrange()

    def _arrange(self) -> None:
        self.beginResetModel()
        self._shown = arranged(self._all, self._column, descending=self._descending, words=self._words)
        self.endResetModel()

    # -- Qt

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 (Qt's own default)
        """Rows of the table."""
        return 0 if parent.isValid() else len(self._shown)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 (Qt's own default)
        """Columns of the table."""
        return 0 if parent.isValid() else len(COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Headings."""
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return translate("backbones", COLUMN_TITLES[COLUMNS[section]])
        if role == Qt.ItemDataRole.ToolTipRole:
            return translate("backbones", COLUMN_TIPS.get(COLUMNS[section], ""))
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if COLUMNS[section] in _NUMBERS else _LEFT
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """One cell."""
        row, column = self._shown[index.row()], COLUMNS[index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return cell_text(row, column)
        if role == Qt.ItemDataRole.ToolTipRole:
            return f"{row.name}\n{published_facts(row)}\n{licence_text(row)}"
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if column in _NUMBERS else _LEFT
        return None


def cell_text(row: PublishedRow, column: Column) -> str:
    """What a cell says."""
    if column is Column.NAME:
        return row.name
    if column is Column.SIZE:
        return file_size(row.network.size_bytes)
    if column is Column.ACCURACY:
        return accuracy(row)
    if column is Column.SIDE:
        return pixels(row.network.input_side)
    return short_licence(row)
