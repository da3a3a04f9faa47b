"""The page that stands in for an empty grid."""

from collections.abc import Mapping, Sequence
from typing import final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app.actions.row import ActionRow
from app.controls import make_button, make_label
from app.dragging import take_files, welcome_files
from app.drop_box import DropBox, DropLight
from app.texts import with_breaks
from app.theme.icons import icon_pixmap
from app.workspace.emptiness import Emptiness

ICON_SIDE = 48
NARROWEST = 280  # of the words, as the narrowest centre allows


@final
class EmptyPage(QWidget):
    """Icon, why, what next, and buttons that do it.

    Signals:
        action_requested: name of an action.
        files_dropped: list of paths.
    """

    action_requested = Signal(str)
    files_dropped = Signal(Sequence)

    def __init__(self, rows: Mapping[str, ActionRow]) -> None:
        super().__init__()
        self._rows = rows
        self.setAcceptDrops(True)
        self._icon = QLabel()
        self._icon.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self._title = make_label("", "heading", wraps=True)
        self._title.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self._text = make_label("", "secondary", wraps=True)
        self._text.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        for label in (self._title, self._text):
            label.setMinimumWidth(NARROWEST)
        self._buttons = QHBoxLayout()
        self._buttons.setSpacing(8)
        self._first_action = ""
        self.drop_box = DropBox("", self._on_clicked, self._icon, self._title, self._text)
        column = QVBoxLayout()
        column.setSpacing(18)
        column.addWidget(self.drop_box)
        column.addLayout(self._buttons)
        DropLight(self, self.drop_box)
        outer = QHBoxLayout(self)
        outer.addStretch(1)
        middle = QVBoxLayout()
        middle.addStretch(2)
        middle.addLayout(column)
        middle.addStretch(3)
        outer.addLayout(middle, 3)
        outer.addStretch(1)

    @property
    def title(self) -> str:
        return self._title.accessibleName()

    def show_emptiness(self, words: Emptiness) -> None:
        """Say why the grid is empty."""
        colour = "accent" if words.is_good else "text_disabled"
        self._icon.setPixmap(icon_pixmap(words.icon, ICON_SIDE, colour=colour, ratio=self.devicePixelRatioF()))
        self._title.setText(with_breaks(words.title))
        self._title.setAccessibleName(words.title)
        self._text.setText(with_breaks(words.text))
        self._first_action = words.actions[0] if words.takes_files else ""
        self.drop_box.set_open(is_open=words.takes_files)
        self.drop_box.setAccessibleName(words.title)
        while (item := self._buttons.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        self._buttons.addStretch(1)
        for place, name in enumerate(words.actions):
            self._buttons.addWidget(self._button(name, is_first=place == 0 and not words.is_good))
        self._buttons.addStretch(1)

    def _button(self, name: str, *, is_first: bool) -> QWidget:
        row = self._rows[name]
        variant = "primary" if is_first else ""
        return make_button(row.title, lambda: self.action_requested.emit(name), variant=variant, icon_name=row.icon)

    def _on_clicked(self) -> None:
        if self._first_action:
            self.action_requested.emit(self._first_action)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        welcome_files(event)

    def dropEvent(self, event: QDropEvent) -> None:
        paths = take_files(event)
        if paths:
            self.files_dropped.emit(paths)
