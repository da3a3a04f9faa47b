"""The ranking of the card under the eye: it stays as it is shown until the card is left. No Qt."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, final

from engine.collection.state import NO_CLASS, CollectionState, ImageStatus

if TYPE_CHECKING:  # these load numpy and more; the window shows first
    from engine.collection.answers import Guess
    from engine.everyday.classifier import Explanation, ScoredClass
    from engine.project import Label

QUIET_S: Final = 1.0
"""After so long without a key or a move of the mouse newer predictions are taken over."""
REACTION_S: Final = 0.4
"""A key that comes so soon after a change was decided on before it."""


@dataclass(frozen=True, eq=False)
class Ranking:
    """What is predicted of one image, as card and inspector show it and as keys mean it.

    Attributes:
        image_id: the image.
        best_class: the likeliest leaf, `NO_CLASS` without a prediction.
        best_score: its probability.
        safe_class: the deepest class that passes its bar, or `NO_CLASS`.
        safe_score: its probability.
        is_unknown: too far from every class.
        tops: the likeliest classes, `best_class` first; it alone until the others are known.
        label: a person's, with its origin, where that is known.
        explanation: why the likeliest class.
        is_complete: whether all classes are known.
    """

    image_id: int
    best_class: int
    best_score: float
    safe_class: int
    safe_score: float
    is_unknown: bool
    tops: tuple[ScoredClass, ...]
    label: Label | None = None
    explanation: Explanation | None = None
    is_complete: bool = False

    @property
    def is_empty(self) -> bool:
        return self.best_class == NO_CLASS

    @property
    def headline(self) -> int:
        """The class that the card names first: a broader safe class, else the likeliest one."""
        is_safe = self.safe_class != NO_CLASS and not self.is_unknown
        return self.safe_class if is_safe else self.best_class

    @property
    def words(self) -> tuple[object, ...]:
        """The classes that are read, in their places."""
        return self.headline, self.best_class, self.is_unknown, tuple(top.class_id for top in self.tops)

    def reads_like(self, other: Ranking) -> bool:
        """Whether the same classes stand in the same places."""
        return self.words == other.words

    def is_same(self, other: Ranking) -> bool:
        """Whether every figure is the same, too."""
        is_same_reason = self.explanation is other.explanation and self.label is other.label
        return is_same_reason and self.reads_like(other) and self.tops == other.tops

    def completed_by(self, other: Ranking) -> Ranking:
        """What is shown keeps its place; the classes that are known only now follow below it."""
        shown = {top.class_id for top in self.tops}
        below = tuple(top for top in other.tops if top.class_id not in shown)
        fits = other.explanation is not None and other.explanation.class_id == self.best_class
        explanation = other.explanation if fits else None
        return replace(self, tops=self.tops + below, label=other.label, explanation=explanation, is_complete=True)


def ranking_of(state: CollectionState, image_id: int, guess: Guess | None) -> Ranking:
    """What is predicted of an image.

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
        image_id, best, float(state.best_score[place]), int(state.safe_class[place]), float(state.safe_score[place]),
        bool(state.is_unknown[place]), tops, None if guess is None else guess.label,
        None if guess is None else guess.explanation, is_complete=guess is not None,
    )  # fmt: skip


@final
class FrozenRanking:
    """What is drawn for the card under the eye, and what keys act on: the same object.

    Args:
        clock: seconds, from anywhere.

    Attributes:
        shown: what stands on the screen.
        pending: what is known since and not shown yet.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self.shown: Ranking | None = None
        self.pending: Ranking | None = None
        self._before: Ranking | None = None
        self._changed_s = self._touched_s = -math.inf

    @property
    def meant(self) -> Ranking | None:
        """What a key means that is pressed now: what stood there when somebody could react to it."""
        is_sudden = self._clock() - self._changed_s < REACTION_S
        return self._before if is_sudden and self._before is not None else self.shown

    @property
    def has_news(self) -> bool:
        """Whether something else would be read if what waits were shown."""
        return self.shown is not None and self.pending is not None and not self.shown.reads_like(self.pending)

    @property
    def quiet_in_s(self) -> float:
        """How long until nobody has touched anything for a while."""
        return max(0.0, self._touched_s + QUIET_S - self._clock())

    def look_at(self, ranking: Ranking | None) -> None:
        """Another card is under the eye."""
        self.shown, self.pending, self._before = ranking, None, None
        self.hold_still()

    def hold_still(self) -> None:
        """A key was pressed, or something was pointed at."""
        self._touched_s = self._clock()

    def offer(self, newest: Ranking) -> None:
        """Predictions followed: of what is shown nothing changes, but what is missing there is added."""
        shown = self.shown
        if shown is None or shown.is_empty or newest.is_empty:
            self.shown, self.pending, self._before = newest, None, None
            return
        if not shown.is_complete and newest.is_complete:
            shown = self.shown = shown.completed_by(newest)
        self.pending = None if newest is shown or newest.is_same(shown) else newest

    def take_over(self) -> bool:
        """Show what waits; False where nothing does."""
        if self.shown is None or self.pending is None:
            return False
        if not self.shown.reads_like(self.pending):
            self._before, self._changed_s = self.shown, self._clock()
        self.shown, self.pending = self.pending, None
        return True

    def settle(self) -> bool:
        """Show what waits if it is quiet; whether something else is shown now."""
        return self.quiet_in_s <= 0 and self.take_over()
