"""The current card, whose ranking is frozen while the user is active.

So that card, inspector and keys refer to the same prediction.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QEvent, QObject, QTimer, Signal

from engine.collection.state import NO_CLASS, CollectionState, ImageStatus

if TYPE_CHECKING:
    from app.session.guesses import Guesses
    from engine.collection.answers import Guess
    from engine.collection.state import CollectionState
    from engine.everyday.classifier import Explanation, ScoredClass
    from engine.graph.category_graph import CategoryGraph


# Idle time without a key or a mouse move after which newer predictions are shown.
QUIET_S = 1.0
# Idle time after which deferred work continues: group decisions come every second.
IDLE_S = 3.0
# A key pressed this soon after a change was painted refers to the ranking before it.
REACTION_S = 0.4


@dataclass(frozen=True, eq=False)
class Ranking:
    """The prediction of one image, as used by card, inspector and keys."""

    image_id: int
    best_class: int  # the most likely leaf, or `NO_CLASS`
    best_score: float
    safe_class: int  # the deepest class that passes its threshold, or `NO_CLASS`
    safe_score: float
    is_unknown: bool  # too dissimilar from every class
    # The most likely classes, `best_class` first; it alone until the others are computed.
    tops: tuple[ScoredClass, ...]
    explanation: Explanation | None = None  # of the most likely class
    is_complete: bool = False  # whether all classes are computed

    @property
    def is_empty(self) -> bool:
        return self.best_class == NO_CLASS

    @property
    def headline(self) -> int:
        """The class that the card names first: a broader safe class, else the most likely one."""
        is_safe = self.safe_class != NO_CLASS and not self.is_unknown
        return self.safe_class if is_safe else self.best_class

    @property
    def words(self) -> tuple[object, ...]:
        """The displayed classes in order."""
        return (
            self.headline,
            self.best_class,
            self.is_unknown,
            tuple(top.class_id for top in self.tops),
        )

    def reads_like(self, other: Ranking) -> bool:
        return self.words == other.words

    def is_same(self, other: Ranking) -> bool:
        """Whether every figure is the same, too."""
        is_same_reason = self.explanation is other.explanation
        return is_same_reason and self.reads_like(other) and self.tops == other.tops

    def completed_by(self, other: Ranking) -> Ranking:
        """Append newly computed classes below the displayed ones."""
        shown = {top.class_id for top in self.tops}
        below = tuple(top for top in other.tops if top.class_id not in shown)
        fits = other.explanation is not None and other.explanation.class_id == self.best_class
        explanation = other.explanation if fits else None
        return replace(self, tops=self.tops + below, explanation=explanation, is_complete=True)


def ranking_of(state: CollectionState, image_id: int, guess: Guess | None) -> Ranking:
    """The current prediction of an image.

    Raises:
        KeyError: no such image.
    """
    place = state.position(image_id)
    is_ready = state.status[place] == ImageStatus.READY
    best = int(state.best_class[place]) if is_ready else NO_CLASS
    tops = () if guess is None else guess.tops
    if best != NO_CLASS and (not tops or tops[0].class_id != best):
        from engine.everyday.classifier import ScoredClass

        first = ScoredClass(best, float(state.best_score[place]))
        tops = (first, *(top for top in tops if top.class_id != best))
    return Ranking(
        image_id,
        best,
        float(state.best_score[place]),
        int(state.safe_class[place]),
        float(state.safe_score[place]),
        bool(state.is_unknown[place]),
        tops,
        None if guess is None else guess.explanation,
        is_complete=guess is not None,
    )


@final
class FrozenRanking:
    """The displayed ranking, which keys refer to, and a newer pending one."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self.shown: Ranking | None = None
        self.pending: Ranking | None = None
        self._before: Ranking | None = None
        self._changed_s = self._touched_s = -math.inf

    @property
    def meant(self) -> Ranking | None:
        """The ranking that a key pressed now refers to: shortly after a change the previous one."""
        is_sudden = self._clock() - self._changed_s < REACTION_S
        return self._before if is_sudden and self._before is not None else self.shown

    @property
    def has_news(self) -> bool:
        """Whether showing the pending ranking would change the displayed classes."""
        return (
            self.shown is not None
            and self.pending is not None
            and not self.shown.reads_like(self.pending)
        )

    @property
    def idle_in_s(self) -> float:
        """Seconds until deferred work may continue, by the user's activity."""
        return max(0.0, self._touched_s + IDLE_S - self._clock())

    @property
    def quiet_in_s(self) -> float:
        """Seconds until the user counts as idle."""
        return max(0.0, self._touched_s + QUIET_S - self._clock())

    def look_at(self, ranking: Ranking | None) -> None:
        self.shown, self.pending, self._before = ranking, None, None
        self.freeze()

    def freeze(self) -> None:
        self._touched_s = self._clock()

    def offer(self, newest: Ranking) -> None:
        """Take newer predictions as pending; add missing classes below the displayed ones."""
        shown = self.shown
        if shown is None or shown.is_empty or newest.is_empty:
            self.shown, self.pending, self._before = newest, None, None
            return
        if not shown.is_complete and newest.is_complete:
            shown = self.shown = shown.completed_by(newest)
        self.pending = None if newest is shown or newest.is_same(shown) else newest

    def take_over(self) -> bool:
        """Show the pending ranking; False without one."""
        if self.shown is None or self.pending is None:
            return False
        if not self.shown.reads_like(self.pending):
            self._before, self._changed_s = self.shown, math.inf
        self.shown, self.pending = self.pending, None
        return True

    def start_reaction(self) -> None:
        """Start the reaction time of the last change: it is painted now."""
        self._changed_s = min(self._changed_s, self._clock())

    def settle(self) -> bool:
        """Show the pending ranking if the user is idle; return whether the display changed."""
        return self.quiet_in_s <= 0 and self.take_over()


_TOUCHES = frozenset(
    {QEvent.Type.KeyPress, QEvent.Type.MouseButtonPress, QEvent.Type.MouseMove, QEvent.Type.Wheel}
)


@final
class CurrentCard(QObject):
    """Freezes the ranking of the current card.

    As an event filter of the window it detects user activity. `truth` returns the newest state of
    the open project, `clock` the time in seconds.
    """

    changed = Signal()  # another ranking is shown, or a newer one is pending

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
        # Without an interval it fires after the paint, and after keys pressed before that.
        self._painted = QTimer(self, singleShot=True)
        self._painted.timeout.connect(self.frozen.start_reaction)

    # -- displayed values

    @property
    def state(self) -> CollectionState | None:
        """The newest state, with the frozen ranking of the current card."""
        truth, ranking = self._truth(), self.frozen.shown
        if truth is None or ranking is None or ranking.is_empty:
            return truth
        if (
            self._overlay is None
            or self._overlay[0] is not truth
            or self._overlay[1] is not ranking
        ):
            self._overlay = truth, ranking, self._over(truth, ranking)
        return self._overlay[2]

    def ranking(self, image_id: int) -> Ranking | None:
        """The displayed ranking of an image; None for one that is not in the project."""
        shown = self.frozen.shown
        return shown if shown is not None and shown.image_id == image_id else self._newest(image_id)

    def meant(self, image_id: int) -> Ranking | None:
        """The ranking of an image that a key pressed now refers to."""
        meant = self.frozen.meant
        return meant if meant is not None and meant.image_id == image_id else self.ranking(image_id)

    def _over(self, truth: CollectionState, ranking: Ranking) -> CollectionState:
        try:
            place = truth.position(ranking.image_id)
        except KeyError:  # it was removed
            return truth
        frozen = {
            "best_class": ranking.best_class,
            "best_score": ranking.best_score,
            "safe_class": ranking.safe_class,
            "safe_score": ranking.safe_score,
            "is_unknown": ranking.is_unknown,
        }
        others = {
            name: value for name, value in frozen.items() if getattr(truth, name)[place] != value
        }
        if not others:
            return truth
        before = self._overlay
        is_same_ranking = before is not None and before[1] is ranking
        if (
            before
            and is_same_ranking
            and all(getattr(before[0], name) is getattr(truth, name) for name in frozen)
        ):
            # Only a label is new: counts of these arrays stay valid.
            return replace(truth, **{name: getattr(before[2], name) for name in frozen})
        arrays = {name: getattr(truth, name).copy() for name in others}
        for name, value in others.items():
            arrays[name][place] = value
        return replace(truth, **arrays)

    # -- events

    def look_at(self, image_id: int | None) -> None:
        """Set the current card, and freeze its newest ranking."""
        if image_id == self._image_id:
            return
        was_behind = self.frozen.pending is not None
        self._image_id = image_id
        self.frozen.look_at(None if image_id is None else self._newest(image_id))
        self._quiet.stop()
        if was_behind:  # the previous card shows newer predictions
            QTimer.singleShot(0, self, self.changed.emit)

    def freeze(self) -> None:
        """Record user activity."""
        self.frozen.freeze()

    def follow(self) -> None:
        """Update after state or guesses changed; keeps the displayed ranking while it is valid."""
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
        """Show the pending ranking on request."""
        if self.frozen.take_over():
            self._publish()

    def _publish(self) -> None:
        self.changed.emit()
        self._painted.start()

    def _on_quiet(self) -> None:
        if self.frozen.settle():
            self._publish()
        elif self.frozen.pending is not None:
            self._wait_for_quiet()

    def _wait_for_quiet(self) -> None:
        self._quiet.start(int(1000 * self.frozen.quiet_in_s) + 1)

    def _newest(self, image_id: int) -> Ranking | None:
        truth = self._truth()
        try:
            return (
                None if truth is None else ranking_of(truth, image_id, self._guesses.of(image_id))
            )
        except KeyError:  # it was removed
            return None

    def _names_removed_class(self) -> bool:
        shown = self.frozen.shown
        if shown is None or shown.is_empty:
            return False
        return any(class_id not in self._graph() for class_id in (shown.headline, shown.best_class))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in _TOUCHES:
            self.freeze()
        return super().eventFilter(watched, event)
