"""Two classes whose images nobody could tell apart: perhaps one class with two names."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.collection.graph_suggestions.class_means import BLOCK, ClassMeans, Matrix

FEWEST_IMAGES: Final = 4
"""Of each of both classes: of fewer nothing can be said."""
LEAST_RATIO: Final = 0.8
"""Similarity between classes over that within them. Chosen: 8 of 10 twins have it, 1 of 100 others (decision 65)."""
LEAST_CONFUSED: Final = 0.25
"""Share of both classes' images that are more like the other class than like the rest of their own; 0.5 by chance."""

SMALLEST_WITHIN: Final = 0.02
"""Images of one class that are no more alike than this are nothing to compare with."""


@dataclass(frozen=True)
class Similarity:
    """Two groups of images side by side."""

    between: float  # mean cosine of images of one with images of the other
    within: float  # mean cosine of images of the same group
    confused: int  # images that are more like the other group than like the rest of their own
    count: int  # images of both

    @property
    def ratio(self) -> float:
        """1 where the groups might as well be one; 0 or less where they have nothing in common."""
        return self.between / max(self.within, SMALLEST_WITHIN)


@dataclass(frozen=True)
class Twins:
    """A pair that looks like one class."""

    class_id: int  # that with fewer images, which would be merged into the other
    other_id: int  # the other
    similarity: Similarity  # how they were told apart, or not


def similarity_of(first: Matrix, second: Matrix) -> Similarity:
    """Compare two groups of at least two images each, by vectors of length 1."""
    both = first @ second.T
    own_first, own_second = _to_others(first), _to_others(second)
    confused = int((both.mean(axis=1) > own_first).sum() + (both.mean(axis=0) > own_second).sum())
    count = len(first) + len(second)
    within = (own_first.sum() + own_second.sum()) / count
    return Similarity(float(both.mean()), float(within), confused, count)


def find_twins(means: ClassMeans, check: Callable[[], None] = lambda: None) -> tuple[Twins, ...]:
    """Pairs of classes, none above the other, whose images are mixed up; the most alike first.

    Of each class only the class most like it is looked at.

    Args:
        means: of all classes with images.
        check: called now and then; may raise.
    """
    images = means.images
    found: dict[tuple[int, int], Twins] = {}
    for class_id, other_id in _most_alike(means, check):
        pair = (min(class_id, other_id), max(class_id, other_id))
        if pair in found:
            continue
        rows, other_rows = means.own_rows(class_id), means.own_rows(other_id)
        similarity = similarity_of(images.vectors[rows], images.vectors[other_rows])
        if similarity.ratio >= LEAST_RATIO and similarity.confused >= LEAST_CONFUSED * similarity.count:
            smaller, larger = sorted(pair, key=lambda each: (len(means.own_rows(each)), -each))
            found[pair] = Twins(smaller, larger, similarity)
    return tuple(sorted(found.values(), key=lambda twins: -twins.similarity.ratio))


def _most_alike(means: ClassMeans, check: Callable[[], None]) -> Iterator[tuple[int, int]]:
    """Each class with enough images, and the one most like it of those that are neither above nor below it."""
    graph, places = means.graph, np.flatnonzero(means.counts >= FEWEST_IMAGES)
    ids, own = means.labelled[places].tolist(), means.own[places]
    column_of = {class_id: column for column, class_id in enumerate(ids)}
    for start in range(0, len(ids), BLOCK):
        check()
        cosines = own[start : start + BLOCK] @ own.T
        for row, class_id in enumerate(ids[start : start + BLOCK]):
            line = (graph.ancestors(class_id) | graph.descendants(class_id) | {class_id}) & column_of.keys()
            cosines[row, [column_of[each] for each in line]] = -np.inf
            best = int(np.argmax(cosines[row]))
            if np.isfinite(cosines[row, best]):
                yield class_id, ids[best]


def _to_others(vectors: Matrix) -> NDArray[np.float32]:
    """Mean cosine (n,) of each image with the others."""
    alike: NDArray[np.float32] = (vectors @ vectors.sum(axis=0) - (vectors**2).sum(axis=1)) / (len(vectors) - 1)
    return alike
