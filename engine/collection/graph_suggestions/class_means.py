"""Labelled images of each class, and the means of their embeddings."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from engine.arrays import Floats, Integers, no_integers
from engine.everyday.classifier import ProjectClassifier, Space
from engine.everyday.shots import Shots
from engine.graph.category_graph import CategoryGraph

MOST_OF_A_CLASS = 40  # labelled images; more hardly change its mean
FEWEST_TO_WHITEN = 200  # images; with fewer, whitening removes similarity of siblings
BLOCK = 256  # classes that are compared with all others at a time


@dataclass(frozen=True)
class LabelledVectors:
    """Some labelled images of each class."""

    image_ids: Integers  # (n,) int64
    class_ids: Integers  # (n,) int64, the person's class
    # (n, d) float32 of length 1; whitened if there are enough images, else centred on the mean of
    # all classes, so that unrelated images have cosines near 0
    vectors: Floats
    plain: Floats  # (n, d) float32 of length 1, embeddings of the backbone


def labelled_vectors(
    shots: Shots, graph: CategoryGraph, whitening: Space | None, *, most: int = MOST_OF_A_CLASS
) -> LabelledVectors:
    """The first labelled images of each class that is in the graph."""
    order = np.argsort(shots.class_ids, kind="stable")
    sorted_ids = shots.class_ids[order]
    rank = np.arange(len(order)) - np.searchsorted(sorted_ids, sorted_ids)
    gone = [class_id for class_id in np.unique(sorted_ids).tolist() if class_id not in graph]
    rows = np.sort(order[(rank < most) & ~np.isin(sorted_ids, gone)])
    plain = unit(shots.embeddings[rows])
    class_ids = shots.class_ids[rows]
    vectors = _centred(plain, class_ids) if whitening is None else whitening.apply(plain)
    return LabelledVectors(shots.image_ids[rows], class_ids, vectors, plain)


def whitening_of(fitted: ProjectClassifier) -> Space | None:
    """The whitened space of a collection; None for too few images."""
    collection = fitted.figures.collection
    return None if collection is None or collection.images < FEWEST_TO_WHITEN else fitted.space


def unit(vectors: Floats) -> Floats:
    """Normalise vectors to length 1; zero stays zero."""
    lengths = np.sqrt((vectors**2).sum(axis=-1, keepdims=True))
    return (vectors / np.maximum(lengths, np.float32(1e-6))).astype(np.float32)


def _centred(plain: Floats, class_ids: Integers) -> Floats:
    """Directions from the class-balanced mean."""
    labelled, places, counts = np.unique(class_ids, return_inverse=True, return_counts=True)
    if len(labelled) == 0:
        return plain
    return unit(plain - (_sums(plain, places, len(labelled)) / counts[:, None]).mean(axis=0))


@final
class ClassMeans:
    """Means of the images of each class, and of those at or below it, in an unchanged graph."""

    def __init__(self, graph: CategoryGraph, images: LabelledVectors) -> None:
        self.graph = graph
        self.images = images
        # (m,) classes with images of their own, and how many
        self.labelled, places = np.unique(images.class_ids, return_inverse=True)
        self.counts = np.bincount(places, minlength=len(self.labelled))
        self.place_of_labelled = {
            class_id: place for place, class_id in enumerate(self.labelled.tolist())
        }
        self._above = [graph.ancestors(class_id) for class_id in self.labelled.tolist()]
        self._place = {
            each: place
            for place, each in enumerate(sorted({*self.place_of_labelled}.union(*self._above)))
        }
        own_sums = _sums(images.vectors, places, len(self.labelled))
        self.own = unit(own_sums)  # (m, d) directions of the means of these images
        self._all_sums = self._rolled_up(own_sums)
        self._own_plain = _sums(images.plain, places, len(self.labelled))
        self._all_plain = self._rolled_up(self._own_plain)

    def __contains__(self, class_id: object) -> bool:
        return class_id in self._place

    def own_rows(self, class_id: int) -> Integers:
        return self._rows.get(class_id, no_integers())

    def rows_below(self, class_id: int) -> Integers:
        inside = [class_id, *sorted(self.graph.descendants(class_id))]
        return np.concatenate([self.own_rows(each) for each in inside])

    def image_count(self, class_id: int) -> int:
        """Number of images at or below a class that has any."""
        return int(self._all_counts[self._place[class_id]])

    def classes_below(self, class_id: int, without: int) -> int:
        """Number of labelled classes at or below a class, without those at or below another."""
        inside = (self.graph.descendants(class_id) | {class_id}) & self.place_of_labelled.keys()
        return len(inside - self.graph.descendants(without) - {without})

    def mean(self, class_id: int) -> Floats:
        """Direction (d,) of the mean of the images at or below a class that has any."""
        return unit(self._all_sums[self._place[class_id]])

    def closeness(self, class_ids: Sequence[int], to_class: int) -> Floats:
        """Cosine (k,) of a class's plain mean with others without its images; -inf without any."""
        columns = [self._place[each] for each in class_ids]
        column_of = {class_id: column for column, class_id in enumerate(class_ids)}
        sums, left = self._all_plain[columns].copy(), self._all_counts[columns].copy()
        for inside in (to_class, *self.graph.descendants(to_class)):
            if (place := self.place_of_labelled.get(inside)) is not None:
                touched = [
                    column_of[each] for each in (inside, *self._above[place]) if each in column_of
                ]
                sums[touched] -= self._own_plain[place]
                left[touched] -= self.counts[place]
        cosines = unit(sums) @ unit(self._all_plain[self._place[to_class]])
        return np.where(left > 0, cosines, np.float32(-np.inf))

    @cached_property
    def _rows(self) -> dict[int, Integers]:
        order = np.argsort(self.images.class_ids, kind="stable")
        parts = np.split(order, np.cumsum(self.counts)[:-1]) if len(order) else []
        return dict(zip(self.labelled.tolist(), parts, strict=True))

    @cached_property
    def _all_counts(self) -> Integers:
        """Number of images at or below each class: an image has one label only."""
        return self._rolled_up(self.counts[:, None].astype(np.float32))[:, 0].astype(np.int64)

    def _rolled_up(self, own: Floats) -> Floats:
        """Sum values of labelled classes over each class and its distinct descendants."""
        found = np.zeros((len(self._place), own.shape[1]), dtype=np.float32)
        for total, class_id, above in zip(own, self.labelled.tolist(), self._above, strict=True):
            found[[self._place[each] for each in (class_id, *above)]] += total
        return found


def _sums(vectors: Floats, places: Integers, count: int) -> Floats:
    sums = np.zeros((count, vectors.shape[1]), dtype=np.float32)
    np.add.at(sums, places, vectors)
    return sums
