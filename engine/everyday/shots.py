"""Snapshot of images, labels and embeddings for work on another thread; labelled ones as shots."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Codes, Flags, Floats, Integers, no_integers
from engine.everyday.blocks import sums_by_class, to_floats
from engine.graph.category_graph import CategoryGraph
from engine.graph.codes import UNKNOWN

GROWTH = 1.25
"""Growth or shrinkage of a large collection after which what was learned is recomputed. Until then
more images are linked to the anchors that there are, and those that left stay as links between
others."""


@dataclass(frozen=True)
class Shots:
    """Labelled images with embeddings; the support set of the whole graph."""

    image_ids: Integers  # (n,) int64
    class_ids: Integers  # (n,) int64, the labelled class, fine or coarse
    embeddings: Floats  # (n, d) float32, what prototypes are made from
    # (n, d) float32, where `embeddings` are over several views; else None
    single_view: Floats | None = None
    # (n,) int64, equal for twins, which are held out together; negative for none
    folds: Integers | None = None

    @property
    def as_classified(self) -> Floats:
        """(n, d) float32, by a single view, as every other image is classified."""
        return self.embeddings if self.single_view is None else self.single_view

    def __len__(self) -> int:
        return len(self.image_ids)

    @cached_property
    def twin_groups(self) -> Integers:
        """(n,) number of the fold of each shot; a shot without twins has its own."""
        alone = -1 - np.arange(len(self), dtype=np.int64)
        folds = alone if self.folds is None else np.where(self.folds < 0, alone, self.folds)
        return np.unique(folds, return_inverse=True)[1].reshape(-1).astype(np.int64)

    @cached_property
    def together(self) -> "HeldTogether":
        """What goes with each shot when it is held out."""
        if self.folds is None or not (self.folds >= 0).any():
            ones = np.ones(len(self), dtype=np.int64)
            return HeldTogether(ones, self.embeddings, np.arange(len(self), dtype=np.int64))
        keys = np.stack([self.class_ids, self.twin_groups], axis=1)
        _, first, group = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        group = group.reshape(-1)
        sizes = np.bincount(group)
        sums = sums_by_class(self.embeddings, group, len(sizes))
        means = np.where(sizes[group, None] > 1, (sums / sizes[:, None])[group], self.embeddings)
        return HeldTogether(sizes[group], means.astype(np.float32), np.sort(first).astype(np.int64))

    def counts(self) -> dict[int, int]:
        """Number of shots of each class that has any."""
        class_ids, counts = np.unique(self.class_ids, return_counts=True)
        return dict(zip(class_ids.tolist(), counts.tolist(), strict=True))


@dataclass(frozen=True)
class HeldTogether:
    """Twins of n shots, of the same fold and class: one alone would be judged by its own copies.

    A twin with another label is no help to the one that is held out, and stays.
    """

    sizes: Integers  # (n,) int64, how many are held out with each shot, itself included
    means: Floats  # (n, d) float32, their mean embedding
    # (g,) int64 position of the first one of each group: the rest adds no evidence
    firsts: Integers


@dataclass(frozen=True)
class Membership:
    """Which image makes up which initial prototype: pairs of positions, (m,) int64 each."""

    image_positions: Integers
    class_positions: Integers


def reached_classes(graph: CategoryGraph, labelled: Sequence[int]) -> tuple[int, ...]:
    """Classes that can have a prototype: labelled ones, their ancestors, and children of either.

    In a graph of 80,000 classes with a few labelled ones this keeps the work to the labelled
    branches.
    """
    with_images = set(labelled).union(*map(graph.ancestors, labelled))
    return tuple(sorted(with_images.union(*map(graph.children, with_images))))


def membership(graph: CategoryGraph, class_ids: Sequence[int], shots: Shots) -> Membership:
    """Pair each class with the images its initial prototype is the mean of.

    A class with own images takes those. A class without takes the distinct images of its
    descendants: that is ours, the paper gives every coarse class images of its own.

    Paper: the sets X^y of Eq. 3.
    """
    positions_of: dict[int, list[int]] = {}
    for position, class_id in enumerate(shots.class_ids.tolist()):
        positions_of.setdefault(class_id, []).append(position)
    inherited: dict[int, list[int]] = {}
    for labelled, positions in positions_of.items():
        for ancestor in graph.ancestors(labelled):
            if ancestor not in positions_of:
                inherited.setdefault(ancestor, []).extend(positions)
    images: list[int] = []
    classes: list[int] = []
    for place, class_id in enumerate(class_ids):
        positions = positions_of.get(class_id) or inherited.get(class_id, [])
        images.extend(positions)
        classes.extend([place] * len(positions))
    return Membership(np.array(images, dtype=np.int64), np.array(classes, dtype=np.int64))


def class_means(shots: Shots, members: Membership, class_count: int) -> Floats:
    """Mean embedding (C, d) of each class's member images."""
    members_of = shots.embeddings[members.image_positions]
    sums = sums_by_class(members_of, members.class_positions, class_count)
    counts = np.bincount(members.class_positions, minlength=class_count)
    return (sums / np.maximum(counts, 1)[:, None]).astype(np.float32)


@dataclass(frozen=True)
class ViewEmbeddings:
    """Embeddings of some images over all their views."""

    # (k,) int64, ascending
    image_ids: Integers = field(default_factory=no_integers)
    # (k, d) float32 of length 1
    vectors: Floats = field(default_factory=lambda: np.zeros((0, 0), dtype=np.float32))

    def has(self, image_ids: Integers) -> Flags:
        """(n,) bool, which of these images are among them."""
        return np.isin(image_ids, self.image_ids)

    def in_place_of(self, vectors: Floats, image_ids: Integers) -> Floats:
        """Embeddings (n, d) of these images: over all views where that is known, else as given."""
        known = np.flatnonzero(self.has(image_ids))
        if not len(known):
            return vectors
        chosen = vectors.copy()
        chosen[known] = self.vectors[np.searchsorted(self.image_ids, image_ids[known])]
        return chosen


@dataclass(frozen=True)
class EmbeddedSnapshot:
    """Snapshot that a fit reads.

    The arrays are shared and never changed, but for rows of `embeddings` filled after `age`.
    """

    image_ids: Integers  # (n,) int64 of the listed images, ascending
    labels: Codes  # (n,) int32, class id, `NO_CLASS` or `UNKNOWN`
    rows: Integers  # (n,) int64 rows of the listed images
    has_failed: Flags  # (n,) bool
    row_ids: Integers  # (r,) int64, the image in each row, ascending; also images that were removed
    embeddings: NDArray[np.int16]  # (r, d) int16 in fixed point
    is_filled: Flags  # (r,) bool, rows that have an embedding
    # Of the store; rows with a later `EmbeddingStore.filled_at` are newer than this snapshot
    age: int
    # Embeddings of labelled images over all their views
    views: ViewEmbeddings = field(default_factory=ViewEmbeddings)
    # (n,) int64, equal for twins and shots of one burst; negative for none
    folds: Integers | None = None
    # (r,) uint64, beginnings of the content hashes of the embedded files; None where unknown
    contents: NDArray[np.uint64] | None = None

    @property
    def ready_rows(self) -> Integers:
        """Ascending rows of the listed images that have an embedding."""
        is_ready = self.is_filled[self.rows]
        return self.rows if is_ready.all() else self.rows[is_ready]

    @property
    def has_all(self) -> bool:
        """Whether every image has an embedding or cannot be read."""
        return bool((self.is_filled[self.rows] | self.has_failed).all())

    def without(self, image_ids: Collection[int]) -> "EmbeddedSnapshot":
        """The same without these of the listed images."""
        if not image_ids:
            return self
        is_left = ~np.isin(
            self.image_ids, np.fromiter(image_ids, dtype=np.int64, count=len(image_ids))
        )
        return replace(
            self,
            image_ids=self.image_ids[is_left],
            labels=self.labels[is_left],
            rows=self.rows[is_left],
            has_failed=self.has_failed[is_left],
            folds=None if self.folds is None else self.folds[is_left],
        )

    def rows_of(self, image_ids: Integers) -> Integers:
        return np.searchsorted(self.row_ids, image_ids).astype(np.int64)

    def shots(self, graph: CategoryGraph) -> Shots:
        """The labelled images with an embedding and a class of the graph, over all views."""
        places = np.flatnonzero(self.labels >= 0)
        places = places[self.is_filled[self.rows[places]]]
        known = [
            class_id for class_id in np.unique(self.labels[places]).tolist() if class_id in graph
        ]
        places = places[np.isin(self.labels[places], known)]
        image_ids, alone = self.image_ids[places], to_floats(self.embeddings[self.rows[places]])
        folds = None if self.folds is None else self.folds[places]
        class_ids = self.labels[places].astype(np.int64)
        return Shots(image_ids, class_ids, self.views.in_place_of(alone, image_ids), alone, folds)

    def ignored(self) -> Integers:
        """Ids of the images that teach nothing: labelled as none of the classes, or removed."""
        unknown = self.image_ids[self.labels == UNKNOWN]
        if len(self.row_ids) == len(self.image_ids):
            return unknown
        return np.union1d(unknown, np.setdiff1d(self.row_ids, self.image_ids, assume_unique=True))


def has_outgrown(images: EmbeddedSnapshot, learned_from: Integers) -> bool:
    """Whether the model should learn from embeddings that came since it learned from these rows.

    Once no more are to come, a single one is enough.
    """
    ready = images.ready_rows
    if len(ready) >= GROWTH * len(learned_from):
        return True
    return images.has_all and not np.isin(ready, learned_from, assume_unique=True).all()
