"""Full predictions, prefetched for the images that come up next.

So that large image, card and inspector change in one step.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, final

from PySide6.QtCore import QObject, Signal

if TYPE_CHECKING:
    from engine.collection.answers import Guess
    from engine.collection.live import LiveCollection

MOST_KEPT = 512

Ask = Callable[["Callable[[LiveCollection], FoundGuesses]", "Callable[[FoundGuesses], None]"], None]


@dataclass(frozen=True)
class FoundGuesses:
    """Results of the project thread for wanted images."""

    by_image: Mapping[int, Guess] = field(default_factory=dict)
    replaces: bool = False  # whether the model changed, so that all earlier guesses are stale
    outdated: frozenset[int] = frozenset()  # images whose guess is stale


@final
class Guesses(QObject):
    """The guesses of the images that come up next; `ask` queries the collection."""

    arrived = Signal()

    def __init__(self, ask: Ask, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._ask = ask
        self._wanted: tuple[int, ...] = ()  # read by the project thread, replaced as a whole
        self._asked: frozenset[int] = frozenset()
        self._known: dict[int, Guess] = {}
        # The models used; only accessed by the project thread.
        self._models: tuple[object, ...] = ()

    # -- on the GUI thread

    def of(self, image_id: int) -> Guess | None:
        return self._known.get(image_id)

    @property
    def wanted(self) -> tuple[int, ...]:
        """The images that come up next, the current one first."""
        return self._wanted

    def next_ids(self, count: int) -> Sequence[int]:
        return self._wanted[1 : 1 + count]

    def want(self, image_ids: Sequence[int]) -> None:
        """Set the images that come up next, the current one first; request missing guesses."""
        self._wanted = tuple(image_ids)
        missing = [
            image_id
            for image_id in image_ids
            if image_id not in self._known and image_id not in self._asked
        ]
        if missing:
            self._asked = frozenset(image_ids) - self._known.keys()
            self._ask(lambda live: FoundGuesses(live.guesses(missing)), self._on_answer)

    def _on_answer(self, found: FoundGuesses) -> None:
        self.take(found)
        self.arrived.emit()

    def take(self, found: FoundGuesses) -> None:
        if found.replaces:
            self._known.clear()
            self._asked = frozenset()
        for image_id in found.outdated & self._known.keys():
            del self._known[image_id]
        if len(self._known) > MOST_KEPT:
            self._known = {
                image_id: self._known[image_id]
                for image_id in self._wanted
                if image_id in self._known
            }
        self._known.update(found.by_image)
        self._asked -= found.by_image.keys()

    def clear(self) -> None:
        self._wanted, self._asked = (), frozenset()
        self._known.clear()

    # -- on the project thread

    def look_up(self, live: LiveCollection, touched: Iterable[int] | None) -> FoundGuesses:
        """The wanted guesses that an operation changed; on the project thread.

        `touched` are images whose label may have changed; None for any image.
        """
        wanted = self._wanted
        models, before = live.row_scores.models, self._models
        if (
            touched is None
            or len(models) != len(before)
            or any(map(operator.is_not, models, before))
        ):
            self._models = models
            return FoundGuesses(live.guesses(wanted), replaces=True)
        outdated = frozenset(touched)
        asked = tuple(outdated.intersection(wanted))
        return FoundGuesses(live.guesses(asked) if asked else {}, outdated=outdated)
