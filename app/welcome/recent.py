"""Recent projects on the first page and in the menu."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Final, final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QFrame, QMenu, QWidget

from app.controls import ElidedLabel, fill_column, fill_row, make_button, make_icon_button, make_label, set_variant
from app.settings import Settings
from app.texts import for_menu, plain_tip, shortened, tr
from app.theme.icons import icon
from app.theme.tokens import tokens

LONGEST_NAME: Final = 40  # letters


@final
class RecentList(QWidget):
    """One row for each project; hidden while empty."""

    project_requested = Signal(Path)
    forget_requested = Signal(Path)  # remove it from the list

    def __init__(self) -> None:
        super().__init__()
        card = QFrame()
        card.setProperty("role", "card")
        self._column = fill_column(card, spacing=0)
        self._column.setContentsMargins(*4 * (tokens().spacing.tiny,))
        fill_column(self, make_label(tr("Recent projects"), "section"), card)
        self.rows: dict[Path, RecentRow] = {}
        self.hide()

    def show_projects(self, paths: Sequence[Path]) -> None:
        for row in self.rows.values():
            self._column.removeWidget(row)
            row.hide()
            row.deleteLater()
        self.rows = {path: RecentRow(path) for path in paths}
        for row in self.rows.values():
            row.project_requested.connect(self.project_requested)
            row.forget_requested.connect(self.forget_requested)
            self._column.addWidget(row)
        self.setVisible(bool(paths))

    def focus_stops(self) -> list[QWidget]:
        return [stop for row in self.rows.values() for stop in (row.open_button, row.forget_button)]

    def show_gone(self, gone: Collection[Path]) -> None:
        for path, row in self.rows.items():
            row.show_gone(is_gone=path in gone)


@final
class RecentRow(QWidget):
    """A project's name and folder; a click anywhere opens it."""

    project_requested = Signal(Path)
    forget_requested = Signal(Path)

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.setProperty("role", "row")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._path = path
        self.open_button = make_button(
            shortened(path.stem, LONGEST_NAME), lambda: self.project_requested.emit(path),
            variant="flat", icon_name="leaf",
        )  # fmt: skip
        self.open_button.setToolTip(plain_tip(str(path)))
        self.open_button.setAutoDefault(True)
        self._gone_mark = make_label(tr("Not found"), "caption")
        self.forget_button = make_icon_button(
            "close", tr("Remove “%1” from this list", path.stem), lambda: self.forget_requested.emit(path)
        )
        folder = ElidedLabel("caption", mode=Qt.TextElideMode.ElideMiddle)
        folder.show_text(str(path.parent))
        fill_row(self, self.open_button, folder, self._gone_mark, self.forget_button)
        self.show_gone(is_gone=False)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        event.setAccepted(event.button() == Qt.MouseButton.LeftButton)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.project_requested.emit(self._path)

    def show_gone(self, *, is_gone: bool) -> None:
        """Mark a missing file; it can still be opened, as its disk may be back."""
        set_variant(self.open_button, "muted" if is_gone else "flat")
        self.open_button.setAccessibleDescription(self._gone_mark.text() if is_gone else "")
        self._gone_mark.setVisible(is_gone)
        self.forget_button.setVisible(is_gone)


@final
class RecentMenu(QMenu):
    """Filled each time it is shown, without the open project."""

    project_requested = Signal(Path)
    clear_requested = Signal()

    def __init__(self, settings: Settings, opened: Callable[[], Path | None], window: QWidget) -> None:
        super().__init__(tr("Open recent"), window)
        self.setIcon(icon("history"))
        self.setToolTipsVisible(True)
        self._settings = settings
        self._opened = opened
        self.aboutToShow.connect(self._fill)

    def _fill(self) -> None:
        self.clear()
        paths = [path for path in self._settings.recent_projects() if path != self._opened()]
        names = Counter(path.stem for path in paths)
        for path in paths:
            text = path.stem if names[path.stem] == 1 else f"{path.stem} ({path.parent})"
            action = self.addAction(for_menu(text))
            action.setToolTip(plain_tip(str(path)))
            action.triggered.connect(lambda _is_checked=False, path=path: self.project_requested.emit(path))
        if not paths:
            none = self.addAction(tr("No recent projects"))
            none.setObjectName("no_projects")
            none.setEnabled(False)
        self.addSeparator()
        clear = self.addAction(tr("Clear recent projects"))
        clear.setObjectName("clear_projects")
        clear.setEnabled(bool(self._settings.recent_projects()))
        clear.triggered.connect(self.clear_requested)
