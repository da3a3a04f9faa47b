"""Arranges the cards of a large collection behind the window: they keep their places until the new order is there."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, final

from PySide6.QtCore import QObject, Signal

from app.image_grid.folded import FoldedCards
from app.image_grid.held_order import HeldOrder
from app.jobs.background_thread import BackgroundThread

_log = logging.getLogger(__name__)

FEWEST_BEHIND: Final = 200_000
"""From so many images on they are arranged behind the window. Chosen: fewer take a frame or two."""


@dataclass(frozen=True, eq=False)
class Arrangement:
    """Cards in order, ready to be shown."""

    held: HeldOrder
    cards: FoldedCards

    @staticmethod
    def of(held: HeldOrder, unfolded: frozenset[int]) -> Arrangement:
        """Cards of an order, those of unfolded folds one by one."""
        if not held.folds.count:
            return Arrangement(held, FoldedCards.of_single(held.shown))
        return Arrangement(
            held,
            FoldedCards.of(held.shown, held.folds.of(held.state.image_ids[held.shown]), unfolded),
        )


@final
class Arranging(QObject):
    """Arranges on a thread of its own, one request at a time; a newer request replaces one that waits."""

    arranged = Signal(Arrangement)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._thread = BackgroundThread("arranging", self)
        self._wanted: Callable[[], Arrangement] | None = None
        self._turn = 0  # what was begun before is not delivered
        self._is_running = False

    def begin(self, arrange: Callable[[], Arrangement]) -> None:
        """Have it called on the thread; `arranged` has the result."""
        self._wanted = arrange
        if not self._is_running:
            self._begin_next()

    def drop(self) -> None:
        """Deliver nothing that was begun before."""
        self._turn += 1
        self._wanted = None

    def stop(self) -> None:
        """End the thread, before the program ends."""
        self.drop()
        self._thread.stop()

    def _begin_next(self) -> None:
        arrange, self._wanted = self._wanted, None
        self._is_running = arrange is not None
        if arrange is None:
            return
        turn = self._turn

        def work() -> None:
            found = arrange()
            self._thread.post(lambda: self._deliver(turn, found))

        self._thread.submit(work, self._on_failed)

    def _deliver(self, turn: int, found: Arrangement) -> None:
        if turn == self._turn:
            self.arranged.emit(found)
        self._begin_next()

    def _on_failed(self, line: str) -> None:
        _log.warning("cards stay as they are: %s", line)
        self._begin_next()
