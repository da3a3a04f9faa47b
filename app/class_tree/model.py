"""Qt model of the class tree: rows are built on demand, and edits update only affected rows."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, final

from PySide6.QtCore import (
    QAbstractItemModel,
    QItemSelection,
    QMimeData,
    QModelIndex,
    QObject,
    Qt,
    Signal,
)

from app.class_tree.row_data import (
    COUNT,
    NAME,
    AnyIndex,
    Node,
    NodeTable,
    RowData,
    TouchedClasses,
    number_rows,
    touched_by,
)
from app.dragging import CLASS_MIME, IMAGES_MIME, Places, classes_mime_data
from engine.collection.state import CollectionState
from engine.graph.category_graph import CategoryGraph, ClassId
from engine.graph.edits import GraphEdit
from engine.project import ClassPolicy

REBUILD_ABOVE = 400
"""Differences in a list of children above which it is rebuilt, which is faster than moving rows."""


@final
class ClassTreeModel(QAbstractItemModel):
    """Item model of a graph's classes, each under each of its parents; empty before `set_graph`."""

    # Class id and typed name; the row changes when the graph does.
    rename_requested = Signal(int, str)
    edits_applied = Signal(tuple)  # all rows are up to date; carries the keys of inserted rows

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._known: CategoryGraph | None = None
        self._table = NodeTable()
        self._rows = RowData()
        self._found: Sequence[ClassId] | None = None
        self._came: list[int] = []
        self.is_editable = True
        self.is_following_edits = False
        self._table.top.children = []

    @property
    def graph(self) -> CategoryGraph:
        assert self._known is not None, "there are rows only after there was a graph"
        return self._known

    def set_graph(self, graph: CategoryGraph, found: Sequence[ClassId] | None = None) -> None:
        """Show another graph, or search results.

        Args:
            found: classes to show as flat rows in this order, with their paths.
        """
        self.beginResetModel()
        self._known, self._table = graph, NodeTable()
        self._found = found
        self._rows.paths = (
            None if found is None else {class_id: graph.paths(class_id)[0] for class_id in found}
        )
        self._rows.follow(graph)
        self._build(self._table.top)
        self.endResetModel()

    def replace_graph(self, graph: CategoryGraph) -> None:
        """Show a new version of the graph; unchanged rows keep their state."""
        self._known = graph
        self._rows.follow(graph)
        self.is_following_edits = True
        for node in list(self._table.top.built_below()):
            if self._table.has(node):
                self._synchronise(node)
        self.is_following_edits = False
        for node in self._table.top.built_below():
            if node.class_id is not None:
                self.dataChanged.emit(self._index_of(node), self._index_of(node, COUNT))

    def set_state(self, state: CollectionState | None) -> bool:
        """Show the counts of a state; whether any value has changed."""
        is_other = self._rows.count(state, self._known)
        if is_other:
            self._repaint_all()
        return is_other

    def set_marks(
        self, colours: Mapping[ClassId, str], policies: Mapping[ClassId, ClassPolicy]
    ) -> None:
        self._rows.colours, self._rows.policies = colours, policies
        self._repaint_all()

    def _repaint_all(self) -> None:
        if self.rowCount():
            self.dataChanged.emit(self.index(0, NAME), self.index(self.rowCount() - 1, COUNT))

    def apply_edits(self, edits: Iterable[GraphEdit]) -> None:
        touched = touched_by(self.graph, edits)
        self._came = []
        self._rows.follow(self.graph)
        self.is_following_edits = True
        self._synchronise_all(touched)
        self.is_following_edits = False
        for class_id in touched.looks:
            for node in self._table.of_class(class_id):
                self.dataChanged.emit(self._index_of(node), self._index_of(node, COUNT))
        self.edits_applied.emit(tuple(self._came))

    def _synchronise_all(self, touched: TouchedClasses) -> None:
        top = self._table.top
        roots = {node.class_id for node in top.children or ()}
        if any(
            (each in roots) != self._is_root(each) or each in roots & touched.looks
            for each in touched.roots
        ):
            self._synchronise(top)
        for class_id in touched.parents:
            for node in self._table.of_class(class_id):
                self._synchronise(node)

    def index_of_key(self, key: int) -> QModelIndex:
        return self._index_of(self._table.find(key))

    def indexes_of(self, class_id: ClassId) -> list[QModelIndex]:
        return [self._index_of(node) for node in self._table.of_class(class_id)]

    def index_of_path(self, path: Sequence[ClassId]) -> QModelIndex:
        """The row at the end of a path from a root, built if needed; invalid if it is not shown."""
        node = self._table.top
        for class_id in path if self._found is None else path[-1:]:
            if node.children is None:
                self._fetch(node)
            below = next(
                (child for child in node.children or () if child.class_id == class_id), None
            )
            if below is None:
                return QModelIndex()
            node = below
        return self._index_of(node)

    def first_path(self, class_id: ClassId) -> tuple[ClassId, ...]:
        """A path from a root to a class; empty if there is no such class."""
        return self.graph.paths(class_id)[0] if class_id in self.graph else ()

    def open_levels(self, is_open: Callable[[QModelIndex], bool]) -> int:
        return self._table.open_levels(lambda node: is_open(self._index_of(node)))

    def class_of(self, index: AnyIndex) -> ClassId | None:
        return self._table.find(index.internalId()).class_id if index.isValid() else None

    def parent_class_of(self, index: AnyIndex) -> ClassId | None:
        """The class of the parent row; None at the top level."""
        return self._rows.parent_class(self._node(index))

    def rows_of(self, selection: QItemSelection) -> list[QModelIndex]:
        """The selected rows from top to bottom.

        `QItemSelectionModel.selectedRows` omits rows with equal numbers under different parents.
        """
        found = (index for index in selection.indexes() if index.column() == NAME)
        return sorted(found, key=lambda index: self._node(index).place)

    def places_of(self, indexes: Iterable[AnyIndex]) -> Places:
        found = ((self.class_of(index), self.parent_class_of(index)) for index in indexes)
        return tuple(
            dict.fromkeys(
                (class_id, parent_id) for class_id, parent_id in found if class_id is not None
            )
        )

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008 (Qt's signature)
        return len(self._node(parent).children or ()) if parent.column() <= 0 else 0

    def columnCount(self, _parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008
        return 2

    def index(self, row: int, column: int, parent: AnyIndex = QModelIndex()) -> QModelIndex:  # noqa: B008
        children = self._node(parent).children or ()
        if 0 <= row < len(children) and column in (NAME, COUNT):
            return self.createIndex(row, column, children[row].key)
        return QModelIndex()

    def parent(self, index: AnyIndex = QModelIndex()) -> QModelIndex:  # type: ignore[override]  # noqa: B008
        above = self._node(index).parent
        return QModelIndex() if above is None else self._index_of(above)

    def hasChildren(self, parent: AnyIndex = QModelIndex()) -> bool:  # noqa: B008
        node = self._node(parent)
        return bool(self._children(node) if node.children is None else node.children)

    def canFetchMore(self, parent: AnyIndex) -> bool:
        return self._node(parent).children is None

    def fetchMore(self, parent: AnyIndex) -> None:
        self._fetch(self._node(parent))

    def flags(self, index: AnyIndex) -> Qt.ItemFlag:
        if not index.isValid():
            return Qt.ItemFlag.ItemIsDropEnabled
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        if self.is_editable:
            flags |= Qt.ItemFlag.ItemIsDragEnabled | Qt.ItemFlag.ItemIsDropEnabled
        return (
            flags | Qt.ItemFlag.ItemIsEditable
            if self.is_editable and index.column() == NAME
            else flags
        )

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        node = self._node(index)
        if node.class_id is None or node.class_id not in self.graph:
            return None
        return self._rows.read(self.graph, node, index.column(), role)

    def setData(self, index: AnyIndex, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        class_id, is_typed = self.class_of(index), role == Qt.ItemDataRole.EditRole
        if is_typed and class_id is not None and str(value).strip() != self.graph.name(class_id):
            self.rename_requested.emit(class_id, str(value))
        return False  # the row changes with the graph, unless the name is refused

    def mimeTypes(self) -> list[str]:
        return [CLASS_MIME, IMAGES_MIME, "text/uri-list"]

    def mimeData(self, indexes: Sequence[QModelIndex]) -> QMimeData:
        places = self.places_of(indexes)
        return classes_mime_data(
            places, [self.graph.name(class_id) for class_id, _parent in places]
        )

    def _node(self, index: AnyIndex) -> Node:
        return self._table.find(index.internalId()) if index.isValid() else self._table.top

    def _index_of(self, node: Node, column: int = NAME) -> QModelIndex:
        return (
            QModelIndex() if node.class_id is None else self.createIndex(node.row, column, node.key)
        )

    def _is_root(self, class_id: ClassId) -> bool:
        return class_id in self.graph and not self.graph.parents(class_id)

    def _children(self, node: Node) -> Sequence[ClassId]:
        if self._found is not None:
            return (
                [each for each in self._found if each in self.graph]
                if node.class_id is None
                else ()
            )
        if node.class_id is None:
            return tuple(self.graph.roots())
        return tuple(self.graph.children(node.class_id)) if node.class_id in self.graph else ()

    def _build(self, node: Node) -> None:
        node.children = [
            self._table.make(each, node, row) for row, each in enumerate(self._children(node))
        ]

    def _fetch(self, node: Node) -> None:
        count = len(self._children(node))
        if count == 0:
            node.children = []
            return
        self.beginInsertRows(self._index_of(node), 0, count - 1)
        self._build(node)
        self.endInsertRows()

    def _synchronise(self, node: Node) -> None:
        if node.children is None:
            return
        wanted = self._children(node)
        now = {child.class_id for child in node.children}
        if len(now.symmetric_difference(wanted)) > REBUILD_ABOVE:
            self._remove_rows(node, 0, len(node.children))
        kept = frozenset(wanted)
        for row in reversed(range(len(node.children))):
            if node.children[row].class_id not in kept:
                self._remove_rows(node, row, 1)
        self._insert_and_order(node, wanted)

    def _remove_rows(self, node: Node, row: int, count: int) -> None:
        if count == 0 or node.children is None:
            return
        self.beginRemoveRows(self._index_of(node), row, row + count - 1)
        for gone in node.children[row : row + count]:
            self._table.forget(gone)
        del node.children[row : row + count]
        number_rows(node.children, row)
        self.endRemoveRows()

    def _insert_and_order(self, node: Node, wanted: Sequence[ClassId]) -> None:
        assert node.children is not None
        children = node.children
        present = {child.class_id for child in children}
        row = 0
        while row < len(wanted):
            if row < len(children) and children[row].class_id == wanted[row]:
                row += 1
            elif wanted[row] in present:
                source = next(
                    place
                    for place in range(row, len(children))
                    if children[place].class_id == wanted[row]
                )
                self._move_row(node, source, row)
            else:
                run = row + 1
                while run < len(wanted) and wanted[run] not in present:
                    run += 1
                self._insert_rows(node, row, wanted[row:run])
                row = run

    def _insert_rows(self, node: Node, row: int, classes: Sequence[ClassId]) -> None:
        assert node.children is not None
        self.beginInsertRows(self._index_of(node), row, row + len(classes) - 1)
        made = [self._table.make(class_id, node, row) for class_id in classes]
        node.children[row:row] = made
        number_rows(node.children, row)
        self._came += [each.key for each in made]
        self.endInsertRows()

    def _move_row(self, node: Node, source: int, target: int) -> None:
        """Move a row up; `target` is less than `source`."""
        assert node.children is not None
        parent = self._index_of(node)
        self.beginMoveRows(parent, source, source, parent, target)
        node.children.insert(target, node.children.pop(source))
        number_rows(node.children, target)
        self.endMoveRows()
