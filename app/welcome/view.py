"""The page without a project: try the sample, start, or go on."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app.actions.table import BY_NAME
from app.controls import make_button, make_label, make_scroll_area
from app.dragging import take_files, welcome_files
from app.theme.icons import icon_pixmap

COLUMN_WIDTH = 600
LOGO_SIDE = 56


@final
class Welcome(QWidget):
    """Name, one sentence, three ways to begin, recent projects.

    Signals:
        action_requested: name of an action.
        project_requested: path of a recent project.
        files_dropped: list of paths.
    """

    action_requested = Signal(str)
    project_requested = Signal(object)
    files_dropped = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAcceptDrops(True)
        self._logo = QLabel()
        self._recent = QVBoxLayout()
        self._recent.setSpacing(2)
        column = QVBoxLayout()
        column.setSpacing(12)
        column.addWidget(self._logo)
        column.addWidget(make_label(self.tr("Protoleaf"), "title"))
        column.addWidget(
            make_label(
                self.tr("Turns a taxonomy and a handful of images per class into a classified collection."),
                "secondary", wraps=True,
            )
        )  # fmt: skip
        column.addSpacing(8)
        column.addLayout(self._buttons())
        column.addWidget(self._drop_area())
        column.addSpacing(8)
        column.addLayout(self._recent)
        holder = QWidget()
        holder.setFixedWidth(COLUMN_WIDTH)
        holder.setLayout(column)
        self._lay_out(holder)

    def _lay_out(self, holder: QWidget) -> None:
        """Put it a little above the middle; a low window scrolls."""
        page = QWidget()
        middle = QVBoxLayout(page)
        middle.addStretch(2)
        middle.addWidget(holder, 0, Qt.AlignmentFlag.AlignHCenter)
        middle.addStretch(3)
        scroll = make_scroll_area()
        scroll.setWidget(page)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(scroll)

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(8)
        for name, variant in (("try_sample", "primary"), ("new_project", ""), ("open_project", "")):
            action = BY_NAME[name]
            row.addWidget(make_button(action.title, self._requester(name), variant=variant, icon_name=action.icon))
        row.addStretch(1)
        return row

    def _requester(self, name: str) -> Callable[[], None]:
        return lambda: self.action_requested.emit(name)

    def _drop_area(self) -> QFrame:
        area = QFrame()
        area.setProperty("role", "well")
        layout = QVBoxLayout(area)
        layout.setContentsMargins(16, 16, 16, 16)
        layout.setSpacing(4)
        layout.addWidget(make_label(self.tr("Or drop a folder of images here"), "strong"))
        layout.addWidget(
            make_label(
                self.tr("Its subfolders can become classes. Nothing is copied, changed or sent anywhere."),
                "secondary", wraps=True,
            )
        )  # fmt: skip
        return area

    def show_recent(self, paths: Sequence[Path]) -> None:
        """List recent projects; the caller leaves out those that are gone."""
        self._logo.setPixmap(icon_pixmap("protoleaf", LOGO_SIDE, colour="accent", ratio=self.devicePixelRatioF()))
        while (item := self._recent.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        if paths:
            self._recent.addWidget(make_label(self.tr("Recent projects"), "section"))
        for path in paths:
            self._recent.addWidget(self._recent_row(path))

    def _recent_row(self, path: Path) -> QWidget:
        button = make_button(path.stem, lambda: self.project_requested.emit(path), variant="flat", icon_name="leaf")
        button.setToolTip(str(path))
        row = QWidget()
        layout = QHBoxLayout(row)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(button)
        place = make_label(path.parent.name, "caption")
        layout.addWidget(place)
        layout.addStretch(1)
        return row

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Take files."""
        welcome_files(event)

    def dropEvent(self, event: QDropEvent) -> None:
        """Hand dropped files on."""
        paths = take_files(event)
        if paths:
            self.files_dropped.emit(paths)
