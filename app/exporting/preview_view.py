"""The beginning of an export: a table, or lines of text."""

from typing import Final, final

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import QAbstractItemView, QFrame, QPlainTextEdit, QTableWidget, QTableWidgetItem, QWidget

from app.controls import fill_column, make_label
from app.texts import plain_tip, tr
from app.theme.tokens import tokens
from engine.collection.exporting.preview import ExportPreview

WIDEST_COLUMN: Final = 240
"""Logical pixels; longer cells end in an ellipsis."""
LINES_SHOWN: Final = 11
"""Of a text; the rest scrolls."""
ROWS_IN_SIGHT: Final = 6
"""Of a table; the rest scrolls."""


@final
class PreviewView(QWidget):
    """Shows what is not changed here; it can be selected and scrolled with the keyboard."""

    def __init__(self) -> None:
        super().__init__()
        self.caption = make_label("", "caption", wraps=True)
        self.table = self._make_table()
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.text.setAccessibleName(tr("Preview"))
        self.text.setTabChangesFocus(True)
        self.text.setProperty("role", "preview")
        self.text.setFixedHeight(LINES_SHOWN * self.text.fontMetrics().lineSpacing() + tokens().spacing.large)
        fill_column(self, self.caption, self.table, self.text, spacing=tokens().spacing.tiny)
        self.show_preview(ExportPreview(), "")

    def _make_table(self) -> QTableWidget:
        table = QTableWidget()
        table.setAccessibleName(tr("Preview"))
        table.setProperty("role", "preview")
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        table.setTabKeyNavigation(False)
        table.setWordWrap(False)
        table.setFrameShape(QFrame.Shape.NoFrame)
        table.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        table.verticalHeader().hide()
        row = tokens().spacing.control_height - tokens().spacing.tiny
        table.verticalHeader().setDefaultSectionSize(row)
        header = table.horizontalHeader()
        header.setHighlightSections(False)
        header.setMaximumSectionSize(WIDEST_COLUMN)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        table.setFixedHeight((ROWS_IN_SIGHT + 1) * row + tokens().spacing.medium)
        return table

    @property
    def lines(self) -> list[str]:
        """The text that is shown; [] for a table."""
        return [] if self.text.isHidden() else self.text.toPlainText().split("\n")

    def show_preview(self, preview: ExportPreview, caption: str) -> None:
        """Show a preview, and what it is made of."""
        self.caption.setText(caption)
        self.table.setVisible(bool(preview.columns))
        self.text.setVisible(bool(preview.lines))
        if preview.columns:
            self._fill_table(preview)
        if self.text.toPlainText() != "\n".join(preview.lines):
            self.text.setPlainText("\n".join(preview.lines))

    def _fill_table(self, preview: ExportPreview) -> None:
        self.table.setColumnCount(len(preview.columns))
        self.table.setHorizontalHeaderLabels(preview.columns)
        self.table.setRowCount(len(preview.rows))
        for row, cells in enumerate(preview.rows):
            for place, cell in enumerate(cells):
                item = QTableWidgetItem(cell)
                item.setToolTip(plain_tip(cell))
                self.table.setItem(row, place, item)
        self.table.resizeColumnsToContents()
