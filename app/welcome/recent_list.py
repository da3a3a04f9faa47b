"""The projects opened last; one whose file is gone says so and can be taken off the list."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final, final

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSizePolicy, QWidget

from app.controls import fill_column, make_button, make_icon_button, make_label, set_variant
from app.texts import plain_tip, shortened, tr
from app.theme.tokens import tokens

LONGEST_NAME: Final = 40  # letters; beyond it the middle is left out


@final
class RecentList(QWidget):
    """One row for each project; it takes no room without any."""

    project_requested = Signal(Path)  # path of a project
    forget_requested = Signal(Path)  # path of a project to take off the list

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
        """List projects, the latest first."""
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
        """Mark those whose file is not where it was."""
        for path, row in self.rows.items():
            row.show_gone(is_gone=path in gone)


@final
class RecentRow(QWidget):
    """A project's name, its folder, and what can be done about it when it is gone. A click anywhere opens it."""

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
            shortened(path.stem, LONGEST_NAME),
            lambda: self.project_requested.emit(path),
            variant="flat",
            icon_name="leaf",
        )
        self.open_button.setToolTip(plain_tip(str(path)))
        self.open_button.setAutoDefault(True)  # Enter goes on where one was
        self._gone_mark = make_label(tr("Not found"), "caption")
        self.forget_button = make_icon_button(
            "close", tr("Remove “%1” from this list", path.stem), lambda: self.forget_requested.emit(path)
        )
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(tokens().spacing.small)
        row.addWidget(self.open_button)
        row.addWidget(FolderLabel(path.parent), 1)
        row.addWidget(self._gone_mark)
        row.addWidget(self.forget_button)
        self.show_gone(is_gone=False)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        event.setAccepted(event.button() == Qt.MouseButton.LeftButton)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Open the project, unless the pointer was taken elsewhere meanwhile."""
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.project_requested.emit(self._path)

    def show_gone(self, *, is_gone: bool) -> None:
        """A gone project can still be opened: its disk may be back by now."""
        set_variant(self.open_button, "muted" if is_gone else "flat")
        self.open_button.setAccessibleDescription(self._gone_mark.text() if is_gone else "")
        self._gone_mark.setVisible(is_gone)
        self.forget_button.setVisible(is_gone)


@final
class FolderLabel(QLabel):
    """A folder in one line, its middle left out where it does not fit."""

    def __init__(self, folder: Path) -> None:
        super().__init__(str(folder))
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setProperty("role", "caption")
        self.setToolTip(plain_tip(str(folder)))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)

    def sizeHint(self) -> QSize:
        return QSize(0, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter, place = QPainter(self), self.contentsRect()
        painter.setPen(self.palette().color(self.foregroundRole()))
        text = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideMiddle, place.width())
        painter.drawText(place, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)
        painter.end()
