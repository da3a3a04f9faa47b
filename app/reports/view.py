"""Window with the report: read, copy, open the log."""

from collections.abc import Callable
from typing import final

from PySide6.QtCore import QSize
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import QDialog, QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from app.controls import make_button, make_label
from app.texts import tr
from app.theme.tokens import tokens

FIRST_SIZE = QSize(720, 520)


@final
class ReportWindow(QDialog):
    """Non-modal window with a text."""

    def __init__(
        self, text: str, on_copy: Callable[[str], None], on_log: Callable[[], None], parent: QWidget
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Report"))
        self.resize(FIRST_SIZE)
        self.text = QPlainTextEdit(text)
        self.text.setReadOnly(True)
        self.text.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setAccessibleName(tr("Report"))
        self.copy_button = make_button(
            tr("Copy the problem report"),
            lambda: on_copy(text),
            variant="primary",
            icon_name="copy",
        )
        self.log_button = make_button(tr("Show the log"), on_log, icon_name="folder")
        self.close_button = make_button(tr("Close"), self.reject)
        self._lay_out()

    def _lay_out(self) -> None:
        spacing = tokens().spacing
        column = QVBoxLayout(self)
        column.setContentsMargins(*4 * (spacing.large,))
        column.setSpacing(spacing.medium)
        column.addWidget(
            make_label(
                tr(
                    "Everything you did was saved. Nothing has been sent. To share this report, "
                    "copy it, read it "
                    "through and paste it into a message."
                ),
                "secondary",
                wraps=True,
            )
        )
        column.addWidget(self.text, 1)
        row = QHBoxLayout()
        row.addWidget(self.copy_button)
        row.addWidget(self.log_button)
        row.addStretch(1)
        row.addWidget(self.close_button)
        column.addLayout(row)
