"""One part of what an import would do: a title, a box to tick where there is something to choose, and a list."""

from collections.abc import Sequence
from typing import Final, final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QCheckBox, QFrame, QHeaderView, QTableWidget, QTableWidgetItem, QWidget

from app.controls import fill_column, make_flowing_label
from app.texts import plain_button, plain_tip, tr
from app.theme.tokens import tokens
from app.wording import number

ROWS_IN_SIGHT: Final = 5
"""The rest scrolls."""

WIDEST_LAST: Final = 160
"""Logical pixels of the last column, which mostly says who, or how many."""

MOST_ROWS: Final = 500
"""Of a list; nobody reads more, and making rows takes time."""


def more_text(count: int) -> str:
    """Below a list that is cut."""
    return tr("and %1 more", number(count))


@final
class PlanSection(QWidget):
    """Takes no room without a row.

    Attributes:
        box: what can be chosen; hidden where nothing can.
        table: the list.

    Args:
        name: of the list, for screen readers.
        columns: headings.
        widest_last: logical pixels that the last column takes at most.
    """

    def __init__(self, name: str, columns: Sequence[str], *, widest_last: int = WIDEST_LAST) -> None:
        super().__init__()
        self.box = QCheckBox()
        self.table = self._make_table(name, columns, widest_last)
        self._title = make_flowing_label("", "strong")
        self._note = make_flowing_label("", "secondary")
        self._more = make_flowing_label("", "caption")
        parts = (self._title, self.box, self._note, self.table, self._more)
        fill_column(self, *parts, spacing=tokens().spacing.tiny)

    def _make_table(self, name: str, columns: Sequence[str], widest_last: int) -> QTableWidget:
        table = QTableWidget(0, len(columns))
        table.setAccessibleName(name)
        table.setProperty("role", "preview")
        table.setHorizontalHeaderLabels(columns)
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        table.setTabKeyNavigation(False)
        table.setShowGrid(False)
        table.setWordWrap(False)
        table.setTextElideMode(Qt.TextElideMode.ElideLeft)
        table.setFrameShape(QFrame.Shape.NoFrame)
        table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        table.verticalHeader().hide()
        table.verticalHeader().setDefaultSectionSize(tokens().spacing.control_height - tokens().spacing.tiny)
        header = table.horizontalHeader()
        header.setHighlightSections(False)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        if len(columns) > 1:
            header.setMaximumSectionSize(widest_last)
            header.setSectionResizeMode(len(columns) - 1, QHeaderView.ResizeMode.ResizeToContents)
        return table

    @property
    def title(self) -> str:
        """What it says above the list; "" while there is none."""
        return "" if self.isHidden() else self._title.text()

    @property
    def rows(self) -> list[tuple[str, ...]]:
        columns = range(self.table.columnCount())
        return [tuple(self._cell(row, column) for column in columns) for row in range(self.table.rowCount())]

    def show_rows(
        self, title: str, rows: Sequence[Sequence[str]], *, total: int, choice: str = "", note: str = ""
    ) -> None:
        """Show a list, or nothing where it is empty.

        Args:
            title: says what the rows are.
            rows: cells as texts.
            total: how many rows there would be; `rows` may be the first of them.
            choice: what the box says; "" for none.
            note: a quiet line; "" for none.
        """
        self.setVisible(bool(rows))
        self._title.setText(title)
        self.box.setText(plain_button(choice))
        self.box.setChecked(False)
        self.box.setVisible(bool(choice))
        self._note.setText(note)
        self._note.setVisible(bool(note))
        self._more.setText(more_text(total - len(rows)))
        self._more.setVisible(total > len(rows))
        self.table.setRowCount(len(rows))
        for row, cells in enumerate(rows):
            for column, cell in enumerate(cells):
                item = QTableWidgetItem(cell)
                item.setToolTip(plain_tip(cell))
                self.table.setItem(row, column, item)
        in_sight = min(len(rows), ROWS_IN_SIGHT)
        height = self.table.horizontalHeader().sizeHint().height()
        self.table.setFixedHeight(height + in_sight * self.table.verticalHeader().defaultSectionSize() + 2)

    def _cell(self, row: int, column: int) -> str:
        item = self.table.item(row, column)
        return "" if item is None else item.text()
