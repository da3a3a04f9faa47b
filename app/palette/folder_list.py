"""A tree of image folders with check boxes: those to add, and those that are classes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, final

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QTreeView

from app.controls import CellDelegate
from app.texts import plain_tip, tr
from app.theme.tokens import tokens
from app.wording import number
from engine.files import shown

if TYPE_CHECKING:
    from engine.collection.importing.folder_choice import FoundFolder

ROWS_IN_SIGHT: Final = 6  # visible rows; the rest scrolls
MOST_UNFOLDED: Final = 200
"""Up to this many folders are shown expanded. Chosen: longer lists are easier to survey
collapsed."""
FOLDER, IMAGES, CLASS = range(3)  # columns
_RIGHT: Final = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
Index = QModelIndex | QPersistentModelIndex
NO_INDEX: Final = QModelIndex()


@final
class FolderModel(QAbstractItemModel):
    """Tree model of folders.

    The check box of a folder to add changes those of its sub-folders, too.
    """

    choice_changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.folders: Sequence[FoundFolder] = ()
        self.left_out: frozenset[Path] = frozenset()
        self.classes: frozenset[Path] = frozenset()
        self.counting: frozenset[Path] = frozenset()
        self._parents: list[int] = []  # index of each folder's parent; -1 at the top
        self._children: dict[int, list[int]] = {-1: []}
        self._rows: list[int] = []  # of each folder among its siblings

    def show_folders(self, folders: Sequence[FoundFolder], counting: Collection[Path] = ()) -> None:
        """Show folders, each listed before its sub-folders.

        Args:
            counting: folders whose images are still being counted.
        """
        self.beginResetModel()
        self.folders, self.counting = folders, frozenset(counting)
        self._parents, self._rows, self._children = [], [], {-1: []}
        above: list[int] = []
        for place, folder in enumerate(folders):
            del above[folder.depth :]
            siblings = self._children.setdefault(above[-1] if above else -1, [])
            self._parents.append(above[-1] if above else -1)
            self._rows.append(len(siblings))
            siblings.append(place)
            above.append(place)
        self.endResetModel()

    def choose(self, left_out: Collection[Path], classes: Collection[Path]) -> None:
        self.left_out, self.classes = frozenset(left_out), frozenset(classes)
        self._redraw()

    def _redraw(self) -> None:
        for siblings in filter(None, self._children.values()):
            self.dataChanged.emit(
                self._index_of(siblings[0], FOLDER), self._index_of(siblings[-1], CLASS)
            )

    def _index_of(self, place: int, column: int) -> QModelIndex:
        return self.createIndex(self._rows[place], column, place)

    # -- Qt

    def index(self, row: int, column: int, parent: Index = NO_INDEX) -> QModelIndex:
        children = self._children.get(parent.internalId() if parent.isValid() else -1, [])
        return (
            self.createIndex(row, column, children[row]) if row < len(children) else QModelIndex()
        )

    def parent(self, child: Index = NO_INDEX) -> QModelIndex:  # type: ignore[override]
        place = self._parents[child.internalId()] if child.isValid() else -1
        return QModelIndex() if place < 0 else self._index_of(place, FOLDER)

    def rowCount(self, parent: Index = NO_INDEX) -> int:
        if parent.column() > FOLDER:
            return 0
        return len(self._children.get(parent.internalId() if parent.isValid() else -1, ()))

    def columnCount(self, _parent: Index = NO_INDEX) -> int:
        return CLASS + 1

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole and section == IMAGES:
            return _RIGHT
        titles = (tr("Folder"), tr("Images"), tr("Is a class"))
        return titles[section] if role == Qt.ItemDataRole.DisplayRole else None

    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        return flags if index.column() == IMAGES else flags | Qt.ItemFlag.ItemIsUserCheckable

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        place, column = index.internalId(), index.column()
        folder = self.folders[place]
        if role == Qt.ItemDataRole.DisplayRole and column == FOLDER:
            return shown(folder.path.name or str(folder.path))
        if role == Qt.ItemDataRole.DisplayRole and column == IMAGES:
            return tr("counting…") if folder.path in self.counting else number(folder.images)
        if role == Qt.ItemDataRole.ToolTipRole and column == FOLDER:
            return plain_tip(shown(str(folder.path)))
        if role == Qt.ItemDataRole.TextAlignmentRole and column == IMAGES:
            return _RIGHT
        if role == Qt.ItemDataRole.AccessibleTextRole and column == CLASS:
            return tr("%1 is a class", shown(folder.path.name))
        return self._box(place, column) if role == Qt.ItemDataRole.CheckStateRole else None

    def _box(self, place: int, column: int) -> Qt.CheckState | None:
        path = self.folders[place].path
        if column == CLASS:
            return Qt.CheckState.Checked if path in self.classes else Qt.CheckState.Unchecked
        if column == IMAGES:
            return None
        states = {
            self.folders[each].path in self.left_out for each in self._with_those_below(place)
        }
        if len(states) > 1:
            return Qt.CheckState.PartiallyChecked
        return Qt.CheckState.Unchecked if states == {True} else Qt.CheckState.Checked

    def _with_those_below(self, place: int) -> Iterator[int]:
        """Indices of the folders with images of their own in a subtree; these are consecutive."""
        for each in range(place, len(self.folders)):
            if each > place and self.folders[each].depth <= self.folders[place].depth:
                return
            if self.folders[each].own:
                yield each

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        if role != Qt.ItemDataRole.CheckStateRole:
            return False
        place, is_on = index.internalId(), Qt.CheckState(value) != Qt.CheckState.Unchecked
        if index.column() == CLASS:
            paths = {self.folders[place].path}
            self.classes = self.classes | paths if is_on else self.classes - paths
        else:
            paths = {self.folders[each].path for each in self._with_those_below(place)}
            self.left_out = self.left_out - paths if is_on else self.left_out | paths
        self._redraw()
        self.choice_changed.emit()
        return True

    @property
    def image_count(self) -> int:
        """Number of images in the folders to add."""
        return sum(each.own for each in self.folders if each.path not in self.left_out)


@final
class FolderList(QTreeView):
    """Shows the folders; Space or a click toggles a check box."""

    def __init__(self) -> None:
        super().__init__()
        self.folders = FolderModel()
        self.setModel(self.folders)
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

    def show_folders(self, folders: Sequence[FoundFolder], counting: Collection[Path] = ()) -> None:
        """Show folders (`FolderModel.show_folders`)."""
        self.folders.show_folders(folders, counting)
        if len(folders) <= MOST_UNFOLDED:
            self.expandAll()
        rows = max(
            1, min(len(folders) if len(folders) <= MOST_UNFOLDED else ROWS_IN_SIGHT, ROWS_IN_SIGHT)
        )
        height = max(
            tokens().spacing.control_height - tokens().spacing.tiny, self.sizeHintForRow(0)
        )
        self.setFixedHeight(self.header().sizeHint().height() + rows * height + 2)
        self.setRootIsDecorated(any(each.depth for each in folders))

    def offer_classes(self, *, is_on: bool) -> None:
        """Show or hide the check boxes of classes."""
        self.setColumnHidden(CLASS, not is_on)
