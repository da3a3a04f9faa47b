"""The list of files that could not be read: looked at when the person wants, never a dialog per file."""

from collections.abc import Sequence
from typing import Final, final

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QHBoxLayout, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from app.controls import make_button, make_label
from app.texts import plain_tip, plural, tr
from engine.files import FileFailure, shown

_WIDTH: Final = 520
_LISTED_LIMIT: Final = 1000


def as_text(failures: Sequence[FileFailure]) -> str:
    """One line for each file: path, tab, reason."""
    return "\n".join(shown(f"{failure.path}\t{failure.reason}") for failure in failures)


@final
class FailuresPopup(QFrame):
    """A small window above the status bar with every file and its reason."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setProperty("role", "popup")
        self.setFixedWidth(_WIDTH)
        self._failures: tuple[FileFailure, ...] = ()
        self._title = make_label("", "heading")
        note = make_label(
            tr("Repair or replace files, then press F5. Protoleaf changes none of them."), "secondary", wraps=True
        )
        self._list = QListWidget(self)
        self._list.setUniformItemSizes(False)
        self._list.setWordWrap(True)
        self._list.setAccessibleName(tr("Files that could not be read"))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 16, 16, 16)
        layout.setSpacing(8)
        layout.addWidget(self._title)
        layout.addWidget(note)
        layout.addWidget(self._list)
        layout.addLayout(self._buttons())

    def _buttons(self) -> QHBoxLayout:
        copy = make_button(tr("Copy the list"), self._on_copy_clicked, icon_name="copy")
        row = QHBoxLayout()
        row.addStretch()
        row.addWidget(copy)
        return row

    def show_failures(self, failures: Sequence[FileFailure], *, above: QPoint) -> None:
        """Fill the list and show it with its lower right corner at `above` (global)."""
        self._failures = tuple(failures)
        self._title.setText(plural(len(failures), "1 file could not be read", "%n files could not be read"))
        self._list.clear()
        for failure in failures[:_LISTED_LIMIT]:
            item = QListWidgetItem(shown(f"{failure.path.name}\n{failure.reason}"))
            item.setToolTip(plain_tip(shown(str(failure.path))))
            self._list.addItem(item)
        self.adjustSize()
        self.move(above - QPoint(self.width(), self.height()))
        self.show()

    def _on_copy_clicked(self) -> None:
        QGuiApplication.clipboard().setText(as_text(self._failures))
        self.close()
