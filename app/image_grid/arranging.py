"""Sorts the cards of a large collection in the background; cards keep their order meanwhile."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

from PySide6.QtCore import QObject, Signal

from app.image_grid.folded import FoldedCards
from app.image_grid.held_order import HeldOrder
from app.jobs.background_thread import BackgroundThread

_log = logging.getLogger(__name__)

FEWEST_BEHIND = 200_000
"""Least number of images sorted in the background. Chosen: fewer take one or two frames."""


@dataclass(frozen=True, eq=False)
class Arrangement:
    """Sorted cards, ready to be shown."""

    held: HeldOrder
    cards: FoldedCards

    @staticmethod
    def of(held: HeldOrder, unfolded: frozenset[int]) -> Arrangement:
        """Cards of an order; folds in `unfolded` are shown image by image."""
        if not held.folds.count:
            return Arrangement(held, FoldedCards.of_single(held.shown))
        return Arrangement(
            held,
            FoldedCards.of(held.shown, held.folds.of(held.state.image_ids[held.shown]), unfolded),
        )


@final
class Arranging(QObject):
    """Sorts on a background thread, one request at a time; a newer one replaces a pending one."""

    arranged = Signal(Arrangement)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._thread = BackgroundThread("arranging", self)
        self._wanted: Callable[[], Arrangement] | None = None
        self._turn = 0  # results of earlier turns are discarded
        self._is_running = False

    def begin(self, arrange: Callable[[], Arrangement]) -> None:
        """Call a function on the thread; `arranged` emits its result."""
        self._wanted = arrange
        if not self._is_running:
            self._begin_next()

    def drop(self) -> None:
        """Discard results of earlier requests."""
        self._turn += 1
        self._wanted = None

    def stop(self) -> None:
        """Stop the thread before the program exits."""
        self.drop()
        self._thread.stop()

    def _begin_next(self) -> None:
        arrange, self._wanted = self._wanted, None
        self._is_running = arrange is not None
        if arrange is None:
            return
        turn = self._turn
        self._thread.ask(arrange, lambda found: self._deliver(turn, found), self._on_failed)

    def _deliver(self, turn: int, found: Arrangement) -> None:
        if turn == self._turn:
            self.arranged.emit(found)
        self._begin_next()

    def _on_failed(self, line: str) -> None:
        _log.warning("cards stay as they are: %s", line)
        self._begin_next()
