"""All keys on one sheet, built from the table of actions."""

from collections.abc import Iterable, Sequence
from typing import final

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from app.actions.row import MENUS, ActionRow
from app.controls import make_label, make_scroll_area
from app.palette.overlay import Overlay
from app.texts import tr

WIDTH = 760
COLUMNS = 2


@final
class KeysSheet(Overlay):
    """Two columns of groups, which scroll in a low window; Esc or a click beside it closes."""

    def __init__(self, host: QWidget, rows: Iterable[ActionRow]) -> None:
        super().__init__(host, WIDTH)
        self._layout = QVBoxLayout(self.panel)
        self._layout.setContentsMargins(24, 20, 24, 24)
        self._layout.setSpacing(16)
        self._heading = make_label(tr("Keys"), "heading")
        self._layout.addWidget(self._heading)
        self._body = self._make_body([row for row in rows if row.shortcuts])
        scroll = make_scroll_area()
        scroll.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # arrow and page keys scroll
        scroll.setAccessibleName(self._heading.text())
        scroll.setWidget(self._body)
        self._layout.addWidget(scroll, 1)
        self.setFocusProxy(scroll)

    def _make_body(self, rows: Sequence[ActionRow]) -> QWidget:
        body = QWidget()
        body.setProperty("surface", "raised")
        columns = QHBoxLayout(body)
        columns.setContentsMargins(0, 0, 0, 0)
        columns.setSpacing(40)
        groups = [(menu, [row for row in rows if row.section.menu == menu]) for menu in MENUS]
        halves = _balanced([group for group in groups if group[1]])
        for half in halves:
            column = QVBoxLayout()
            column.setSpacing(12)
            for group, found in half:
                column.addLayout(_group(tr(group), found))
            column.addStretch(1)
            columns.addLayout(column, 1)
        return body

    def wanted_height(self, width: int) -> int:
        """Heading and all keys without scrolling."""
        room, frame = self._layout.contentsMargins(), 2 * self.panel.frameWidth()
        keys = self._body.heightForWidth(width - room.left() - room.right() - frame)
        words = self._heading.sizeHint().height() + self._layout.spacing() + keys
        return room.top() + words + room.bottom() + frame


Group = tuple[str, list[ActionRow]]


def _balanced(groups: list[Group]) -> tuple[list[Group], list[Group]]:
    left: list[Group] = []
    right: list[Group] = []
    for group in sorted(groups, key=lambda entry: -len(entry[1])):
        shorter = min((left, right), key=lambda half: sum(len(rows) + 2 for _, rows in half))
        shorter.append(group)
    return left, right


def _group(title: str, rows: list[ActionRow]) -> QGridLayout:
    grid = QGridLayout()
    grid.setVerticalSpacing(4)
    grid.setColumnStretch(0, 1)
    grid.addWidget(make_label(title, "section"), 0, 0)
    for line, row in enumerate(rows, start=1):
        grid.addWidget(make_label(row.title.replace("…", ""), "secondary", wraps=True), line, 0)
        keys = QKeySequence(row.shortcuts[0]).toString(QKeySequence.SequenceFormat.NativeText)
        grid.addWidget(make_label(keys, "key"), line, 1)
    return grid
