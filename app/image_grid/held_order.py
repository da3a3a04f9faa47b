"""A stable order of cards: labelled ones leave, new ones are appended, the others stay in place.

New predictions make an order by score or class outdated. It is then kept until the user requests
the order again, or other images. No Qt.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from app.image_grid.folded import Ids, Positions, together
from app.session.subsets import ImageFilter, fitting, shown_class
from engine.arrays import Flags, Floats, Integers
from engine.collection.folding.folds import Folds
from engine.collection.state import NO_CLASS, CollectionState, ImageStatus, Sorting, predicted_class

_NONE = np.zeros(0, dtype=np.int32)
FEW = 32
"""Removed cards searched one by one. Chosen: for more, a full comparison is as fast."""
# Images compared at a time, so that they fit into the processor's cache.
PART = 65_536


class Order(StrEnum):
    """Sort order of images."""

    UNSURE_FIRST = "unsure_first"
    SUREST_FIRST = "surest_first"
    CLASS = "class"
    ADDED = "added"
    TEACH_FIRST = "teach_first"
    NAME = "name"
    TAKEN = "taken"
    FOLDER = "folder"
    SIZE = "size"

    @property
    def sorting(self) -> Sorting | None:
        """The image attribute to sort by; None for an order by labels and predictions."""
        return Sorting(self.value) if self.value in _SORTINGS else None


_SORTINGS = frozenset(sorting.value for sorting in Sorting)


def in_order(state: CollectionState, chosen: Positions, order: Order) -> Positions:
    """Sort positions of images; labelled images come first within a class.

    Unknown images count as least certain, as their score is only relative to the other classes.
    Until `teach_rank` is known, the least certain images replace that order.
    """
    if order is Order.ADDED or len(chosen) == 0:
        return chosen
    if order.sorting is not None:
        ranks = state.ranks.get(order.sorting)
        return chosen if ranks is None else chosen[sorted_places(ranks[chosen])]
    known = np.where(state.is_unknown[chosen], np.float32(0), state.best_score[chosen])
    score = np.where(state.status[chosen] == int(ImageStatus.READY), known, np.float32(2))
    is_labelled = state.label_class[chosen] != NO_CLASS
    if order is Order.CLASS:
        chosen = chosen[sorted_places(-score, last=~is_labelled)]
        return chosen[sorted_places(shown_class(state)[chosen])]
    if order is Order.TEACH_FIRST and state.teach_rank is not None:
        return chosen[sorted_places(state.teach_rank[chosen], last=is_labelled)]
    ranked = -np.where(score > 1, np.float32(-1), score) if order is Order.SUREST_FIRST else score
    return chosen[sorted_places(ranked, last=is_labelled)]


_PLACE_BITS = np.uint64(31)
_SIGN = np.uint32(1 << 31)


def sorted_places(
    values: Floats | NDArray[np.int32] | Integers,
    *,
    last: Flags | None = None,
) -> Positions:
    """Stable argsort of values (m,) in ascending order; those of `last` (m,) come last.

    Value and position are packed into one integer and sorted by vector instructions, in a tenth of
    the time of a stable argsort.
    """
    if values.dtype == np.float32:
        bits = (values + np.float32(0)).view(np.uint32)  # -0 becomes 0
        ordered = np.where(bits & _SIGN, ~bits, bits | _SIGN)
    else:
        smallest, largest = int(values.min(initial=0)), int(values.max(initial=0))
        # Out of range, as for codes without a class.
        if largest - smallest > np.iinfo(np.uint32).max:
            return np.argsort(values, kind="stable").astype(np.int32)
        ordered = (values - smallest).astype(np.uint32)
    keys = ordered.astype(np.uint64) << _PLACE_BITS
    keys |= np.arange(len(values), dtype=np.uint64)
    if last is not None:
        keys |= last.astype(np.uint64) << np.uint64(63)
    keys.sort()
    keys &= np.uint64((1 << 31) - 1)
    return keys.astype(np.int32)


def _sorted(
    state: CollectionState, chosen: Positions, wanted: ImageFilter, order: Order
) -> Positions:
    """Sort positions by the order of the image set if it has one, else by the requested order."""
    if wanted.images is None or not wanted.images.is_ordered:
        return in_order(state, chosen, order)
    return chosen[np.argsort(wanted.images.ranks(state.image_ids[chosen]))]


@dataclass(frozen=True)
class HeldOrder:
    """A stable order of cards."""

    state: CollectionState  # positions refer to it
    sorted_for: CollectionState  # the state at the time of sorting
    ranked: Positions  # (m,) positions of all cards since then in order, including removed ones
    is_ranked: Flags  # (n,) bool, the images in `ranked`
    is_in: Flags  # (n,) bool, the images shown
    shown: Positions  # (rows,) positions of the cards shown, in order
    folds: Folds = field(default_factory=Folds.none)  # folds at the time of sorting

    @staticmethod
    def sorted_now(
        state: CollectionState, wanted: ImageFilter, order: Order, *, is_folding: bool = False
    ) -> HeldOrder:
        is_in, folds = fitting(state, wanted), Folds.none()
        ranked = _sorted(state, _places(is_in), wanted, order)
        if is_folding and state.folds.count:
            keeps_first, folds = wanted.images is not None and wanted.images.is_ordered, state.folds
            ranked = together(ranked, state.image_ids, folds, keeps_first=keeps_first)
        return HeldOrder(state, state, ranked, is_in, is_in, ranked, folds=folds)

    def has(self, image_id: int) -> bool:
        """Whether an image is shown, or folded under a card."""
        with suppress(KeyError):
            return bool(self.is_in[self.state.position(image_id)])
        return False

    def is_outdated(self, order: Order) -> bool:
        """Whether ranks for the requested order became known after sorting."""
        if order.sorting is not None:
            return order.sorting not in self.sorted_for.ranks and order.sorting in self.state.ranks
        return (
            order is Order.TEACH_FIRST
            and self.sorted_for.teach_rank is None
            and self.state.teach_rank is not None
        )

    def followed(
        self,
        state: CollectionState,
        wanted: ImageFilter,
        order: Order,
        *,
        moved: Flags | None = None,
    ) -> HeldOrder:
        """Keep the order for a new state; only labels and readability add or remove cards.

        A card whose prediction changed stays, even if it no longer matches: the user may be looking
        at it. A card that returns, as after undo, gets its previous place.

        Args:
            moved: (n,) further images that may be added or removed.
        """
        if moved is None and _has_same_facts(self.state, state):
            return replace(self, state=state)
        old = self._moved_to(state)
        fits = fitting(state, wanted)
        is_touched = _is_touched(self.state, state)
        if moved is not None:
            is_touched |= moved
        places = _places(is_touched)
        is_in = old.is_in.copy()
        is_in[places] = fits[places]
        newcomers = places[is_in[places] & ~old.is_ranked[places]]
        ranked, is_ranked = old.ranked, old.is_ranked
        if len(newcomers):
            is_ranked = is_ranked.copy()
            is_ranked[newcomers] = True
            ranked = np.concatenate([ranked, _sorted(state, newcomers, wanted, order)])
        left = _rows_that_left(old, is_in) if old is self else None
        shown = ranked[is_in[ranked]] if left is None else _without(old.shown, left)
        return HeldOrder(state, self.sorted_for, ranked, is_ranked, is_in, shown, self.folds)

    def changed_predictions(self, wanted: ImageFilter) -> int:
        """Number of unlabelled images whose predicted class changed since sorting.

        Counts cards, and images that sorting again would add.
        """
        now, then = self.state, self.sorted_for
        if now is then or len(now.image_ids) == 0 or len(then.image_ids) == 0:
            return 0
        is_shown = self.is_in | fitting(now, wanted)
        is_shown &= now.is_unlabelled
        if has_same_images(then, now):
            parts = (slice(start, start + PART) for start in range(0, len(is_shown), PART))
            return sum(_count_others(now, then, part, part, is_shown[part]) for part in parts)
        shown = _places(is_shown)
        before, was_there = _found(now.image_ids[shown], then.image_ids)
        came = np.count_nonzero(now.best_class[shown[~was_there]] != NO_CLASS)
        return int(came) + _count_others(now, then, shown, before, was_there)

    def _moved_to(self, state: CollectionState) -> HeldOrder:
        old_ids, ids = self.state.image_ids, state.image_ids
        if has_same_images(self.state, state):
            return self
        is_in, is_ranked = np.zeros(len(ids), dtype=bool), np.zeros(len(ids), dtype=bool)
        places, is_still = _found(old_ids, ids)
        is_in[places[is_still]] = self.is_in[is_still]
        is_ranked[places[is_still]] = self.is_ranked[is_still]
        ranked = places[self.ranked][is_still[self.ranked]]
        return HeldOrder(
            state,
            self.sorted_for,
            ranked,
            is_ranked,
            is_in,
            ranked[is_in[ranked]],
            folds=self.folds,
        )


def _places(is_meant: Flags) -> Positions:
    return np.flatnonzero(is_meant).astype(np.int32)


def _without(values: Positions, rows: Positions) -> Positions:
    """Values (m,) without those at rows (k,); faster than `np.delete` for a single row."""
    if len(rows) == 1:
        return np.concatenate([values[: rows[0]], values[rows[0] + 1 :]])
    return np.delete(values, rows)


def _rows_that_left(before: HeldOrder, is_in: Flags) -> Positions | None:
    """Rows of the cards (n,) that were removed; None if cards were added, or many removed."""
    went = _places(before.is_in & ~is_in)
    if len(went) > FEW or bool((is_in & ~before.is_in).any()):
        return None
    return np.concatenate([_NONE, *(_places(before.shown == place) for place in went.tolist())])


def _count_others(
    now: CollectionState,
    then: CollectionState,
    places: slice | Positions,
    before: slice | Positions,
    is_meant: Flags,
) -> int:
    """Number of images (k,) in `is_meant` whose predicted class differs between two states."""
    is_other = predicted_class(now, places) != predicted_class(then, before)
    return int(np.count_nonzero(is_other & is_meant))


def has_same_images(before: CollectionState, after: CollectionState) -> bool:
    return before.image_ids is after.image_ids or np.array_equal(before.image_ids, after.image_ids)


def _found(wanted: Ids, image_ids: Ids) -> tuple[Positions, Flags]:
    """Positions of ids in a sorted array, and whether they are in it."""
    if len(image_ids) == 0:
        return np.zeros(len(wanted), dtype=np.int32), np.zeros(len(wanted), dtype=bool)
    places = np.minimum(np.searchsorted(image_ids, wanted), len(image_ids) - 1).astype(np.int32)
    return places, image_ids[places] == wanted


def _has_same_facts(before: CollectionState, after: CollectionState) -> bool:
    """Whether images, labels and readability are the same in both states."""
    pairs = ((before.label_class, after.label_class), (before.status, after.status))
    return has_same_images(before, after) and all(
        one is other or np.array_equal(one, other) for one, other in pairs
    )


def _is_touched(before: CollectionState, after: CollectionState) -> Flags:
    """(n,) images of the new state whose label or readability changed; new ones included."""
    if has_same_images(before, after):
        is_other = before.label_class != after.label_class
        return (
            is_other
            if before.status is after.status
            else is_other | (before.has_failed != after.has_failed)
        )
    if len(before.image_ids) == 0:
        return np.ones(len(after.image_ids), dtype=bool)
    places, was_there = _found(after.image_ids, before.image_ids)
    has_same_label = before.label_class[places] == after.label_class
    has_same_status = before.has_failed[places] == after.has_failed
    return ~(was_there & has_same_label & has_same_status)
