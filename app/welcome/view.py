"""The page without a project."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import final

from PySide6.QtCore import Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.actions.row import ActionRow
from app.controls import fill_column, fill_row, make_button, make_label, make_scroll_area, set_variant
from app.dragging import take_files, welcome_files
from app.drops import DropBox, DropLight
from app.file_dialogs import Purpose, choose_folder
from app.texts import tr
from app.theme.icons import icon_pixmap
from app.welcome.recent import RecentList

COLUMN_WIDTH = 600
LOGO_SIDE = 56
BEGINNINGS = ("new_project", "open_project", "try_sample")  # actions


@final
class Welcome(QWidget):
    """Recent projects, and three ways to begin."""

    action_requested = Signal(str)  # name of an action
    project_requested = Signal(Path)
    files_dropped = Signal(Sequence)  # list of paths

    def __init__(self, rows: Mapping[str, ActionRow]) -> None:
        super().__init__()
        self.setAcceptDrops(True)
        self._logo = QLabel()
        self.recent = RecentList()
        self.recent.project_requested.connect(self.project_requested)
        self.drop_box = self._make_drop_box()
        DropLight(self, self.drop_box)
        self.buttons = {name: self._make_button(name, rows[name]) for name in BEGINNINGS}
        buttons, ways, holder = QWidget(), QWidget(), QWidget()
        fill_row(buttons, *self.buttons.values()).addStretch(1)
        fill_column(ways, self.recent, buttons, self.drop_box, spacing=12)
        words = tr("Turns a taxonomy and a handful of images per class into a classified collection.")
        title, description = make_label(tr("Protoleaf"), "title"), make_label(words, "secondary", wraps=True)
        fill_column(holder, self._logo, title, description, ways, spacing=12).insertSpacing(3, 8)
        holder.setMinimumWidth(COLUMN_WIDTH)
        self._lay_out(holder)

    def _lay_out(self, holder: QWidget) -> None:
        page = QWidget()
        middle = QVBoxLayout(page)
        middle.addStretch(2)
        across = QHBoxLayout()  # an alignment would use the height for a wider column
        across.addStretch(1)
        across.addWidget(holder)
        across.addStretch(1)
        middle.addLayout(across)
        middle.addStretch(3)
        scroll = make_scroll_area()
        scroll.setWidget(page)
        fill_column(self, scroll)

    def _make_button(self, name: str, action: ActionRow) -> QPushButton:
        return make_button(action.title, lambda: self.action_requested.emit(name), icon_name=action.icon)

    def _make_drop_box(self) -> DropBox:
        words = tr("Nothing is copied, changed or sent anywhere.")
        return DropBox(
            tr("Choose a folder of images"),
            self._choose_folder,
            make_label(tr("Or drop a folder of images here, or click to choose one"), "strong"),
            make_label(words, "secondary", wraps=True),
        )

    def _choose_folder(self) -> None:
        folder = choose_folder(self, Purpose.IMAGES, tr("Choose a folder of images"))
        if folder is not None:
            self.files_dropped.emit([folder])

    def show_recent(self, paths: Sequence[Path]) -> None:
        """List recent projects; without any, the sample is highlighted."""
        self._logo.setPixmap(icon_pixmap("protoleaf", LOGO_SIDE, colour="accent", ratio=self.devicePixelRatioF()))
        self.recent.show_projects(paths)
        set_variant(self.buttons["try_sample"], "" if paths else "primary")
        stops = [*self.recent.focus_stops(), *self.buttons.values(), self.drop_box]
        for first, second in pairwise(stops):
            QWidget.setTabOrder(first, second)
        (stops[0] if paths else self.buttons["try_sample"]).setFocus()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        welcome_files(event)

    def dropEvent(self, event: QDropEvent) -> None:
        paths = take_files(event)
        if paths:
            self.files_dropped.emit(paths)
