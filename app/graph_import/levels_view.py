"""A small tree of how a class list begins."""

from typing import Final, final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QTreeWidget, QTreeWidgetItem

from app.graph_import.logic import FirstClass
from app.palette.import_card import more_text
from app.texts import plain_tip, tr
from app.theme.tokens import tokens
from app.wording import number
from engine.files import shown

ROWS_IN_SIGHT: Final = 7
"""The rest scrolls."""

_COUNTS: Final = 1


@final
class FirstLevels(QTreeWidget):
    """The first levels, each class with the number of those below it; opened as far as there is room."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(tr("How the list begins"))
        self.setProperty("role", "preview")
        self.setHeaderLabels([tr("Class"), tr("Classes below")])
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setUniformRowHeights(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.headerItem().setTextAlignment(_COUNTS, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        header = self.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(_COUNTS, QHeaderView.ResizeMode.ResizeToContents)

    @property
    def rows(self) -> list[tuple[int, str, str]]:
        """Level, name and count of each row that can be seen by scrolling."""
        found: list[tuple[int, str, str]] = []
        item = self.topLevelItem(0)
        while item is not None:
            level, above = 0, item.parent()
            while above is not None:
                level, above = level + 1, above.parent()
            found.append((level, item.text(0), item.text(_COUNTS)))
            item = self.itemBelow(item)
        return found

    def show_levels(self, top: FirstClass) -> None:
        """Show them, open as far as they fit."""
        self.clear()
        _fill(self.invisibleRootItem(), top)
        level = [self.invisibleRootItem()]
        in_sight = 0
        while level:
            below = [_child(item, place) for item in level for place in range(item.childCount())]
            in_sight += len(below)
            if in_sight > ROWS_IN_SIGHT:
                break
            for item in level:
                item.setExpanded(True)
            level = below
        rows = max(1, min(len(self.rows), ROWS_IN_SIGHT))
        height = tokens().spacing.control_height - tokens().spacing.tiny
        self.setFixedHeight(self.header().sizeHint().height() + rows * max(height, self.sizeHintForRow(0)) + 2)


def _child(item: QTreeWidgetItem, place: int) -> QTreeWidgetItem:
    child = item.child(place)
    assert child is not None, "the place is counted"
    return child


def _fill(root: QTreeWidgetItem, top: FirstClass) -> None:
    waiting = [(root, top)]
    for row, parent in waiting:  # grows while it is walked
        for each in parent.children:
            item = QTreeWidgetItem(row, [shown(each.name), number(each.below) if each.below else ""])
            item.setTextAlignment(_COUNTS, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            item.setToolTip(0, plain_tip(shown(each.name)))
            waiting.append((item, each))
        if parent.more:
            rest = QTreeWidgetItem(row, [more_text(parent.more), ""])
            rest.setFlags(Qt.ItemFlag.NoItemFlags)
