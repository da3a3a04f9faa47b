"""All keys on one sheet, built from the table of actions."""

from typing import final

from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from app.actions.table import ACTIONS, GROUPS, ActionRow, group_title
from app.controls import make_label
from app.palette.overlay import Overlay

WIDTH = 760
COLUMNS = 2


@final
class KeysSheet(Overlay):
    """Two columns of groups; Esc or a click beside it closes."""

    def __init__(self, host: QWidget) -> None:
        super().__init__(host, WIDTH)
        layout = QVBoxLayout(self.panel)
        layout.setContentsMargins(24, 20, 24, 24)
        layout.setSpacing(16)
        layout.addWidget(make_label(self.tr("Keys"), "heading"))
        columns = QHBoxLayout()
        columns.setSpacing(40)
        layout.addLayout(columns)
        rows = {group: [row for row in ACTIONS if row.group == group and row.shortcuts] for group in GROUPS}
        halves = _balanced([(group, rows[group]) for group in GROUPS if rows[group]])
        for half in halves:
            column = QVBoxLayout()
            column.setSpacing(12)
            for group, found in half:
                column.addLayout(_group(group_title(group), found))
            column.addStretch(1)
            columns.addLayout(column, 1)


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
        grid.addWidget(make_label(row.title.replace("…", ""), "secondary"), line, 0)
        keys = QKeySequence(row.shortcuts[0]).toString(QKeySequence.SequenceFormat.NativeText)
        grid.addWidget(make_label(keys, "key"), line, 1)
    return grid
