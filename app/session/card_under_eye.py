"""The card under the eye: new predictions wait while somebody works on it; card, inspector and keys read the same."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final, final

from PySide6.QtCore import QEvent, QObject, QTimer, Signal

from app.session.frozen_ranking import FrozenRanking, Ranking, ranking_of

if TYPE_CHECKING:
    from app.session.guesses import Guesses
    from engine.collection.state import CollectionState
    from engine.graph.category_graph import CategoryGraph

_TOUCHES: Final = frozenset(
    {QEvent.Type.KeyPress, QEvent.Type.MouseButtonPress, QEvent.Type.MouseMove, QEvent.Type.Wheel}
)


@final
class CardUnderEye(QObject):
    """Follows the one card that somebody looks at. As an event filter of a window it hears when hands are at work.

    Args:
        truth: the newest state of the open project.
        graph: its classes.
        guesses: what is known of images.
        clock: seconds.

    Signals:
        changed: another ranking is shown, or a newer one waits.
    """

    changed = Signal()

    def __init__(
        self,
        truth: Callable[[], CollectionState | None],
        graph: Callable[[], CategoryGraph],
        guesses: Guesses,
        parent: QObject | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(parent)
        self._truth = truth
        self._graph = graph
        self._guesses = guesses
        self.frozen = FrozenRanking(clock)
        self._image_id: int | None = None
        self._overlay: tuple[CollectionState, Ranking, CollectionState] | None = None
        self._quiet = QTimer(self, singleShot=True)
        self._quiet.timeout.connect(self._on_quiet)

    # -- what is shown

    @property
    def state(self) -> CollectionState | None:
        """The newest state, in which the card under the eye keeps its predictions."""
        truth, ranking = self._truth(), self.frozen.shown
        if truth is None or ranking is None or ranking.is_empty:
            return truth
        if self._overlay is None or self._overlay[0] is not truth or self._overlay[1] is not ranking:
            self._overlay = truth, ranking, self._over(truth, ranking)
        return self._overlay[2]

    def ranking(self, image_id: int) -> Ranking | None:
        """What is shown of an image; None for one that is not in the project."""
        shown = self.frozen.shown
        return shown if shown is not None and shown.image_id == image_id else self._newest(image_id)

    def meant(self, image_id: int) -> Ranking | None:
        """What a key that is pressed now means for an image."""
        meant = self.frozen.meant
        return meant if meant is not None and meant.image_id == image_id else self.ranking(image_id)

    def _over(self, truth: CollectionState, ranking: Ranking) -> CollectionState:
        try:
            place = truth.position(ranking.image_id)
        except KeyError:  # it was removed
            return truth
        frozen = {
            "best_class": ranking.best_class, "best_score": ranking.best_score, "safe_class": ranking.safe_class,
            "safe_score": ranking.safe_score, "is_unknown": ranking.is_unknown,
        }  # fmt: skip
        if all(getattr(truth, name)[place] == value for name, value in frozen.items()):
            return truth
        before = self._overlay
        is_same_ranking = before is not None and before[1] is ranking
        if before and is_same_ranking and all(getattr(before[0], name) is getattr(truth, name) for name in frozen):
            # Only a label is new: what was counted for these arrays stays true.
            return replace(truth, **{name: getattr(before[2], name) for name in frozen})
        arrays = {name: getattr(truth, name).copy() for name in frozen}
        for name, value in frozen.items():
            arrays[name][place] = value
        return replace(truth, **arrays)

    # -- what happens

    def look_at(self, image_id: int | None) -> None:
        """Another card is under the eye; what it shows now it goes on showing."""
        if image_id == self._image_id:
            return
        was_behind = self.frozen.pending is not None
        self._image_id = image_id
        self.frozen.look_at(None if image_id is None else self._newest(image_id))
        self._quiet.stop()
        if was_behind:  # the card that was left shows what is known by now
            QTimer.singleShot(0, self, self.changed.emit)

    def hold_still(self) -> None:
        """A key was pressed, or something was pointed at."""
        self.frozen.hold_still()

    def follow(self) -> None:
        """State or guesses are others: what is shown stays, unless nothing is left to keep."""
        if self._image_id is None:
            return
        newest = self._newest(self._image_id)
        if newest is None or self._names_removed_class():
            self.frozen.look_at(newest)
        else:
            had_news = self.frozen.has_news
            self.frozen.offer(newest)
            if self.frozen.has_news != had_news:
                QTimer.singleShot(0, self, self.changed.emit)
        if self.frozen.pending is not None and not self._quiet.isActive():
            self._wait_for_quiet()

    def take_over(self) -> None:
        """Show what waits, because somebody asked for it."""
        if self.frozen.take_over():
            self.changed.emit()

    def _on_quiet(self) -> None:
        if self.frozen.settle():
            self.changed.emit()
        elif self.frozen.pending is not None:
            self._wait_for_quiet()

    def _wait_for_quiet(self) -> None:
        self._quiet.start(int(1000 * self.frozen.quiet_in_s) + 1)

    def _newest(self, image_id: int) -> Ranking | None:
        truth = self._truth()
        try:
            return None if truth is None else ranking_of(truth, image_id, self._guesses.of(image_id))
        except KeyError:  # it was removed
            return None

    def _names_removed_class(self) -> bool:
        shown = self.frozen.shown
        if shown is None or shown.is_empty:
            return False
        return any(class_id not in self._graph() for class_id in (shown.headline, shown.best_class))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in _TOUCHES:
            self.hold_still()
        return super().eventFilter(watched, event)
