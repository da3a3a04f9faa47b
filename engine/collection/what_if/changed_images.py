"""Which images get another class by an edit: two snapshots of one collection, before and after, side by side."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from engine.collection.state import NO_CLASS, UNKNOWN, CollectionState, ImageStatus


@dataclass(frozen=True)
class ClassMove:
    """Images that went from one class to another."""

    # before, after: class ids; `UNKNOWN` for too far from every class, `NO_CLASS` for none at all
    before: int
    after: int
    image_ids: NDArray[np.int64]  # (k,) int64, those first that are surest of the class they have now
    is_safe_class: bool = False  # the images have the same likeliest class as before, and another safe class


@dataclass(frozen=True)
class ChangedImages:
    """All images without a label that have other answers than before."""

    # those of most images first; images whose likeliest class changed before those of which only the safe class did. An
    # image is in one move.
    moves: tuple[ClassMove, ...] = ()
    # how many images a person labelled meanwhile with each class; most first
    new_labels: tuple[tuple[int, int], ...] = ()

    @cached_property
    def other_class(self) -> int:
        """How many images have another likeliest class."""
        return sum(len(move.image_ids) for move in self.moves if not move.is_safe_class)

    @cached_property
    def other_safe_class(self) -> int:
        """How many images have the same likeliest class, and another safe class."""
        return sum(len(move.image_ids) for move in self.moves if move.is_safe_class)

    @property
    def count(self) -> int:
        """How many images there are in all."""
        return self.other_class + self.other_safe_class

    @property
    def more_unknown(self) -> int:
        """How many more images are unknown than before; negative where they are fewer."""
        moved = [move for move in self.moves if not move.is_safe_class]
        more = sum(len(move.image_ids) for move in moved if move.after == UNKNOWN)
        return more - sum(len(move.image_ids) for move in moved if move.before == UNKNOWN)


def changed_images(before: CollectionState, after: CollectionState) -> ChangedImages:
    """Compare what is said of the images that are embedded and have no label, both before and after.

    Labels are left out: what a person says is not moved by an edit, and an image that was just labelled is no surprise.
    """
    first, second = _shared(before, after)
    labels = after.label_class[second][after.label_class[second] != before.label_class[first]]
    is_answered = _is_answered(before)[first] & _is_answered(after)[second]
    first, second = first[is_answered], second[is_answered]
    was, now = likeliest(before, first), likeliest(after, second)
    safe_was, safe_now = _safe(before, first), _safe(after, second)
    has_moved = was != now
    places = np.flatnonzero(has_moved), np.flatnonzero(~has_moved & (safe_was != safe_now))
    ids, score, safe_score = after.image_ids[second], after.best_score[second], after.safe_score[second]
    return ChangedImages(
        (
            *_moves(ids, was, now, score, places[0], is_safe_class=False),
            *_moves(ids, safe_was, safe_now, safe_score, places[1], is_safe_class=True),
        ),
        tuple(Counter(labels[labels >= 0].tolist()).most_common()),
    )


def _shared(before: CollectionState, after: CollectionState) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Places of the images that are in both snapshots."""
    if before.image_ids is after.image_ids:
        places = np.arange(len(before.image_ids))
        return places, places
    _ids, first, second = np.intersect1d(before.image_ids, after.image_ids, assume_unique=True, return_indices=True)
    return first, second


def _is_answered(state: CollectionState) -> NDArray[np.bool_]:
    return (state.label_class == NO_CLASS) & (state.status == ImageStatus.READY)


def likeliest(state: CollectionState, places: NDArray[np.int64]) -> NDArray[np.int64]:
    """The likeliest classes (k,) of images at places (k,); an image that has another one "changed class".

    `UNKNOWN` for an image that is too far from every class, `NO_CLASS` for one without a prediction.
    """
    return np.where(state.is_unknown[places], UNKNOWN, state.best_class[places])


def _safe(state: CollectionState, places: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.where(state.is_unknown[places], UNKNOWN, state.safe_class[places])


def _moves(
    image_ids: NDArray[np.int64],
    was: NDArray[np.int64],
    now: NDArray[np.int64],
    score: NDArray[np.float32],
    places: NDArray[np.int64],
    *,
    is_safe_class: bool,
) -> Iterator[ClassMove]:
    """The images at these places by where they went, most first."""
    order = places[np.lexsort((-score[places], now[places], was[places]))]
    pairs = np.stack((was[order], now[order]), axis=1)
    starts = np.flatnonzero(np.any(np.diff(pairs, axis=0, prepend=pairs[:1] - 1), axis=1))
    groups = np.split(order, starts[1:])
    for group in sorted(groups, key=len, reverse=True):
        if len(group):
            yield ClassMove(int(was[group[0]]), int(now[group[0]]), image_ids[group], is_safe_class)
