"""The sections of the sheet for a new project: name, photos, classes, accuracy or speed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent, QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QButtonGroup,
    QFrame,
    QLineEdit,
    QPlainTextEdit,
    QRadioButton,
    QWidget,
)

from app.controls import (
    ElidedLabel,
    fill_column,
    make_button,
    make_flowing_label,
    make_label,
    make_row,
    set_property,
)
from app.drops import DropBox
from app.mirroring import left_to_right
from app.palette.column_chooser import ColumnChooser
from app.palette.folder_list import FolderList
from app.side_panel.cards import FailureNotice
from app.texts import tr
from app.theme.tokens import tokens
from app.welcome.logic import ClassesFrom, ExpectedSpeed, Photos
from app.welcome.wording import (
    PURPOSES,
    TITLES,
    class_folders_text,
    class_list_text,
    duration_text,
    preparation_text,
    speed_text,
)
from app.wording import images, sentence
from engine.config import PROJECT_SUFFIX
from engine.files import shown
from engine.interchange.tables.dialects import TablePurpose

if TYPE_CHECKING:
    from engine.backbones.bundled import OfferedBackbone
    from engine.collection.importing.folder_choice import ClassList, FoundFolder


@final
class PlaceSection(QWidget):
    """A field for the name, and the folder below it."""

    name_changed = Signal(str)
    place_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.name = QLineEdit()
        self.name.setAccessibleName(tr("Name"))
        self.name.textEdited.connect(self.name_changed)
        self.failure = FailureNotice()
        self.place_button = make_button(tr("Choose…"), self.place_wanted.emit, variant="flat")
        self.place_button.setAccessibleName(tr("Choose where the project is saved"))
        self._place = ElidedLabel("secondary", mode=Qt.TextElideMode.ElideMiddle)
        where = make_row(self._place, self.place_button)
        fill_column(self, self.name, where, self.failure, spacing=2)

    @property
    def place_text(self) -> str:
        return self._place.text()

    def show_place(self, name: str, suggested: str, folder: Path) -> None:
        """Show the chosen name, the suggested one as placeholder, and the path."""
        if name != self.name.text():
            self.name.setText(name)
        self.name.setPlaceholderText(suggested)
        path = folder / f"{name or suggested}{PROJECT_SUFFIX}"
        self._place.show_text(tr("Saved as {1}", left_to_right(str(path))), tip=str(path))


@final
class PhotoSection(QWidget):
    """A drop area, then the list of dropped folders."""

    folder_wanted = Signal()
    choice_changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        words = (
            tr("Drop folders of photos here, or click to choose one"),
            tr("They stay where they are."),
        )
        strong, quiet = (
            make_label(words[0], "strong", wraps=True),
            make_label(words[1], "secondary", wraps=True),
        )
        self.drop_box = DropBox(
            tr("Choose a folder of images"), self.folder_wanted.emit, strong, quiet
        )
        self.list = FolderList()
        self.list.choice_changed.connect(self._on_choice_changed)
        self.add_button = make_button(
            tr("Add a folder…"), self.folder_wanted.emit, icon_name="folder_add"
        )
        self.failure = FailureNotice()
        self._total = ElidedLabel("secondary")
        self._footer = make_row(self.add_button, self._total)
        fill_column(self, self.drop_box, self.list, self.failure, self._footer)
        self.show_folders((), ())

    @property
    def total(self) -> str:
        return self._total.text()

    def choose(self, left_out: Collection[Path], classes: Collection[Path]) -> None:
        self.list.choose(left_out, classes)
        self.show_count(0)

    def show_folders(self, folders: Sequence[FoundFolder], counting: Collection[Path]) -> None:
        """Show folders, some of which are still being counted."""
        self.drop_box.setVisible(not folders)
        self.list.setVisible(bool(folders))
        self._footer.setVisible(bool(folders))
        if (folders, frozenset(counting)) != (self.list.folders, self.list.counting):
            self.list.show_folders(folders, counting)
        self.show_count(0)

    def show_count(self, count: int) -> None:
        """Show the number of images, including `count` that were just found."""
        total = images(self.list.image_count + count)
        self._total.show_text(tr("{1} so far…", total) if self.list.counting else total)

    def _on_choice_changed(self) -> None:
        self.show_count(0)
        self.choice_changed.emit()


TEXT_HEIGHT = 112  # logical pixels: five lines


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
        footer = (self._line, self.failure, self.labels_note)
        fill_column(self, row, self._file, self.columns, self.text, *footer)
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
            tr("Labels are imported from {1} once the project is made.", name) if name else ""
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


@final
class ChoiceCard(QFrame):
    """A backbone: its purpose, speed and expected duration. A click anywhere selects it."""

    def __init__(self, offered: OfferedBackbone) -> None:
        super().__init__()
        self.offered = offered
        self.button = QRadioButton(tr(TITLES[offered.choice]))
        self.button.setProperty("role", "strong")
        self._purpose = make_flowing_label(tr(PURPOSES[offered.choice]))
        self._speed = make_flowing_label("", "secondary")
        self._duration = make_flowing_label("", "secondary")
        self._preparation = make_flowing_label(preparation_text(offered), "secondary")
        self.setProperty("role", "card")
        self.setProperty("interactive", "true")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        spacing = tokens().spacing
        lines = (self.button, self._purpose, self._speed, self._duration, self._preparation)
        margins = (spacing.medium, spacing.small, spacing.medium, spacing.small)
        fill_column(self, *lines, None, spacing=spacing.tiny, margins=margins)
        self._preparation.setVisible(not offered.is_ready)
        self.button.toggled.connect(
            lambda is_on: set_property(self, "chosen", "true" if is_on else "false")
        )

    @property
    def facts(self) -> tuple[str, ...]:
        return tuple(
            line.text()
            for line in (self._speed, self._duration, self._preparation)
            if not line.isHidden()
        )

    def show_speed(
        self, speed: ExpectedSpeed | None, photos: Photos, *, is_measuring: bool
    ) -> None:
        self._speed.setText(speed_text(speed, is_measuring=is_measuring))
        self._duration.setText(duration_text(speed, photos))
        for line in (self._speed, self._duration):
            line.setVisible(bool(line.text()))
        self.button.setAccessibleDescription(" ".join((self._purpose.text(), *self.facts)))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton and self.rect().contains(
            event.position().toPoint()
        ):
            self.button.setChecked(True)
            self.button.setFocus()
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        event.accept()


ROOM_FOR_BOTH = 440  # logical pixels that two cards need side by side


@final
class SpeedSection(QWidget):
    """The offered backbones, side by side if they fit."""

    def __init__(self) -> None:
        super().__init__()
        self.choices: dict[str, ChoiceCard] = {}
        self._group: QButtonGroup | None = None
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._row.setSpacing(tokens().spacing.small)
        fill_column(self, self._row)

    def offer(self, offered: Sequence[OfferedBackbone], chosen: str) -> None:
        """Offer backbones; `chosen` is the name of one."""
        for card in self.choices.values():
            self._row.removeWidget(card)
            card.hide()
            card.deleteLater()
        self.choices = {each.name: ChoiceCard(each) for each in offered}
        self._group = QButtonGroup(self)
        for card in self.choices.values():
            self._group.addButton(card.button)
            self._row.addWidget(card, 1)
        if chosen in self.choices:
            self.choices[chosen].button.setChecked(True)

    @property
    def chosen(self) -> str:
        return next((name for name, card in self.choices.items() if card.button.isChecked()), "")

    def show_speeds(
        self, speeds: Mapping[str, ExpectedSpeed], photos: Photos, *, is_measuring: bool
    ) -> None:
        """Show the speed of each backbone, by name."""
        for name, card in self.choices.items():
            card.show_speed(
                speeds.get(name), photos, is_measuring=is_measuring and card.offered.is_ready
            )

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Place the cards side by side, or one below the other if they do not fit."""
        row, column = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom
        self._row.setDirection(row if event.size().width() >= ROOM_FOR_BOTH else column)
        super().resizeEvent(event)
