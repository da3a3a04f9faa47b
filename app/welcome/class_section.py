"""The "Classes" section of a new project: none, a file, a typed list, or folder names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QPlainTextEdit, QRadioButton, QWidget

from app.controls import ElidedLabel, fill_column, make_button, make_flowing_label, make_row
from app.palette.column_chooser import ColumnChooser
from app.side_panel.cards import FailureNotice
from app.texts import tr
from app.theme.tokens import tokens
from app.welcome.logic import ClassesFrom
from app.welcome.wording import class_folders_text, class_list_text
from app.wording import sentence
from engine.files import shown
from engine.interchange.tables.dialects import TablePurpose

if TYPE_CHECKING:
    from engine.collection.importing.folder_choice import ClassList

TEXT_HEIGHT: Final = 112  # logical pixels: five lines


@final
class ClassSection(QWidget):
    """Four sources of classes, and the fields of the chosen one."""

    way_chosen = Signal(ClassesFrom)
    file_wanted = Signal()
    columns_chosen = Signal(dict)  # column by role, as chosen by the user
    text_changed = Signal(str)
    all_folders_wanted = Signal(bool)  # True for all, False for none

    def __init__(self) -> None:
        super().__init__()
        self.ways = {
            ClassesFrom.NOWHERE: QRadioButton(tr("None yet")),
            ClassesFrom.FILE: QRadioButton(tr("From a file")),
            ClassesFrom.TEXT: QRadioButton(tr("Type or paste")),
            ClassesFrom.FOLDERS: QRadioButton(tr("From folders")),
        }
        self._group = QButtonGroup(self)
        for way, button in self.ways.items():
            self._group.addButton(button)
            button.toggled.connect(lambda is_on, way=way: self._on_toggled(way) if is_on else None)
        self._fill_file()
        self.text = self._make_text()
        self.all_button = make_button(
            tr("Tick all"), lambda: self.all_folders_wanted.emit(True), variant="flat"
        )
        self.none_button = make_button(
            tr("Tick none"), lambda: self.all_folders_wanted.emit(False), variant="flat"
        )
        self.summary = make_flowing_label("", "secondary")
        self._line = make_row(self.summary, self.all_button, self.none_button, grows=0)
        self.failure = FailureNotice("warning")
        self.labels_note = make_flowing_label("", "secondary")
        row = make_row(*self.ways.values(), None, spacing=tokens().spacing.medium)
        foot = (self._line, self.failure, self.labels_note)
        fill_column(self, row, self._file, self.columns, self.text, *foot)
        self.ways[ClassesFrom.NOWHERE].setChecked(True)

    def _fill_file(self) -> None:
        self.file_button = make_button(
            tr("Choose a file…"), self.file_wanted.emit, icon_name="file"
        )
        self._file_name = ElidedLabel("strong", mode=Qt.TextElideMode.ElideMiddle)
        self.columns = ColumnChooser(TablePurpose.CLASSES)
        self.columns.chosen.connect(self.columns_chosen)
        self._file = make_row(self.file_button, self._file_name)

    def _make_text(self) -> QPlainTextEdit:
        field = QPlainTextEdit()
        field.setProperty("role", "field")
        field.setAccessibleName(tr("Classes"))
        field.setTabChangesFocus(False)
        field.setFixedHeight(TEXT_HEIGHT)
        field.setPlaceholderText(
            tr("One class per line. Indent a line to put it under the one above.")
        )
        field.textChanged.connect(lambda: self.text_changed.emit(field.toPlainText()))
        return field

    @property
    def way(self) -> ClassesFrom:
        return next(way for way, button in self.ways.items() if button.isChecked())

    def show_choice(self, way: ClassesFrom, file: Path | None, text: str) -> None:
        """Show an earlier choice."""
        self.ways[way].setChecked(True)
        if file is not None:
            self._file_name.show_text(shown(file.name), tip=shown(str(file)))
        self._file_name.setVisible(file is not None)
        if text != self.text.toPlainText():
            self.text.setPlainText(text)
        self._show_parts()

    def show_labels(self, file: Path | None) -> None:
        """Announce that labels will be imported once the project is created."""
        name = "" if file is None else shown(file.name)
        self.labels_note.setText(
            tr("Labels are imported from %1 once the project is made.", name) if name else ""
        )
        self.labels_note.setVisible(bool(name))

    def show_list(
        self, read: ClassList | None, failure: str, columns: Mapping[str, str], *, is_reading: bool
    ) -> None:
        """Show the result of reading the file or the text.

        Args:
            columns: chosen columns of the file, by role.
        """
        if self.way not in (ClassesFrom.FILE, ClassesFrom.TEXT):
            return
        self.summary.setText(class_list_text(read, is_reading=is_reading))
        self.failure.show_text(sentence(failure))
        self._show_columns(read, columns)
        self._show_parts()

    def _show_columns(self, read: ClassList | None, given: Mapping[str, str]) -> None:
        columns = None if read is None else read.columns
        has_columns = (
            columns is not None
            and read is not None
            and (not columns.is_clear or self.columns.isVisible())
        )
        self.columns.setVisible(has_columns and self.way is ClassesFrom.FILE)
        if columns is not None:
            self.columns.show_preview(columns, given)

    def show_folders(self, ticked: int, count: int, parts: Sequence[str] = ()) -> None:
        """Show how many folders are classes.

        Args:
            parts: ticked folders with usual names of data set splits, such as "train".
        """
        if self.way is ClassesFrom.FOLDERS:
            self.summary.setText(class_folders_text(ticked, count, parts))
            self._show_parts()

    def _on_toggled(self, way: ClassesFrom) -> None:
        self.failure.show_text("")
        self.columns.hide()
        words = tr("You can add classes or import a list at any time.")
        self.summary.setText(words if way is ClassesFrom.NOWHERE else "")
        self._show_parts()
        self.way_chosen.emit(way)
        if way is ClassesFrom.TEXT and self.ways[way].hasFocus():
            self.text.setFocus()

    def _show_parts(self) -> None:
        way = self.way
        self._file.setVisible(way is ClassesFrom.FILE)
        self.text.setVisible(way is ClassesFrom.TEXT)
        for button in (self.all_button, self.none_button):
            button.setVisible(way is ClassesFrom.FOLDERS)
        self._line.setVisible(bool(self.summary.text()))
