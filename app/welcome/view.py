"""The page without a project: go on, start, or try the sample."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import final

from PySide6.QtCore import Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.actions.row import ActionRow
from app.controls import fill_column, make_button, make_label, make_scroll_area, set_variant
from app.dragging import take_files, welcome_files
from app.drops import DropBox, DropLight
from app.file_dialogs import Purpose, choose_folder
from app.texts import tr
from app.theme.icons import icon_pixmap
from app.welcome.recent_list import RecentList

COLUMN_WIDTH = 600
LOGO_SIDE = 56


@final
class Welcome(QWidget):
    """Name, one sentence, recent projects, three ways to begin."""

    action_requested = Signal(str)  # name of an action
    project_requested = Signal(Path)  # path of a recent project
    forget_requested = Signal(Path)  # path of a recent project to take off the list
    files_dropped = Signal(Sequence)  # list of paths

    def __init__(self, rows: Mapping[str, ActionRow]) -> None:
        super().__init__()
        self.setAcceptDrops(True)
        self._logo = QLabel()
        self.recent = RecentList()
        self.recent.project_requested.connect(self.project_requested)
        self.recent.forget_requested.connect(self.forget_requested)
        self.drop_box = self._make_drop_box()
        DropLight(self, self.drop_box)
        column = QVBoxLayout()
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        column.addWidget(self._logo)
        column.addWidget(make_label(tr("Protoleaf"), "title"))
        column.addWidget(
            make_label(
                tr("Turns a taxonomy and a handful of images per class into a classified collection."),
                "secondary", wraps=True,
            )
        )  # fmt: skip
        column.addSpacing(8)
        column.addWidget(self._make_ways(rows))
        holder = QWidget()
        holder.setMinimumWidth(COLUMN_WIDTH)
        holder.setLayout(column)
        self._lay_out(holder)

    def _make_ways(self, rows: Mapping[str, ActionRow]) -> QWidget:
        """All ways to begin: go on with a project, make one, or look at the sample."""
        ways = QWidget()
        column = fill_column(ways, self.recent, spacing=12)
        column.addLayout(self._buttons(rows))
        column.addWidget(self.drop_box)
        return ways

    def _lay_out(self, holder: QWidget) -> None:
        """Put it a little above the middle; a low window scrolls."""
        page = QWidget()
        middle = QVBoxLayout(page)
        middle.addStretch(2)
        across = QHBoxLayout()  # an alignment would reckon with the height that a wider column needs
        across.addStretch(1)
        across.addWidget(holder)
        across.addStretch(1)
        middle.addLayout(across)
        middle.addStretch(3)
        scroll = make_scroll_area()
        scroll.setWidget(page)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(scroll)

    def _buttons(self, rows: Mapping[str, ActionRow]) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(8)
        self.buttons: dict[str, QPushButton] = {}
        for name in ("new_project", "open_project", "try_sample"):
            action = rows[name]
            self.buttons[name] = make_button(action.title, self._requester(name), icon_name=action.icon)
            row.addWidget(self.buttons[name])
        row.addStretch(1)
        return row

    def _requester(self, name: str) -> Callable[[], None]:
        return lambda: self.action_requested.emit(name)

    def _make_drop_box(self) -> DropBox:
        words = tr("Its subfolders can become classes. Nothing is copied, changed or sent anywhere.")
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
        """List recent projects; whoever has none is led to the sample."""
        self._logo.setPixmap(icon_pixmap("protoleaf", LOGO_SIDE, colour="accent", ratio=self.devicePixelRatioF()))
        self.recent.show_projects(paths)
        set_variant(self.buttons["try_sample"], "" if paths else "primary")
        stops = [*self.recent.focus_stops(), *self.buttons.values(), self.drop_box]
        for first, second in pairwise(stops):  # as the eye goes: the rows were made last
            QWidget.setTabOrder(first, second)
        (stops[0] if paths else self.buttons["try_sample"]).setFocus()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        welcome_files(event)

    def dropEvent(self, event: QDropEvent) -> None:
        paths = take_files(event)
        if paths:
            self.files_dropped.emit(paths)
