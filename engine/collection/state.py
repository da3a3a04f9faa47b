"""Snapshots of a collection for the screens, and differences between two of them."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Codes, Flags, Floats, Integers, Ranks, no_integers
from engine.collection.folding.folds import Folds
from engine.everyday.unseen import ClassesSeen
from engine.file_parts import WHOLE, ImageSource
from engine.graph.category_graph import CategoryGraph
from engine.graph.codes import BOXED, EMPTY, NO_CLASS, UNKNOWN
from engine.image_fields import ImageField
from engine.project.records import BoxOrigin, Label, Note


def counts_of(codes: Codes) -> dict[int, int]:
    """Number of images (n,) of each class that has any."""
    counts = np.bincount(codes[codes >= 0])
    class_ids = np.flatnonzero(counts)
    return dict(zip(class_ids.tolist(), counts[class_ids].tolist(), strict=True))


def moved_counts(counts: Mapping[int, int], before: Codes, after: Codes) -> dict[int, int]:
    """Update counts of images after some codes (k,) have changed."""
    moved = Counter(counts)
    moved.update(after[after >= 0].tolist())
    moved.subtract(before[before >= 0].tolist())
    return {class_id: moved[class_id] for class_id in sorted(moved) if moved[class_id]}


def shown_classes(labels: Codes, best: Codes, is_unknown: Flags) -> Codes:
    """The shown class (n,) of each image: its label, else the best class unless it is unknown."""
    return np.where(labels != NO_CLASS, labels, np.where(is_unknown, np.int32(NO_CLASS), best))


@dataclass(frozen=True)
class ShownCounts:
    """Numbers of images shown at each class."""

    exactly: Integers  # (k,) int64 by class id; higher class ids have none
    or_below: Mapping[int, int]  # images at each class or below, for classes with any

    @staticmethod
    def none() -> "ShownCounts":
        return ShownCounts(no_integers(), {})

    def moved(self, graph: CategoryGraph, before: Codes, after: Codes) -> "ShownCounts":
        """Update counts after images have moved from classes (k,) to classes (m,)."""
        lost, gained = np.bincount(before[before >= 0]), np.bincount(after[after >= 0])
        exactly = np.zeros(max(len(self.exactly), len(lost), len(gained)), dtype=np.int64)
        exactly[: len(gained)] += gained
        exactly[: len(lost)] -= lost
        totals: Counter[int] = Counter(self.or_below)
        for class_id in np.flatnonzero(exactly).tolist():
            if class_id not in graph:
                continue
            # An image has one class, and that class each ancestor once.
            for above in (class_id, *graph.ancestors(class_id)):
                totals[above] += int(exactly[class_id])
                if totals[above] == 0:
                    del totals[above]
        exactly[: len(self.exactly)] += self.exactly
        return ShownCounts(exactly, dict(totals))


__all__ = [
    "BOXED",
    "EMPTY",
    "NO_CLASS",
    "UNKNOWN",
    "Codes",
    "CollectionState",
    "ImageStatus",
    "Sorting",
]


class ImageStatus(IntEnum):
    """Whether an image has an embedding."""

    WAITING = 0
    READY = 1
    FAILED = 2


class Sorting(StrEnum):
    """Sort orders of images, in addition to classes and scores."""

    NAME = "name"
    TAKEN = "taken"
    FOLDER = "folder"
    SIZE = "size"


@dataclass(frozen=True)
class CollectionState:
    """All images of a project with labels and predictions; arrays are in ascending image id."""

    folder: Path  # folder that relative paths start from
    image_ids: Integers  # (n,) int64
    paths: Sequence[str]  # (n,) paths as stored
    label_class: Codes  # (n,) int32, label, or one of `engine.graph.codes`
    best_class: Codes  # (n,) int32, the most probable leaf, or `NO_CLASS`
    # (n,) float32, probability of `best_class`, given one of the classes
    best_score: Floats
    safe_class: Codes  # (n,) int32, the deepest class that passes its threshold, or `NO_CLASS`
    safe_score: Floats  # (n,) float32, probability of `safe_class`
    is_unknown: Flags  # (n,) bool, out of distribution
    status: NDArray[np.uint8]  # (n,) uint8, an `ImageStatus`
    shot_counts: Mapping[int, int]  # images labelled with exactly this class
    image_counts: Mapping[int, int]  # images labelled or predicted at this class or below
    model_name: str = ""  # of the backbone
    # reasons of unreadable images, by id; they may have an older embedding
    failures: Mapping[int, str] = field(default_factory=dict)
    # (n,) int32, rank among the images to label first; None if not computed
    teach_rank: Ranks | None = None
    # ids of the images to embed in all views
    without_views: Integers = field(default_factory=no_integers)
    is_list_only: bool = False  # whether embeddings were not read yet
    notes: Mapping[int, Note] = field(default_factory=dict)  # by image id
    # outdated labels, of replaced pictures
    outdated: Mapping[int, Label] = field(default_factory=dict)
    # (n,) int32, ranks by each requested `Sorting`
    ranks: Mapping[str, Ranks] = field(default_factory=dict)
    folds: Folds = field(default_factory=Folds.none)  # copies and bursts, as found last
    # numbers of leaves with and without examples; None if all have some
    unseen: ClassesSeen | None = None
    parts: Sequence[str] = ()  # (n,) parts of the files; () if all images are whole files
    # images and parts of files with several, by path
    items: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    # origin of boxes, by image id
    detections: Mapping[int, BoxOrigin] = field(default_factory=dict)
    hidden: frozenset[int] = frozenset()  # ids of images that are not shown
    fields: Sequence[ImageField] = ()  # of the project, in addition to count
    # by image id and name of the field
    field_values: Mapping[int, Mapping[str, str]] = field(default_factory=dict)
    error_odds: float = 1.0  # of safe predictions, as a multiple of those by scores, by an audit

    @cached_property
    def is_unlabelled(self) -> Flags:
        """(n,) whether an image has no label."""
        return self.label_class == NO_CLASS

    @cached_property
    def is_labelled(self) -> Flags:
        """(n,) whether an image was labelled by a person."""
        return ~self.is_unlabelled & (self.label_class != BOXED)

    @cached_property
    def is_box(self) -> Flags:
        """(n,) whether an image is a box in a picture."""
        if not self.parts:
            return np.zeros(len(self.image_ids), dtype=np.bool_)
        return np.fromiter(
            ("xywh" in part for part in self.parts), dtype=np.bool_, count=len(self.parts)
        )

    @cached_property
    def is_hidden(self) -> Flags:
        """(n,) whether an image is not shown."""
        if not self.hidden:
            return np.zeros(len(self.image_ids), dtype=np.bool_)
        return np.isin(
            self.image_ids, np.fromiter(self.hidden, dtype=np.int64, count=len(self.hidden))
        )

    @cached_property
    def has_failed(self) -> Flags:
        """(n,) whether an image could not be read."""
        return self.status == int(
            ImageStatus.FAILED
        )  # an enumeration is compared in 64 bits: a tenth of the speed

    @cached_property
    def is_to_review(self) -> Flags:
        """(n,) whether an image is to be reviewed."""
        return self.is_unlabelled & ~self.has_failed & ~self.is_hidden

    @cached_property
    def is_shown_unknown(self) -> Flags:
        """(n,) whether an image is unknown, by label or by prediction."""
        return (self.is_unlabelled & self.is_unknown) | (self.label_class == UNKNOWN)

    @cached_property
    def is_replaced(self) -> Flags:
        """(n,) whether a labelled image was replaced by another picture."""
        return np.isin(
            self.image_ids, np.fromiter(self.outdated, dtype=np.int64, count=len(self.outdated))
        )

    @cached_property
    def to_review_count(self) -> int:
        return int(np.count_nonzero(self.is_to_review))

    @cached_property
    def labelled_count(self) -> int:
        return int(np.count_nonzero(self.is_labelled))

    @cached_property
    def unknown_count(self) -> int:
        """Unknown images, by label or by prediction."""
        return int(np.count_nonzero(self.is_shown_unknown))

    @cached_property
    def failed_count(self) -> int:
        return int(np.count_nonzero(self.has_failed))

    def position(self, image_id: int) -> int:
        """Index of an image in the arrays.

        Raises:
            KeyError: no such image.
        """
        place = bisect_left(self.image_ids, image_id)
        if place == len(self.image_ids) or self.image_ids[place] != image_id:
            raise KeyError(image_id)
        return place

    def has(self, image_id: int) -> bool:
        place = bisect_left(self.image_ids, image_id)
        return place < len(self.image_ids) and bool(self.image_ids[place] == image_id)

    def label_of(self, image_id: int) -> int:
        """Class of an image's label, or its code; raises as `position`."""
        return int(self.label_class[self.position(image_id)])

    def path_of(self, image_id: int) -> Path:
        return self.folder / self.paths[self.position(image_id)]

    def source_at(self, place: int) -> ImageSource:
        """File and part of the image at an index."""
        return ImageSource(
            self.folder / self.paths[place], self.parts[place] if self.parts else WHOLE
        )

    def source_of(self, image_id: int) -> ImageSource:
        """As `source_at`; raises as `position`."""
        return self.source_at(self.position(image_id))

    def visible_source_of(self, image_id: int) -> ImageSource | None:
        """As `source_of`; None for a hidden or removed image."""
        if image_id in self.hidden or not self.has(image_id):
            return None
        return self.source_of(image_id)

    def items_of_file(self, image_id: int) -> Mapping[int, str]:
        """All images of an image's file, itself included, with their parts."""
        place = self.position(image_id)
        alone = {image_id: self.parts[place] if self.parts else WHOLE}
        return self.items.get(self.paths[place], alone)


@dataclass(frozen=True)
class ClassMove:
    """Images that moved from one class to another."""

    before: int  # class id; `UNKNOWN` or `NO_CLASS`
    after: int
    image_ids: Integers  # (k,) int64, by falling score
    is_safe_class: bool = False  # whether only the safe class has changed


@dataclass(frozen=True)
class ChangedImages:
    """All unlabelled images whose predictions have changed, each in one move."""

    # of the best class, then of the safe class alone; most images first
    moves: tuple[ClassMove, ...] = ()
    new_labels: tuple[tuple[int, int], ...] = ()  # classes of new labels with counts; most first

    @cached_property
    def other_class(self) -> int:
        """Number of images whose best class has changed."""
        return sum(len(move.image_ids) for move in self.moves if not move.is_safe_class)

    @cached_property
    def other_safe_class(self) -> int:
        """Number of images whose safe class alone has changed."""
        return sum(len(move.image_ids) for move in self.moves if move.is_safe_class)

    @property
    def count(self) -> int:
        return self.other_class + self.other_safe_class

    @property
    def more_unknown(self) -> int:
        """Increase of the number of unknown images."""
        moved = [move for move in self.moves if not move.is_safe_class]
        more = sum(len(move.image_ids) for move in moved if move.after == UNKNOWN)
        return more - sum(len(move.image_ids) for move in moved if move.before == UNKNOWN)


def changed_images(before: CollectionState, after: CollectionState) -> ChangedImages:
    """Compare the predictions of embedded images without a label."""
    first, second = _shared(before, after)
    labels = after.label_class[second][after.label_class[second] != before.label_class[first]]
    is_answered = _is_answered(before)[first] & _is_answered(after)[second]
    first, second = first[is_answered], second[is_answered]
    was, now = predicted_class(before, first), predicted_class(after, second)
    safe_was, safe_now = _safe(before, first), _safe(after, second)
    has_moved = was != now
    places = np.flatnonzero(has_moved), np.flatnonzero(~has_moved & (safe_was != safe_now))
    ids, score, safe_score = (
        after.image_ids[second],
        after.best_score[second],
        after.safe_score[second],
    )
    return ChangedImages(
        (
            *_moves(ids, was, now, score, places[0], is_safe_class=False),
            *_moves(ids, safe_was, safe_now, safe_score, places[1], is_safe_class=True),
        ),
        tuple(Counter(labels[labels >= 0].tolist()).most_common()),
    )


def _shared(before: CollectionState, after: CollectionState) -> tuple[Integers, Integers]:
    if before.image_ids is after.image_ids:
        places = np.arange(len(before.image_ids))
        return places, places
    _ids, first, second = np.intersect1d(
        before.image_ids, after.image_ids, assume_unique=True, return_indices=True
    )
    return first, second


def _is_answered(state: CollectionState) -> Flags:
    return (state.label_class == NO_CLASS) & (state.status == ImageStatus.READY)


def predicted_as(state: CollectionState, class_ids: Collection[int]) -> tuple[int, ...]:
    """Unlabelled images whose best class is one of these, the most probable first."""
    places = np.flatnonzero(np.isin(state.best_class, [*class_ids]) & _is_answered(state))
    return tuple(
        state.image_ids[places[np.argsort(-state.best_score[places], kind="stable")]].tolist()
    )


def predicted_class(state: CollectionState, places: NDArray[np.integer] | slice) -> Codes:
    """Best classes (k,) at places (k,), or `UNKNOWN`, or `NO_CLASS`."""
    return np.where(state.is_unknown[places], np.int32(UNKNOWN), state.best_class[places])


def _safe(state: CollectionState, places: Integers) -> Codes:
    return np.where(state.is_unknown[places], np.int32(UNKNOWN), state.safe_class[places])


def _moves(
    image_ids: Integers,
    was: Codes,
    now: Codes,
    score: Floats,
    places: Integers,
    *,
    is_safe_class: bool,
) -> Iterator[ClassMove]:
    order = places[np.lexsort((-score[places], now[places], was[places]))]
    pairs = np.stack((was[order], now[order]), axis=1)
    starts = np.flatnonzero(np.any(np.diff(pairs, axis=0, prepend=pairs[:1] - 1), axis=1))
    groups = np.split(order, starts[1:])
    for group in sorted(groups, key=len, reverse=True):
        if len(group):
            yield ClassMove(int(was[group[0]]), int(now[group[0]]), image_ids[group], is_safe_class)
