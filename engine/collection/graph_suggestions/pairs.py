"""Find classes to merge or to split: two that look like one, and one that looks like two."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from engine.arrays import Flags, Floats, Integers
from engine.collection.graph_suggestions.class_means import (
    BLOCK,
    ClassMeans,
    labelled_vectors,
    unit,
    whitening_of,
)
from engine.collection.live import LiveCollection
from engine.everyday.classifier import ProjectClassifier
from engine.everyday.shots import Shots
from engine.graph.category_graph import CategoryGraph

FEWEST_IMAGES = 4  # of each of two classes
LEAST_RATIO = 0.8
"""Of similarity between over within two classes. Chosen: 8 of 10 twins, 1 of 100 others
(decision 83)."""
LEAST_CONFUSED = 0.25
"""Share of images more similar to the other class than to their own; 0.5 by chance."""
SMALLEST_WITHIN = 0.02  # similarity within a class: the ratio to less is meaningless
FEWEST_OF_A_KIND = 3  # images: two might be photos of one object
MOST_RATIO = 0.1
"""Of two kinds. Chosen: 19 in 20 classes merged at random, 1 in 10 others (decision 83)."""
STARTS = 6  # pairs of least similar images to start two-means from
ROUNDS = 20  # most iterations of two-means
MOST_IMAGES = 400  # labelled images of a class to cluster


@dataclass(frozen=True)
class Similarity:
    """Similarity between and within two groups of images."""

    between: float  # mean cosine of images of one with images of the other
    within: float  # mean cosine of images of the same group
    confused: int  # images more similar to the other group than to the rest of their own
    count: int  # images of both

    @property
    def ratio(self) -> float:
        """1 for one group split at random; 0 or less for groups without anything in common."""
        return self.between / max(self.within, SMALLEST_WITHIN)


@dataclass(frozen=True)
class Twins:
    """Two classes that look like one."""

    class_id: int  # the one with fewer images, to be merged into the other
    other_id: int
    similarity: Similarity

    @property
    def key(self) -> str:
        first, second = sorted((self.class_id, self.other_id))
        return f"twins {first} {second}"


def similarity_of(first: Floats, second: Floats) -> Similarity:
    """Compare two groups of at least two images each, by vectors of length 1."""
    both = first @ second.T
    own_first, own_second = _to_others(first), _to_others(second)
    confused = int((both.mean(axis=1) > own_first).sum() + (both.mean(axis=0) > own_second).sum())
    count = len(first) + len(second)
    within = (own_first.sum() + own_second.sum()) / count
    return Similarity(float(both.mean()), float(within), confused, count)


def find_twins(means: ClassMeans, check: Callable[[], None] = lambda: None) -> tuple[Twins, ...]:
    """Find pairs of confused classes, neither an ancestor of the other, the most similar first.

    Each class is compared with the most similar one; `check` is called in between and may raise.
    """
    images = means.images
    found: dict[tuple[int, int], Twins] = {}
    for class_id, other_id in _most_alike(means, check):
        pair = min(class_id, other_id), max(class_id, other_id)
        if pair in found:
            continue
        rows, other_rows = means.own_rows(class_id), means.own_rows(other_id)
        similarity = similarity_of(images.vectors[rows], images.vectors[other_rows])
        if (
            similarity.ratio >= LEAST_RATIO
            and similarity.confused >= LEAST_CONFUSED * similarity.count
        ):
            smaller, larger = sorted(pair, key=lambda each: (len(means.own_rows(each)), -each))
            found[pair] = Twins(smaller, larger, similarity)
    return tuple(sorted(found.values(), key=lambda twins: -twins.similarity.ratio))


def _most_alike(means: ClassMeans, check: Callable[[], None]) -> Iterator[tuple[int, int]]:
    """Pairs of a class with enough images and the most similar one that is not a relative of it."""
    graph, places = means.graph, np.flatnonzero(means.counts >= FEWEST_IMAGES)
    ids, own = means.labelled[places].tolist(), means.own[places]
    column_of = {class_id: column for column, class_id in enumerate(ids)}
    for start in range(0, len(ids), BLOCK):
        check()
        cosines = own[start : start + BLOCK] @ own.T
        for row, class_id in enumerate(ids[start : start + BLOCK]):
            line = (
                graph.ancestors(class_id) | graph.descendants(class_id) | {class_id}
            ) & column_of.keys()
            cosines[row, [column_of[each] for each in line]] = -np.inf
            best = int(np.argmax(cosines[row]))
            if np.isfinite(cosines[row, best]):
                yield class_id, ids[best]


def _to_others(vectors: Floats) -> Floats:
    """Mean cosine (n,) of each image with the others."""
    alike: Floats = (vectors @ vectors.sum(axis=0) - (vectors**2).sum(axis=1)) / (len(vectors) - 1)
    return alike


@dataclass(frozen=True)
class Mixed:
    """A class that looks like two."""

    class_id: int
    kinds: tuple[tuple[int, ...], ...]  # image ids of both kinds, the larger one first
    similarity: Similarity  # of the kinds

    @property
    def key(self) -> str:
        return f"mixed {self.class_id}"


def kinds_of(live: LiveCollection, class_id: int) -> tuple[tuple[int, ...], ...]:
    """Cluster the labelled images of a class: ids of both kinds, the larger one first, or ()."""
    fitted, graph = live.fitted, live.project.classes.graph
    return () if fitted is None or class_id not in graph else all_kinds(fitted, graph, class_id)


def all_kinds(
    fitted: ProjectClassifier, graph: CategoryGraph, class_id: int
) -> tuple[tuple[int, ...], ...]:
    """Cluster up to `MOST_IMAGES` shots of a class of a model; as `kinds_of`."""
    rows = np.flatnonzero(fitted.shots.class_ids == class_id)
    shots = Shots(
        fitted.shots.image_ids[rows], fitted.shots.class_ids[rows], fitted.shots.embeddings[rows]
    )
    images = labelled_vectors(shots, graph, whitening_of(fitted), most=MOST_IMAGES)
    is_second = two_kinds(images.vectors)
    return () if is_second is None else _ids(images.image_ids, is_second)


def find_mixed(means: ClassMeans) -> tuple[Mixed, ...]:
    """Find leaf classes that look like two, the clearest first."""
    images, found = means.images, []
    for class_id in means.labelled.tolist():
        if means.graph.children(class_id):
            continue
        rows = means.own_rows(class_id)
        is_second = two_kinds(images.vectors[rows])
        if is_second is None:
            continue
        similarity = similarity_of(
            images.vectors[rows[~is_second]], images.vectors[rows[is_second]]
        )
        if similarity.ratio <= MOST_RATIO:
            found.append(Mixed(class_id, _ids(images.image_ids[rows], is_second), similarity))
    return tuple(sorted(found, key=lambda mixed: mixed.similarity.ratio))


def two_kinds(vectors: Floats) -> Flags | None:
    """(n,) which unit vectors (n, d) are in the second two-means cluster; None if one is small."""
    count = len(vectors)
    if count < 2 * FEWEST_OF_A_KIND:
        return None
    cosines = vectors @ vectors.T
    first, second = np.triu_indices(count, 1)
    furthest = np.argsort(cosines[first, second], kind="stable")[:STARTS]
    parted: list[tuple[float, Flags]] = []
    for pair in furthest.tolist():
        is_second = _settled(vectors, cosines[second[pair]] > cosines[first[pair]])
        if FEWEST_OF_A_KIND <= is_second.sum() <= count - FEWEST_OF_A_KIND:
            halves = vectors[is_second].sum(axis=0), vectors[~is_second].sum(axis=0)
            parted.append((float(sum(map(np.linalg.norm, halves))), is_second))
    return max(parted, key=lambda each: each[0])[1] if parted else None


def _settled(vectors: Floats, is_second: Flags) -> Flags:
    """Iterate two-means from a first split until it converges."""
    for _ in range(ROUNDS):
        if is_second.all() or not is_second.any():
            break
        centres = unit(
            np.stack([vectors[~is_second].mean(axis=0), vectors[is_second].mean(axis=0)])
        )
        near = vectors @ centres.T
        moved = near[:, 1] > near[:, 0]
        if (moved == is_second).all():
            break
        is_second = moved
    return is_second


def _ids(image_ids: Integers, is_second: Flags) -> tuple[tuple[int, ...], ...]:
    kinds = (tuple(image_ids[~is_second].tolist()), tuple(image_ids[is_second].tolist()))
    return tuple(sorted(kinds, key=len, reverse=True))
