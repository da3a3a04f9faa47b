"""Keeps choice and scroll place of the grid by image while its cards come and go.

Until somebody works on the cards, their first one is the current one: it is what they are sorted for.
"""

from dataclasses import dataclass
from typing import Final, final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QItemSelectionModel, QObject
from PySide6.QtWidgets import QAbstractItemView

from app.image_grid.choice import Choice
from app.image_grid.model import ImageGridModel

NEAR: Final = 8  # cards that are looked for one by one before all 100,000 are compared


@dataclass(frozen=True)
class _Place:
    """Where a person was before the cards were laid out anew."""

    image_ids: NDArray[np.int64]  # (rows,) the cards in their order
    row: int  # of the current card; -1 for none
    selected: frozenset[int]
    is_in_sight: bool


_NOWHERE = _Place(np.zeros(0, dtype=np.int64), -1, frozenset(), is_in_sight=False)


@final
class PlaceKeeper(QObject):
    """Remembers the place when a reset begins, and goes back there when it is over.

    Args:
        view: the grid; the keeper must be made after `view.setModel`, so that the view has reset itself first.
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
        if not index.isValid():
            self._before = _NOWHERE
            return
        is_in_sight = view.visualRect(index).intersects(view.viewport().rect())
        self._before = _Place(self._model.image_ids, index.row(), frozenset(self._choice.ids), is_in_sight)

    def _on_model_reset(self) -> None:
        """Choose the same images again; when the current card left, the next one that stayed takes its place."""
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
        # The view's own way would take a Ctrl or Shift that is held down just now for a click's.
        index = self._model.index(row)
        self._view.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)

    def _go_back(self) -> None:
        before, model = self._before, self._model
        row = model.row_of(int(before.image_ids[before.row]))
        has_left = row is None
        # The scroll place stays, unless the next card must be brought into sight.
        self._view.setAutoScroll(has_left and before.is_in_sight)
        self._choose(self._next_row() if row is None else row)
        self._view.setAutoScroll(True)
        if not has_left:
            self._select_again()

    def _next_row(self) -> int:
        """Row of the card that followed the current one and is still there; the last one when there is none."""
        shown, following = self._model.image_ids, self._before.image_ids[self._before.row :]
        for image_id in following[:NEAR].tolist():  # the next one, as nearly always
            row = self._model.row_of(image_id)
            if row is not None:
                return row
        still = following[np.isin(following, shown)]
        row = self._model.row_of(int(still[0])) if len(still) else None
        return len(shown) - 1 if row is None else row

    def _select_again(self) -> None:
        selected = self._before.selected
        is_current_alone = len(selected) == 1 and int(self._before.image_ids[self._before.row]) in selected
        if not is_current_alone:  # as it is nearly always
            self._choice.choose_rows((), selected)
