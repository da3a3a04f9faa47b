"""Published networks as a Qt table."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, final

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from app.backbones.logic import PublishedRow
from app.backbones.wording import (
    NOT_KNOWN,
    licence_text,
    pixels,
    published_facts,
    short_licence,
    table_accuracy,
    table_size,
)
from app.texts import marked, plain_tip, tr

Index = QModelIndex | QPersistentModelIndex
Role = Qt.ItemDataRole
_WIDEST: Final = 8  # texts of a column that are measured: the longest ones, as letters are not of one width


@dataclass(frozen=True)
class NetworkColumn:
    """One column of the table."""

    title: str
    text_of: Callable[[PublishedRow], str]
    value_of: Callable[[PublishedRow], float | str]  # what rows are sorted by; rows of the same value by their names
    is_number: bool = False
    tip: str = ""
    rank: int = 0  # the columns of low rank stay where there is no room for all

    @property
    def alignment(self) -> Qt.AlignmentFlag:
        """Of the title and of the cells."""
        side = Qt.AlignmentFlag.AlignRight if self.is_number else Qt.AlignmentFlag.AlignLeft
        return side | Qt.AlignmentFlag.AlignVCenter


COLUMNS: Final = (
    NetworkColumn(marked("Name"), lambda row: row.name, lambda _row: 0),
    NetworkColumn(marked("Size"), table_size, lambda row: row.network.size_bytes, is_number=True, rank=2),
    NetworkColumn(
        marked("Top-1"),
        table_accuracy,
        lambda row: row.network.top1 or 0.0,
        is_number=True,
        tip=marked("ImageNet top-1 accuracy"),
        rank=1,
    ),
    NetworkColumn(
        marked("Input"),
        lambda row: pixels(row.network.input_side),
        lambda row: row.network.input_side,
        is_number=True,
        tip=marked("Side of the square input image"),
        rank=3,
    ),
    NetworkColumn(marked("Licence"), short_licence, lambda row: row.network.licence.casefold(), rank=4),
)


def arranged(
    rows: Sequence[PublishedRow],
    column: NetworkColumn,
    *,
    descending: bool = False,
    words: str = "",
    publisher: str = "",
) -> list[PublishedRow]:
    """The rows of a publisher, or of all, whose names or licence hold all words, sorted."""
    wanted = words.casefold().split()
    found = [
        row for row in rows if publisher in ("", row.network.publisher) and all(word in row.words for word in wanted)
    ]
    return sorted(found, key=lambda row: (column.value_of(row), row.name.casefold()), reverse=descending)


@final
class PublishedModel(QAbstractTableModel):
    """The rows that hold the words that are searched for, sorted by one column."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[PublishedRow] = []
        self._all: tuple[PublishedRow, ...] = ()
        self._column = COLUMNS[0]
        self._descending = False
        self._words = ""
        self._publisher = ""
        # for each column the longest texts of all networks, shown or not: its width stays while a person types
        self.widest: tuple[tuple[str, ...], ...] = tuple(() for _ in COLUMNS)

    def show_rows(self, rows: Sequence[PublishedRow]) -> None:
        self._all = tuple(rows)
        cells = [{column.text_of(row) for row in rows} for column in COLUMNS]
        self.widest = tuple(tuple(sorted(texts, key=len)[-_WIDEST:]) for texts in cells)
        self._arrange()

    def tells(self, column: int) -> bool:
        """Whether anything is told in this column of the rows that are shown."""
        text_of = COLUMNS[column].text_of
        return not self.rows or any(text_of(row) != NOT_KNOWN for row in self.rows)

    @property
    def publishers(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(row.network.publisher for row in self._all))

    def search(self, words: str) -> None:
        """Show those that hold these words."""
        self._words = words
        self._arrange()

    def show_publisher(self, publisher: str) -> None:
        """Show only this one's; empty: everybody's."""
        self._publisher = publisher
        self._arrange()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        self._column, self._descending = COLUMNS[column], order == Qt.SortOrder.DescendingOrder
        self._arrange()

    def _arrange(self) -> None:
        self.beginResetModel()
        self.rows = arranged(
            self._all, self._column, descending=self._descending, words=self._words, publisher=self._publisher
        )
        self.endResetModel()

    # -- Qt

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 (Qt's own default)
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 (Qt's own default)
        return 0 if parent.isValid() else len(COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Role.DisplayRole) -> Any:
        if orientation is not Qt.Orientation.Horizontal:
            return None
        column = COLUMNS[section]
        if role in (Role.DisplayRole, Role.ToolTipRole):
            return tr(column.title if role == Role.DisplayRole else column.tip)
        return column.alignment if role == Role.TextAlignmentRole else None

    def data(self, index: Index, role: int = Role.DisplayRole) -> Any:
        row, column = self.rows[index.row()], COLUMNS[index.column()]
        if role == Role.DisplayRole:
            return column.text_of(row)
        if role == Role.ToolTipRole:
            return plain_tip(f"{row.name} ({row.network.weights})\n{published_facts(row)}\n{licence_text(row)}")
        return column.alignment if role == Role.TextAlignmentRole else None
