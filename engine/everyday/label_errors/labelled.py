"""Labelled images, and three leave-one-out estimates of the class of each.

Neighbours vote by their cosine; ridge regression on the labels and prototypes (Eq. 3) are fitted to
all images, and the contribution of one image is subtracted in closed form, so nothing is fitted
more than once. All three are exact leave-one-out.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cached_property
from typing import final

import numpy as np

from engine.arrays import Flags, Floats, Integers, no_flags
from engine.everyday.blocks import (
    in_blocks,
    one_thread_each,
    stop_if_requested,
    sums_by_class,
    to_floats,
    unit_rows,
)
from engine.everyday.classifier import Space
from engine.everyday.collection_stage.neighbours import MOST_IMAGES, whitening_of
from engine.everyday.prototypical.classification import softmax
from engine.everyday.shots import EmbeddedSnapshot
from engine.graph.category_graph import CategoryGraph
from engine.graph.codes import UNKNOWN

FEWEST_TO_WHITEN = 200
"""Of fewer images whitening removes what siblings share, too (decision 83)."""


NEIGHBOURS = 20
"""That vote; measured on Grocery Store and cifar-half, 10 find a little less (decision 105)."""


FEWEST_NEIGHBOURS = 3
"""Where classes are small: a class with few labels must not be outvoted by others."""


MOST_COMPARED = 20_000
"""Labelled images that are looked through for neighbours, evenly out of more."""


SEARCH_ROWS = 256  # images searched at a time by a core


RIDGE = 0.1
"""Penalty, as a multiple of the mean variance of a direction; 0.03 and 0.3 do the same."""


LEAST_VOTE = 0.01  # of the nearest neighbour's, for classes without a vote


LEAST_SHARE = 1e-9  # keeps logarithms finite


TEMPERATURES = np.geomspace(0.3, 100, 40)  # of logits near 0 and 1, or -1 and 0


MOST_FITTED = 2_000_000  # numbers that temperatures are fitted to; of more labels some


@dataclass(frozen=True)
class JudgedLabels:
    """n labelled images, c different labels among them."""

    image_ids: Integers  # (n,) int64, ascending
    labels: Integers  # (n,) int64, class ids, or `UNKNOWN` for none of the classes
    vectors: Floats  # (n, d) float32 of length 1, where images of one class are close
    plain: Floats  # (n, e) float32, embeddings as the backbone has them, less their mean
    # (n,) bool, looked at twice
    is_confirmed: Flags = field(default_factory=no_flags)

    def __len__(self) -> int:
        return len(self.image_ids)

    @cached_property
    def class_ids(self) -> Integers:
        """(c,) int64, ascending."""
        return np.unique(self.labels)

    @cached_property
    def columns(self) -> Integers:
        """(n,) int64, the place of each label among `class_ids`."""
        return np.searchsorted(self.class_ids, self.labels).astype(np.int64)

    @cached_property
    def counts(self) -> Integers:
        """(c,) int64, images of each label."""
        return np.bincount(self.columns, minlength=len(self.class_ids)).astype(np.int64)


@one_thread_each
def labelled_images(
    images: EmbeddedSnapshot,
    graph: CategoryGraph,
    space: Space | None,
    confirmed: Collection[int] = (),
) -> JudgedLabels:
    """The labelled images with an embedding and a class in the graph, over all views where known.

    Args:
        images: of the collection.
        graph: of its classes.
        space: where images are compared, as a fitted classifier learned it; None to learn it here.
        confirmed: ids of images whose label a person looked at again.
    """
    places = np.flatnonzero((images.labels >= 0) | (images.labels == UNKNOWN))
    places = places[images.is_filled[images.rows[places]]]
    gone = [
        each
        for each in np.unique(images.labels[places]).tolist()
        if each != UNKNOWN and each not in graph
    ]
    places = places[~np.isin(images.labels[places], gone)]
    image_ids, alone = images.image_ids[places], to_floats(images.embeddings[images.rows[places]])
    plain = images.views.in_place_of(alone, image_ids)
    is_confirmed = np.isin(image_ids, np.array(sorted(confirmed), dtype=np.int64))
    vectors = _comparable(plain, images, space)
    labels = images.labels[places].astype(np.int64)
    return JudgedLabels(image_ids, labels, vectors, centred(plain), is_confirmed)


def centred(plain: Floats) -> Floats:
    """Embeddings (n, d) less their mean."""
    return np.asarray(plain - plain.mean(axis=0), dtype=np.float32) if len(plain) else plain


def _comparable(plain: Floats, images: EmbeddedSnapshot, space: Space | None) -> Floats:
    """Whitened vectors (n, d) where there are enough images, else directions from the mean."""
    ready = images.ready_rows
    if len(ready) >= FEWEST_TO_WHITEN:
        if space is None:
            some = ready[:: max(1, -(-len(ready) // MOST_IMAGES))]
            space = whitening_of(images.embeddings[some])
        if space is not None:
            return space.apply(plain)
    return unit_rows(centred(plain))


@dataclass(frozen=True)
class Neighbours:
    """The nearest other labelled images of n, best first; fewer than k leave cosines of -1."""

    positions: Integers  # (n, k) int64 among them
    cosines: Floats  # (n, k) float32


def neighbours_of(images: JudgedLabels, count: int) -> Neighbours:
    """The nearest labelled images of each, without itself."""
    pool = _pool(len(images))
    count = max(0, min(count, len(pool) - 1))
    vectors = images.vectors[pool]
    found = Neighbours(
        np.zeros((len(images), count), dtype=np.int64),
        np.full((len(images), count), -1, dtype=np.float32),
    )
    if count == 0:
        return found

    def find_nearest(rows: slice) -> None:
        alike = images.vectors[rows] @ vectors.T
        alike[np.arange(rows.start, rows.stop)[:, None] == pool] = -2  # itself comes last
        near = np.argpartition(-alike, count - 1, axis=1)[:, :count]
        cosines = np.take_along_axis(alike, near, axis=1)
        order = np.argsort(-cosines, axis=1, kind="stable")
        found.positions[rows] = pool[np.take_along_axis(near, order, axis=1)]
        found.cosines[rows] = np.take_along_axis(cosines, order, axis=1)

    in_blocks(len(images), find_nearest, SEARCH_ROWS)
    return found


def _pool(count: int) -> Integers:
    return np.arange(0, count, max(1, -(-count // MOST_COMPARED)), dtype=np.int64)


@final
class LeaveOneOut:
    """The three estimates for n images and c labels, computed for some rows at a time.

    Raises:
        Cancelled: the token of `stopped_by` was set.
    """

    @one_thread_each
    def __init__(self, images: JudgedLabels) -> None:
        self._images = images
        self.neighbours = neighbours_of(images, NEIGHBOURS)
        typical = int(np.exp(np.log(images.counts).mean())) - 1 if len(images) else 0
        self._voters = min(self.neighbours.positions.shape[1], max(typical, FEWEST_NEIGHBOURS))
        stop_if_requested()
        self._fit_ridge()
        stop_if_requested()
        self._fit_prototypes()
        rows = self.sample()
        self._sharpness = tuple(
            _temperature(logits, images.columns[rows])
            for logits in (self._ridge(rows), self._to_prototypes(rows))
        )
        stop_if_requested()

    def logits(self, rows: Integers) -> Floats:
        """(r, c) mean log-probability of each label by the three estimates."""
        ridge, prototypes = (
            _log_softmax(logits * sharpness)
            for logits, sharpness in zip(
                (self._ridge(rows), self._to_prototypes(rows)), self._sharpness, strict=True
            )
        )
        return ((self._votes(rows) + ridge + prototypes) / 3).astype(np.float32)

    def closer_classes(self, rows: Integers, agreeing: Integers) -> Floats:
        """(r,) share of the other labels whose mean is closer than the own one without the image.

        By the plain embeddings, where kinds of things differ more than their species do.

        Args:
            rows: (r,) images of one label.
            agreeing: places of the labels that do not contradict it, itself among them.
        """
        column, plain = int(self._images.columns[rows[0]]), self._images.plain[rows]
        alike = plain @ self._plain_means.T
        left = max(int(self._images.counts[column]) - 1, 1)
        own = np.einsum("nd,nd->n", (self._plain_sums[column] - plain) / np.float32(left), plain)
        others = np.setdiff1d(np.arange(alike.shape[1]), agreeing)
        return np.asarray(
            (alike[:, others] > own[:, None]).sum(axis=1) / max(len(others), 1), dtype=np.float32
        )

    def sample(self) -> Integers:
        """Rows that temperatures and the share of wrong labels are fitted to."""
        count, width = len(self._images), max(1, len(self._images.class_ids))
        return np.arange(0, count, max(1, -(-count * width // MOST_FITTED)), dtype=np.int64)

    def _votes(self, rows: Integers) -> Floats:
        """(r, c) log share of the neighbours' votes, by the fourth power of their cosine."""
        near = self.neighbours.positions[rows, : self._voters]
        weights = np.maximum(self.neighbours.cosines[rows, : self._voters], 0) ** 4
        votes = np.zeros((len(rows), len(self._images.class_ids)), dtype=np.float32)
        np.add.at(votes, (np.arange(len(rows))[:, None], self._images.columns[near]), weights)
        votes += LEAST_VOTE * weights.max(axis=1, initial=0, keepdims=True) + LEAST_SHARE
        return np.log(votes / votes.sum(axis=1, keepdims=True)).astype(np.float32)

    def _fit_ridge(self) -> None:
        """Fit weights by the normal equations; leverage is an image's own contribution."""
        count, width = self._images.vectors.shape
        inputs = np.concatenate(
            [self._images.vectors, np.ones((count, 1), dtype=np.float32)], axis=1
        )
        sums = sums_by_class(inputs, self._images.columns, len(self._images.class_ids))
        penalty = np.full(width + 1, RIDGE * max(count, 1) / max(width, 1))
        penalty[-1] = 1e-6 * max(count, 1)
        inverse = np.linalg.inv((inputs.T @ inputs).astype(np.float64) + np.diag(penalty)).astype(
            np.float32
        )
        self._weights = (inverse @ sums.T).astype(np.float32)
        leverage = np.einsum("nd,nd->n", inputs @ inverse, inputs)
        self._leverage = np.minimum(leverage, np.float32(0.999))[:, None]

    def _ridge(self, rows: Integers) -> Floats:
        """(r, c) leave-one-out ridge predictions, near 1 for an image's class and 0 for others."""
        found = self._images.vectors[rows] @ self._weights[:-1] + self._weights[-1]
        leverage = self._leverage[rows]
        own = np.arange(len(rows)), self._images.columns[rows]
        found[own] -= leverage[:, 0]
        found /= 1 - leverage
        return np.asarray(found, dtype=np.float32)

    def _fit_prototypes(self) -> None:
        images, classes = self._images, len(self._images.class_ids)
        counts = np.maximum(images.counts, 1)[:, None].astype(np.float32)
        self._sums = sums_by_class(images.vectors, images.columns, classes)
        self._plain_sums = sums_by_class(images.plain, images.columns, classes)
        self._prototypes, self._plain_means = self._sums / counts, self._plain_sums / counts

    def _to_prototypes(self, rows: Integers) -> Floats:
        """(r, c) negative squared distance to each class mean without the image, or the origin."""
        vectors, columns = self._images.vectors[rows], self._images.columns[rows]
        squares = np.einsum("nd,nd->n", vectors, vectors)
        found = 2 * vectors @ self._prototypes.T
        found -= squares[:, None] + np.einsum("cd,cd->c", self._prototypes, self._prototypes)
        left = np.maximum(self._images.counts[columns] - 1, 1)[:, None].astype(np.float32)
        apart = vectors - (self._sums[columns] - vectors) / left
        found[np.arange(len(rows)), columns] = -np.einsum("nd,nd->n", apart, apart)
        return np.asarray(found, dtype=np.float32)


def _temperature(logits: Floats, columns: Integers) -> np.float32:
    """Factor of logits (n, c) that makes the labels most probable."""
    if logits.shape[1] < 2:  # noqa: PLR2004 (of one class all are sure)
        return np.float32(1)
    own = np.arange(len(columns)), columns
    best = max(
        TEMPERATURES,
        key=lambda factor: float(_log_softmax(logits * np.float32(factor))[own].mean()),
    )
    return np.float32(best)


def _log_softmax(logits: Floats) -> Floats:
    return np.log(softmax(logits) + np.float32(LEAST_SHARE))
