"""Read-only tables without decoration."""

from typing import Any, final

from PySide6.QtCore import QLocale, Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QStyledItemDelegate,
    QTableView,
    QTableWidget,
)

from app.mirroring import isolated
from app.theme.tokens import tokens


@final
class CellDelegate(QStyledItemDelegate):
    """Paints table cells, each in its own text direction: `70.1-100%`, `056.png`."""

    def displayText(self, value: Any, locale: QLocale | QLocale.Language) -> str:
        return isolated(super().displayText(value, locale))


def dress_table(table: QTableView, name: str, row_height: int) -> None:
    """Make a table read-only and plain: no frame, grid, row numbers or wrapped texts."""
    table.setAccessibleName(name)
    table.setItemDelegate(CellDelegate(table))
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    table.setTabKeyNavigation(False)
    table.setShowGrid(False)
    table.setWordWrap(False)
    table.setFrameShape(QFrame.Shape.NoFrame)
    table.verticalHeader().hide()
    table.verticalHeader().setDefaultSectionSize(row_height)
    table.horizontalHeader().setHighlightSections(False)


def make_preview_table(name: str) -> QTableWidget:
    table = QTableWidget()
    dress_table(table, name, tokens().spacing.control_height - tokens().spacing.tiny)
    table.setProperty("role", "preview")
    table.horizontalHeader().setDefaultAlignment(
        Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
    )
    return table
