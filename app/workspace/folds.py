"""Folding in the grid: switching it, toggling single cards, and the images below a card."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, final

import numpy as np
from PySide6.QtCore import QItemSelectionModel

from engine.collection.folding.partitions import ALONE

if TYPE_CHECKING:
    from app.image_grid.model import ImageGridModel
    from app.image_grid.view import ImageGrid


@final
class CardFolds:
    """Folds of the cards.

    Args:
        on_changed: called when cards represent other images.
        shows_cards: whether cards are visible; else each image represents itself.
    """

    def __init__(
        self,
        grid: ImageGrid,
        model: ImageGridModel,
        on_changed: Callable[[], object],
        shows_cards: Callable[[], bool],
    ) -> None:
        self._grid, self._model = grid, model
        self._on_changed, self._shows_cards = on_changed, shows_cards
        grid.fold_toggled.connect(self.toggle)

    @property
    def is_on(self) -> bool:
        return self._model.is_folding

    @property
    def has_others(self) -> bool:
        """Whether new folds were found while the order of the cards is held."""
        return self._model.is_held and self._model.has_other_folds

    @property
    def cards(self) -> int:
        """Number of cards; 0 where each image has its own."""
        count = self._model.rowCount()
        return count if count < self._model.image_count else 0

    def switch(self, is_wanted: bool) -> None:
        """Fold duplicates and bursts into one card each, or show every image."""
        self._model.set_folding(is_wanted)
        self._on_changed()

    def apply(self) -> None:
        """Apply new folds to the held cards; the selection is preserved."""
        current, chosen = self._grid.current_id, self._grid.selected_ids
        self._model.refresh()
        rows = self._rows_over(chosen if current is None else (current, *chosen))
        if rows:
            self._grid.select_row(rows[0])
        for row in rows[1:]:
            self._grid.selectionModel().select(
                self._model.index(row), QItemSelectionModel.SelectionFlag.Select
            )
        self._on_changed()

    def _rows_over(self, image_ids: Sequence[int]) -> list[int]:
        """The rows of the cards that represent these images."""
        state, rows = self._model.state, list[int]()
        if state is None:
            return rows
        of_cards = state.folds.of(self._model.image_ids)
        for image_id, fold in zip(
            image_ids, state.folds.of(np.array(image_ids)).tolist(), strict=True
        ):
            row = self._model.row_of(image_id)
            if row is None and fold != ALONE and fold in of_cards:
                row = int(np.flatnonzero(of_cards == fold)[0])
            rows += [] if row is None else [row]
        return rows

    def toggle(self, image_id: int) -> bool:
        """Unfold a card, or fold it again, and select the first card of its fold.

        False without a fold.
        """
        row = self._model.row_of(image_id)
        first = None if row is None else self._model.toggle_fold(row)
        if first is not None:
            self._grid.select_row(first)
            self._on_changed()
        return first is not None

    def under(self, image_ids: Sequence[int]) -> tuple[int, ...]:
        """These images, and those folded under their cards."""
        return self._model.images_under(image_ids) if self._shows_cards() else tuple(image_ids)

    def meant(self, image_ids: Sequence[int]) -> tuple[tuple[int, ...], int]:
        """Images that a decision applies to, and how many below their cards keep other labels."""
        return self._model.images_meant(image_ids) if self._shows_cards() else (tuple(image_ids), 0)
