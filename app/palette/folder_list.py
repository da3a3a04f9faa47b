"""A tree of image folders with check boxes: those to add, and those that are classes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QTreeWidget, QTreeWidgetItem

from app.tables import CellDelegate
from app.texts import plain_tip, tr
from app.theme.tokens import tokens
from app.wording import number
from engine.files import shown

if TYPE_CHECKING:
    from engine.collection.importing.folder_choice import FoundFolder

ROWS_IN_SIGHT = 6  # visible rows; the rest scrolls
MOST_UNFOLDED = 200
"""Up to this many folders are shown expanded. Chosen: longer lists are easier to survey
collapsed."""
FOLDER, IMAGES, CLASS = range(3)  # columns
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


@final
class FolderList(QTreeWidget):
    """Folders, each with check boxes; Space or a click toggles one.

    The check box of a folder to add changes those of its sub-folders, too.
    """

    choice_changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.folders: Sequence[FoundFolder] = ()
        self.left_out: frozenset[Path] = frozenset()
        self.classes: frozenset[Path] = frozenset()
        self.counting: frozenset[Path] = frozenset()
        self._items: list[QTreeWidgetItem] = []  # of the folders
        self.setHeaderLabels([tr("Folder"), tr("Images"), tr("Is a class")])
        self.headerItem().setTextAlignment(IMAGES, _RIGHT)
        self.setAccessibleName(tr("Image folders"))
        self.setProperty("role", "preview")
        self.setItemDelegate(CellDelegate(self))
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setUniformRowHeights(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        header = self.header()
        header.setStretchLastSection(False)
        header.setSectionsMovable(False)
        header.setSectionResizeMode(FOLDER, QHeaderView.ResizeMode.Stretch)
        for column in (IMAGES, CLASS):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.ResizeToContents)
        self.offer_classes(is_on=False)
        self.itemChanged.connect(self._on_item_changed)

    def show_folders(self, folders: Sequence[FoundFolder], counting: Collection[Path] = ()) -> None:
        """Show folders, each listed before its sub-folders.

        Args:
            counting: folders whose images are still being counted.
        """
        self.clear()
        self.folders, self.counting = folders, frozenset(counting)
        self._items = []
        above: list[QTreeWidgetItem] = []
        for folder in folders:
            del above[folder.depth :]
            item = self._make_item(folder)
            above[-1].addChild(item) if above else self.addTopLevelItem(item)
            self._items.append(item)
            above.append(item)
        self._show_boxes()
        is_short = len(folders) <= MOST_UNFOLDED
        if is_short:
            self.expandAll()
        rows = max(1, min(len(folders), ROWS_IN_SIGHT)) if is_short else ROWS_IN_SIGHT
        height = max(
            tokens().spacing.control_height - tokens().spacing.tiny, self.sizeHintForRow(0)
        )
        self.setFixedHeight(self.header().sizeHint().height() + rows * height + 2)
        self.setRootIsDecorated(any(each.depth for each in folders))

    def _make_item(self, folder: FoundFolder) -> QTreeWidgetItem:
        path, is_counting = folder.path, folder.path in self.counting
        images = tr("counting…") if is_counting else number(folder.images)
        item = QTreeWidgetItem([shown(path.name or str(path)), images])
        item.setToolTip(FOLDER, plain_tip(shown(str(path))))
        item.setTextAlignment(IMAGES, _RIGHT)
        words = tr("{1} is a class", shown(path.name))
        item.setData(CLASS, Qt.ItemDataRole.AccessibleTextRole, words)
        return item

    def choose(self, left_out: Collection[Path], classes: Collection[Path]) -> None:
        self.left_out, self.classes = frozenset(left_out), frozenset(classes)
        self._show_boxes()

    def _show_boxes(self) -> None:
        with QSignalBlocker(self):
            for place, (item, folder) in enumerate(zip(self._items, self.folders, strict=True)):
                out = {path in self.left_out for path in self._paths_below(place)}
                whole = Qt.CheckState.Unchecked if out == {True} else Qt.CheckState.Checked
                state = Qt.CheckState.PartiallyChecked if len(out) > 1 else whole
                is_class = folder.path in self.classes
                item.setCheckState(FOLDER, state)
                item.setCheckState(
                    CLASS, Qt.CheckState.Checked if is_class else Qt.CheckState.Unchecked
                )

    def _paths_below(self, place: int) -> Iterator[Path]:
        """The folders with images of their own in a subtree; these are consecutive."""
        for each in range(place, len(self.folders)):
            if each > place and self.folders[each].depth <= self.folders[place].depth:
                return
            if self.folders[each].own:
                yield self.folders[each].path

    def _on_item_changed(self, item: QTreeWidgetItem, column: int) -> None:
        place = self._items.index(item)
        is_on = item.checkState(column) is not Qt.CheckState.Unchecked
        if column == CLASS:
            paths = {self.folders[place].path}
            self.classes = self.classes | paths if is_on else self.classes - paths
        else:
            paths = set(self._paths_below(place))
            self.left_out = self.left_out - paths if is_on else self.left_out | paths
        self._show_boxes()
        self.choice_changed.emit()

    @property
    def image_count(self) -> int:
        """Number of images in the folders to add."""
        return sum(each.own for each in self.folders if each.path not in self.left_out)

    def offer_classes(self, *, is_on: bool) -> None:
        """Show or hide the check boxes of classes."""
        self.setColumnHidden(CLASS, not is_on)
