"""Classes of a new project: connects the choices on the sheet with reading the list."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, Signal

from app.file_dialogs import Purpose, open_file
from app.texts import tr
from app.welcome.counting import FolderCounting
from app.welcome.list_reading import ListReading
from app.welcome.logic import ClassesFrom, ProjectChoice

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from app.welcome.new_project_view import NewProjectCard
    from engine.collection.importing.folder_choice import ClassList

LISTS = (ClassesFrom.FILE, ClassesFrom.TEXT)


@final
class SheetClasses(QObject):
    """Controller of the "Classes" section and of the check boxes for class folders."""

    changed = Signal()  # a list was read, or is no longer chosen

    def __init__(self, choice: ProjectChoice, counting: FolderCounting, host: QWidget) -> None:
        super().__init__(host)
        self.reading = ListReading(self)
        self._choice, self._counting, self._host = choice, counting, host
        self._of_list: frozenset[Path] = frozenset()  # folders named like classes of the list
        self._card: NewProjectCard | None = None
        self.reading.changed.connect(self._on_list_changed)

    def connect_card(self, card: NewProjectCard) -> None:
        self._card = card
        card.photos.choice_changed.connect(self._on_boxes_changed)
        card.classes.way_chosen.connect(self._on_way_chosen)
        card.classes.file_wanted.connect(self._on_file_wanted)
        card.classes.columns_chosen.connect(self._on_columns_chosen)
        card.classes.text_changed.connect(self._on_text_changed)
        card.classes.all_folders_wanted.connect(self._on_all_folders_wanted)

    def take_file(self, source: Path) -> None:
        self._choice.change(classes_from=ClassesFrom.FILE, class_file=source, columns={})

    def show(self) -> None:
        """Show the stored choice, and read its list."""
        project = self._choice.project
        if self._card is not None:
            self._card.photos.choose(project.left_out, project.class_folders)
            self._card.classes.show_choice(
                project.classes_from, project.class_file, project.class_text
            )
            self._card.classes.show_labels(project.labels)
        self.read()

    def read(self) -> None:
        """Read the chosen list, if any."""
        project = self._choice.project
        if project.classes_from is ClassesFrom.FILE and project.class_file is not None:
            self.reading.read_file(project.class_file, project.columns)
        elif project.classes_from is ClassesFrom.TEXT:
            self.reading.read_soon(project.class_text)
        else:
            self.reading.forget()
            self._on_list_changed()

    def forget(self) -> None:
        self.reading.forget()
        self._of_list = frozenset()

    @property
    def is_refused(self) -> bool:
        """Whether the chosen list is invalid; the sheet shows the reason."""
        read = self.reading.read
        is_unclear = read is not None and read.imported is None
        return self._has_list and (bool(self.reading.failure) or is_unclear)

    @property
    def class_list(self) -> ClassList | None:
        """The classes of the chosen list."""
        return self.reading.read if self._has_list and not self.is_refused else None

    @property
    def folders(self) -> frozenset[Path]:
        """Folders that are classes."""
        is_by_folders = self._choice.project.classes_from is ClassesFrom.FOLDERS
        return self._choice.project.class_folders if is_by_folders else self._of_list

    @property
    def _has_list(self) -> bool:
        return self._choice.project.classes_from in LISTS

    def _on_way_chosen(self, way: ClassesFrom) -> None:
        if way is not self._choice.project.classes_from:
            self._choice.change(classes_from=way)
            self.read()

    def _on_file_wanted(self) -> None:
        from app.welcome.new_project_view import file_kinds

        source = open_file(self._host, Purpose.CLASSES, tr("Choose a class list"), file_kinds())
        if source is not None:
            self.take_file(source)
            self.show()

    def _on_columns_chosen(self, columns: dict[str, str]) -> None:
        self._choice.change(columns=columns)
        self.read()

    def _on_text_changed(self, text: str) -> None:
        self._choice.change(class_text=text)
        if self._choice.project.classes_from is ClassesFrom.TEXT:
            self.reading.read_soon(text)

    def _on_list_changed(self) -> None:
        if self._card is not None:
            reading, columns = self.reading, self._choice.project.columns
            self._card.classes.show_list(
                reading.read, reading.failure, columns, is_reading=reading.is_busy
            )
            self.show_ticks()
        self.changed.emit()

    def _on_all_folders_wanted(self, is_all: bool) -> None:
        from engine.collection.importing.folder_choice import all_class_folders

        chosen = all_class_folders(self._counting.folders) if is_all else frozenset[Path]()
        self._choice.change(class_folders=chosen)
        self.show_ticks()

    def _on_boxes_changed(self) -> None:
        assert self._card is not None, "the boxes are on it"
        ticked = self._card.photos.list
        self._choice.change(left_out=ticked.left_out)
        if self._choice.project.classes_from is ClassesFrom.FOLDERS:
            self._choice.change(class_folders=ticked.classes)
        else:
            self._of_list = ticked.classes
        self._show_ticked()

    def show_ticks(self) -> None:
        """Offer check boxes if folders are the classes, or are named like classes of the list."""
        if self._card is None:
            return
        read = self.class_list
        self._of_list = frozenset() if read is None else read.known_folders(self._counting.folders)
        is_by_folders = self._choice.project.classes_from is ClassesFrom.FOLDERS
        self._card.photos.list.offer_classes(is_on=is_by_folders or bool(self._of_list))
        self._card.photos.choose(self._choice.project.left_out, self.folders)
        self._show_ticked()

    def _show_ticked(self) -> None:
        from engine.interchange.labelled_images.box_formats import data_set_folders

        if self._card is not None:
            folders, chosen = self._counting.folders, self._choice.project.class_folders
            ticked = [each.path for each in folders if each.path in chosen]
            self._card.classes.show_folders(
                len(ticked), len(folders), data_set_folders(path.name for path in ticked)
            )
            self._card.settle()
