"""Read-only tables and trees without decoration."""

from collections.abc import Sequence
from typing import Any, final

from PySide6.QtCore import QLocale, Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QStyledItemDelegate,
    QTableView,
    QTableWidget,
    QTableWidgetItem,
    QTreeView,
)

from app.mirroring import isolated
from app.texts import plain_tip
from app.theme.tokens import tokens


@final
class CellDelegate(QStyledItemDelegate):
    """Paints table cells, each in its own text direction: `70.1-100%`, `056.png`."""

    def displayText(self, value: Any, locale: QLocale | QLocale.Language) -> str:
        return isolated(super().displayText(value, locale))


def dress_view(view: QTableView | QTreeView, name: str) -> None:
    """Make a table or tree read-only and plain, with an accessible name."""
    view.setAccessibleName(name)
    view.setItemDelegate(CellDelegate(view))
    view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    view.setFrameShape(QFrame.Shape.NoFrame)


def dress_table(table: QTableView, name: str, row_height: int) -> QHeaderView:
    """Make a table read-only and plain: no grid, row numbers or wrapped texts; return its header.

    At most one row can be selected.
    """
    dress_view(table, name)
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    table.setTabKeyNavigation(False)
    table.setShowGrid(False)
    table.setWordWrap(False)
    table.verticalHeader().hide()
    table.verticalHeader().setDefaultSectionSize(row_height)
    header = table.horizontalHeader()
    header.setHighlightSections(False)
    return header


def make_preview_table(name: str) -> QTableWidget:
    table = QTableWidget()
    height = tokens().spacing.control_height - tokens().spacing.tiny
    header = dress_table(table, name, height)
    header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
    table.setProperty("role", "preview")
    return table


def fill_table(table: QTableWidget, rows: Sequence[Sequence[str]], *, first: int = 0) -> None:
    """Show texts, also as tooltips, from row `first` on."""
    table.setRowCount(first + len(rows))
    for row, cells in enumerate(rows, start=first):
        for column, cell in enumerate(cells):
            item = QTableWidgetItem(cell)
            item.setToolTip(plain_tip(cell))
            table.setItem(row, column, item)
