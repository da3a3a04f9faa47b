"""Selection and current card of the grid. The current card is always selected."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from PySide6.QtCore import QItemSelection, QItemSelectionModel, QObject
from PySide6.QtWidgets import QAbstractItemView

from app.image_grid.folded import NO_IMAGES, ShownImages
from app.image_grid.model import ImageGridModel
from engine.arrays import Integers, no_integers

_Flag = QItemSelectionModel.SelectionFlag
NEAR = 8  # rows searched one by one before all of them are compared


@final
class Choice:
    """Selection of cards, the same for clicks, keys and the rubber band."""

    def __init__(self, view: QAbstractItemView, model: ImageGridModel) -> None:
        self._view = view
        self._model = model
        self._anchor_id: int | None = None

    @property
    def rows(self) -> Integers:
        chosen = self._view.selectionModel().selection()
        parts = [chosen.at(number) for number in range(chosen.count())]
        runs = [np.arange(part.top(), part.bottom() + 1, dtype=np.int64) for part in parts]
        return np.sort(np.concatenate(runs)) if runs else no_integers()

    @property
    def ids(self) -> tuple[int, ...]:
        return tuple(self._model.shown.at(self.rows).tolist())

    @property
    def current_row(self) -> int:
        return self._view.currentIndex().row()

    @property
    def current_id(self) -> int | None:
        return self._model.id_at(self.current_row) if self.current_row >= 0 else None

    def row_of(self, image_id: int | None) -> int | None:
        return None if image_id is None else self._model.row_of(image_id)

    def has(self, row: int) -> bool:
        return self._view.selectionModel().isSelected(self._model.index(row))

    def choose_alone(self, row: int) -> None:
        self._anchor_id = self._model.id_at(row)
        self._view.selectionModel().setCurrentIndex(self._model.index(row), _Flag.ClearAndSelect)

    def choose_for_menu(self, row: int) -> None:
        """Make a card current for its menu; a selection that contains it is kept."""
        self.make_current(row) if self.has(row) else self.choose_alone(row)

    def let_go(self) -> None:
        if self.current_row >= 0:
            self.choose_alone(self.current_row)

    def make_current(self, row: int) -> None:
        self._view.selectionModel().setCurrentIndex(self._model.index(row), _Flag.NoUpdate)

    def choose_up_to(self, row: int, *, keeps_others: bool = False) -> None:
        first, last = sorted((self._anchor_row(), row))
        cards = QItemSelection(self._model.index(first), self._model.index(last))
        self._view.selectionModel().select(
            cards, _Flag.Select if keeps_others else _Flag.ClearAndSelect
        )
        self.make_current(row)

    def toggle(self, row: int) -> None:
        """Add a card to the selection or remove it; the last one stays selected."""
        index, chosen = self._model.index(row), self._view.selectionModel()
        if not chosen.isSelected(index):
            self._anchor_id = self._model.id_at(row)
            chosen.select(index, _Flag.Select)
            self.make_current(row)
        elif len(others := self.rows[self.rows != row]):
            nearest = int(others[np.argmin(np.abs(others - row))])
            if self.current_row == row:
                self.make_current(nearest)
            chosen.select(index, _Flag.Deselect)

    def choose_rows(self, rows: Sequence[int], further: Collection[int] = ()) -> None:
        """Select rows and the cards of the images `further`; keep the current card if selected."""
        wanted = np.union1d(self._model.shown.rows_of(further), np.array(rows, dtype=np.int64))
        if not len(wanted):
            wanted = np.array([max(0, self.current_row)])
        self._view.selectionModel().select(self._selection_of(wanted), _Flag.ClearAndSelect)
        if not np.isin(self.current_row, wanted):
            self.make_current(int(wanted[0]))

    def choose_ids(self, image_ids: Collection[int], current_id: int) -> None:
        row = self._model.row_of(current_id)
        if row is not None:
            self.make_current(row)
        self.choose_rows((), image_ids)

    def _anchor_row(self) -> int:
        """Anchor row of a Shift selection: the last card selected without Shift."""
        row = None if self._anchor_id is None else self._model.row_of(self._anchor_id)
        return row if row is not None and self.has(row) else max(0, self.current_row)

    def _selection_of(self, rows: Integers) -> QItemSelection:
        selection = QItemSelection()
        for run in np.split(rows, np.flatnonzero(np.diff(rows) > 1) + 1):
            selection.select(self._model.index(int(run[0])), self._model.index(int(run[-1])))
        return selection


@dataclass(frozen=True)
class _Place:
    """Selection, current row and visibility before a model reset."""

    shown: ShownImages
    row: int  # of the current card; -1 for none
    selected: frozenset[int]
    is_in_sight: bool


_NOWHERE = _Place(NO_IMAGES, -1, frozenset(), is_in_sight=False)


@final
class PlaceKeeper(QObject):
    """Restores selection and scroll position after a model reset.

    Make it after `view.setModel`, so that the view handles the reset first.
    """

    def __init__(self, view: QAbstractItemView, model: ImageGridModel, choice: Choice) -> None:
        super().__init__(view)
        self._view = view
        self._model = model
        self._choice = choice
        self._before = _NOWHERE
        model.modelAboutToBeReset.connect(self._on_model_about_to_be_reset)
        model.modelReset.connect(self._on_model_reset)

    def _on_model_about_to_be_reset(self) -> None:
        view, index = self._view, self._view.currentIndex()
        is_in_sight = view.visualRect(index).intersects(view.viewport().rect())
        self._before = _Place(
            self._model.shown, index.row(), frozenset(self._choice.ids), is_in_sight
        )

    def _on_model_reset(self) -> None:
        """Select the same images again; if the current one is gone, the next remaining one."""
        before, model = self._before, self._model
        self._view.updateGeometries()
        if not model.rowCount() or before.row < 0:
            return
        if model.is_held:
            self._go_back()
        else:
            self._view.verticalScrollBar().setValue(0)
            self._choose(0)

    def _choose(self, row: int) -> None:
        # `QAbstractItemView.setCurrentIndex` would apply modifier keys that are pressed at the
        # moment.
        index = self._model.index(row)
        self._view.selectionModel().setCurrentIndex(
            index, QItemSelectionModel.SelectionFlag.ClearAndSelect
        )

    def _go_back(self) -> None:
        before, model = self._before, self._model
        (current_id,) = before.shown.at(slice(before.row, before.row + 1)).tolist()
        row = model.row_of(current_id)
        has_left = row is None
        # Keep the scroll position, unless the next card has to be made visible.
        self._view.setAutoScroll(has_left and before.is_in_sight)
        self._choose(self._next_row() if row is None else row)
        self._view.setAutoScroll(True)
        # Usually only the current card is selected.
        if not has_left and before.selected != {current_id}:
            self._choice.choose_rows((), before.selected)

    def _next_row(self) -> int:
        """Row of the first remaining card after the previous current one, else the last row."""
        before = self._before
        near = slice(before.row, before.row + NEAR)
        for image_id in before.shown.at(near).tolist():  # usually one of the next few
            row = self._model.row_of(image_id)
            if row is not None:
                return row
        following = before.shown.at(slice(before.row, None))
        still = following[np.isin(following, self._model.image_ids)]
        row = self._model.row_of(int(still[0])) if len(still) else None
        return self._model.rowCount() - 1 if row is None else row
