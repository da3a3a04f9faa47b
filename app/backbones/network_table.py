"""The table of published networks; columns that do not fit are hidden."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

from PySide6.QtCore import QAbstractTableModel, QEvent, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHeaderView, QTableView

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
from app.tables import dress_table
from app.texts import marked, plain_tip, tr
from app.theme.tokens import tokens

Index = QModelIndex | QPersistentModelIndex
Role = Qt.ItemDataRole
ROWS_IN_SIGHT = 7  # visible rows
NAME = 0  # column
LEAST_NAME_WIDTH = 168  # logical pixels: fits most names of torchvision
# Logical pixels: fits most names of timm; longer ones are elided in the middle.
MOST_NAME_WIDTH = 300
# Longest texts of a column that are measured; the widest is not always the longest.
MEASURED = 8


@dataclass(frozen=True)
class NetworkColumn:
    """A column of the table."""

    title: str
    text_of: Callable[[PublishedRow], str]
    # Sort key; ties are sorted by name.
    value_of: Callable[[PublishedRow], float | str]
    is_number: bool = False
    tip: str = ""
    rank: int = 0  # columns of higher rank are hidden first

    @property
    def alignment(self) -> Qt.AlignmentFlag:
        side = Qt.AlignmentFlag.AlignRight if self.is_number else Qt.AlignmentFlag.AlignLeft
        return side | Qt.AlignmentFlag.AlignVCenter


COLUMNS = (
    NetworkColumn(marked("Name"), lambda row: row.name, lambda _row: 0),
    NetworkColumn(
        marked("Size"), table_size, lambda row: row.network.size_bytes, is_number=True, rank=2
    ),
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
    NetworkColumn(
        marked("Licence"), short_licence, lambda row: row.network.licence.casefold(), rank=4
    ),
)


def arranged(
    rows: Sequence[PublishedRow],
    column: NetworkColumn,
    *,
    descending: bool = False,
    words: str = "",
    publisher: str = "",
) -> list[PublishedRow]:
    """Filter rows by publisher ("" for all) and search words, and sort them."""
    wanted = words.casefold().split()
    found = [
        row
        for row in rows
        if publisher in ("", row.network.publisher) and all(word in row.words for word in wanted)
    ]
    return sorted(
        found, key=lambda row: (column.value_of(row), row.name.casefold()), reverse=descending
    )


@final
class PublishedModel(QAbstractTableModel):
    """Model of the rows that match a search, sorted by one column."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[PublishedRow] = []
        self._all: tuple[PublishedRow, ...] = ()
        self._column = COLUMNS[0]
        self._descending = False
        self._words = ""
        self._publisher = ""
        # Longest texts of each column in all rows, so that widths do not change while typing.
        self.widest: tuple[tuple[str, ...], ...] = tuple(() for _ in COLUMNS)

    def show_rows(self, rows: Sequence[PublishedRow]) -> None:
        self._all = tuple(rows)
        cells = [{column.text_of(row) for row in rows} for column in COLUMNS]
        self.widest = tuple(tuple(sorted(texts, key=len)[-MEASURED:]) for texts in cells)
        self._arrange()

    def tells(self, column: int) -> bool:
        """Whether any visible row has a value in this column."""
        text_of = COLUMNS[column].text_of
        return not self.rows or any(text_of(row) != NOT_KNOWN for row in self.rows)

    @property
    def publishers(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(row.network.publisher for row in self._all))

    def search(self, words: str) -> None:
        self._words = words
        self._arrange()

    def show_publisher(self, publisher: str) -> None:
        self._publisher = publisher
        self._arrange()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        self._column, self._descending = COLUMNS[column], order == Qt.SortOrder.DescendingOrder
        self._arrange()

    def _arrange(self) -> None:
        self.beginResetModel()
        order, words = self._descending, self._words
        self.rows = arranged(
            self._all, self._column, descending=order, words=words, publisher=self._publisher
        )
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 (Qt's own default)
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 (Qt's own default)
        return 0 if parent.isValid() else len(COLUMNS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Role.DisplayRole
    ) -> Any:
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
            return plain_tip(
                f"{row.name} ({row.network.weights})\n{published_facts(row)}\n{licence_text(row)}"
            )
        return column.alignment if role == Role.TextAlignmentRole else None


@final
class NetworkTable(QTableView):
    """Table of networks with single selection; searching and sorting are done by the model."""

    def __init__(self, model: PublishedModel) -> None:
        super().__init__()
        self._networks = model
        self.setModel(model)
        header = dress_table(self, tr("Published networks"), tokens().spacing.control_height)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setSortingEnabled(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header.setSectionResizeMode(NAME, QHeaderView.ResizeMode.Stretch)
        header.setSortIndicator(NAME, Qt.SortOrder.AscendingOrder)
        self.setMinimumHeight(
            header.sizeHint().height() + ROWS_IN_SIGHT * tokens().spacing.control_height
        )
        model.modelReset.connect(self._fit_columns)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_columns()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if (
            event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange)
            and self.model() is not None
        ):
            self._fit_columns()

    def _fit_columns(self) -> None:
        """Hide columns by rank until names have enough room."""
        room = self.viewport().width() - self._name_width()
        for place in sorted(range(1, len(COLUMNS)), key=lambda place: COLUMNS[place].rank):
            width, is_known = self._width_of(place), self._networks.tells(place)
            room -= width if is_known else 0
            self.setColumnHidden(place, room < 0 or not is_known)
            self.horizontalHeader().resizeSection(place, width)

    def _name_width(self) -> int:
        longest = sorted((row.name for row in self._networks.rows), key=len)[-MEASURED:]
        widest = (
            max(map(self.fontMetrics().horizontalAdvance, longest), default=0)
            + tokens().spacing.large
        )
        return max(LEAST_NAME_WIDTH, min(widest, MOST_NAME_WIDTH))

    def _width_of(self, place: int) -> int:
        """Width of a column by its longest texts, without measuring a thousand cells."""
        widest = max(
            (self.fontMetrics().horizontalAdvance(text) for text in self._networks.widest[place]),
            default=0,
        )
        return max(widest + tokens().spacing.large, self.horizontalHeader().sectionSizeHint(place))
