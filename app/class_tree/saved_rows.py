"""Saves selection and expanded rows while an edit of the graph removes and inserts rows."""

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import final

from PySide6.QtCore import QModelIndex, QPersistentModelIndex
from PySide6.QtWidgets import QTreeView

from app.class_tree.model import ClassTreeModel
from app.class_tree.row_data import NAME
from engine.graph.category_graph import ClassId

MOST_ROWS_OPENED = 400
"""Rows expanded at once, at most: a class has a row for each path, of which there may be many."""


def open_rows(
    view: QTreeView,
    rows: Iterable[QModelIndex],
    is_wanted: Callable[[QModelIndex], bool] = lambda _index: True,
    *,
    most: int = MOST_ROWS_OPENED,
) -> None:
    """Expand rows and their descendants that fulfil a condition, in breadth-first order."""
    model = view.model()
    waiting = [index for index in rows if is_wanted(index)]
    for index in islice(waiting, most):  # grows during the iteration
        if model.canFetchMore(index):
            model.fetchMore(index)
        view.expand(index)
        below = (model.index(row, NAME, index) for row in range(model.rowCount(index)))
        waiting += [each for each in below if is_wanted(each)]


@final
class SavedRows:
    """Saves the classes of removed rows."""

    def __init__(self, view: QTreeView, model: ClassTreeModel) -> None:
        self._view = view
        self._model = model
        self._open: set[ClassId] = set()
        self._chosen: set[ClassId] = set()
        self._neighbour = QPersistentModelIndex()

    def note_choice(
        self, chosen: Sequence[QModelIndex], parent: QModelIndex, first: int, last: int
    ) -> None:
        """Save the selected classes among removed rows, and a neighbouring row to fall back to."""
        gone = [index for index in chosen if is_among(index, parent, first, last)]
        if gone:
            self._chosen.update(class_id for class_id, _parent in self._model.places_of(gone))
            neighbours = (self._model.index(row, NAME, parent) for row in (last + 1, first - 1))
            self._neighbour = QPersistentModelIndex(
                next((index for index in neighbours if index.isValid()), parent)
            )

    def note_open(self, parent: QModelIndex, first: int, last: int) -> None:
        waiting = [self._model.index(row, NAME, parent) for row in range(first, last + 1)]
        while waiting:
            index = waiting.pop()
            if self._view.isExpanded(index):
                self._open.update(class_id for class_id, _parent in self._model.places_of([index]))
                waiting += [
                    self._model.index(row, NAME, index)
                    for row in range(self._model.rowCount(index))
                ]

    def open_again(self, came: Sequence[int]) -> None:
        """Expand inserted rows whose classes were expanded before, and new ones above them."""
        if self._open:
            rows = [self._model.index_of_key(key) for key in came]
            open_rows(self._view, rows, self._was_open, most=max(MOST_ROWS_OPENED, len(self._open)))
        self._open.clear()

    def _was_open(self, index: QModelIndex) -> bool:
        class_id = self._model.class_of(index)
        if class_id is None:
            return False
        return class_id in self._open or not self._open.isdisjoint(
            self._model.graph.children(class_id)
        )

    def take_chosen(self) -> tuple[set[ClassId], QModelIndex]:
        chosen, self._chosen = self._chosen, set()
        return chosen, self._model.index(self._neighbour.row(), NAME, self._neighbour.parent())


def is_among(index: QModelIndex, parent: QModelIndex, first: int, last: int) -> bool:
    while index.isValid() and index.parent() != parent:
        index = index.parent()
    return index.isValid() and first <= index.row() <= last


def is_below(index: QModelIndex, upper: QModelIndex) -> bool:
    while index.isValid():
        index = index.parent()
        if index.isValid() and index == upper:
            return True
    return False
