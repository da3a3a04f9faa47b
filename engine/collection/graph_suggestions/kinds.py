"""A class whose images fall into two kinds that have no more in common than two classes."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.collection.graph_suggestions.class_means import ClassMeans, Matrix, labelled_vectors, unit, whitening_of
from engine.collection.graph_suggestions.twins import Similarity, similarity_of
from engine.collection.live import LiveCollection
from engine.everyday.classifier import FittedClassifier
from engine.everyday.shots import Shots
from engine.graph.category_graph import CategoryGraph

FEWEST_OF_A_KIND: Final = 3
"""Two images might be one thing photographed twice."""
MOST_RATIO: Final = 0.1
"""Similarity between the kinds over that within them. Chosen: of classes put together at random 19 in 20 have less, of
whole ones 1 in 10 (decision 65)."""
STARTS: Final = 6
"""Pairs of images least alike that two-means starts from."""
ROUNDS: Final = 20
"""Of two-means, after which it has settled or never will."""
MOST_IMAGES: Final = 400
"""Labelled images of a class that are sorted into kinds; a class with more is split by hand for the rest."""


@dataclass(frozen=True)
class Mixed:
    """A class that looks like two."""

    class_id: int  # the class
    kinds: tuple[tuple[int, ...], ...]  # image ids of both kinds, the larger one first
    similarity: Similarity  # of the kinds


def kinds_of(live: LiveCollection, class_id: int) -> tuple[tuple[int, ...], ...]:
    """The two kinds that a class's labelled images fall into, however unlike these are: for splitting it.

    Returns:
        Image ids of each kind, the larger one first; nothing where there are too few images, or no embeddings.
    """
    fitted, graph = live.fitted, live.project.classes.graph
    return () if fitted is None or class_id not in graph else all_kinds(fitted, graph, class_id)


def all_kinds(fitted: FittedClassifier, graph: CategoryGraph, class_id: int) -> tuple[tuple[int, ...], ...]:
    """The same of a model that was fitted to a graph with this class; up to `MOST_IMAGES` labelled images."""
    rows = np.flatnonzero(fitted.shots.class_ids == class_id)
    shots = Shots(fitted.shots.image_ids[rows], fitted.shots.class_ids[rows], fitted.shots.embeddings[rows])
    images = labelled_vectors(shots, graph, whitening_of(fitted), most=MOST_IMAGES)
    is_second = two_kinds(images.vectors)
    return () if is_second is None else _ids(images.image_ids, is_second)


def find_mixed(means: ClassMeans) -> tuple[Mixed, ...]:
    """Classes without children that look like two, the most clearly so first; a coarse class is many kinds anyway."""
    images, found = means.images, []
    for class_id in means.labelled.tolist():
        if means.graph.children(class_id):
            continue
        rows = means.own_rows(class_id)
        is_second = two_kinds(images.vectors[rows])
        if is_second is None:
            continue
        similarity = similarity_of(images.vectors[rows[~is_second]], images.vectors[rows[is_second]])
        if similarity.ratio <= MOST_RATIO:
            found.append(Mixed(class_id, _ids(images.image_ids[rows], is_second), similarity))
    return tuple(sorted(found, key=lambda mixed: mixed.similarity.ratio))


def two_kinds(vectors: Matrix) -> NDArray[np.bool_] | None:
    """Part images (n, d) of length 1 in two by two-means on directions, from several starts.

    Returns:
        (n,) bool, which are of the second kind; None where no parting leaves `FEWEST_OF_A_KIND` in both.
    """
    count = len(vectors)
    if count < 2 * FEWEST_OF_A_KIND:
        return None
    cosines = vectors @ vectors.T
    first, second = np.triu_indices(count, 1)
    furthest = np.argsort(cosines[first, second], kind="stable")[:STARTS]
    parted: list[tuple[float, NDArray[np.bool_]]] = []
    for pair in furthest.tolist():
        is_second = _settled(vectors, cosines[second[pair]] > cosines[first[pair]])
        if FEWEST_OF_A_KIND <= is_second.sum() <= count - FEWEST_OF_A_KIND:
            lengths = [np.linalg.norm(vectors[part].sum(axis=0)) for part in (is_second, ~is_second)]
            parted.append((float(sum(lengths)), is_second))
    return max(parted, key=lambda each: each[0])[1] if parted else None


def _settled(vectors: Matrix, is_second: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Two-means from a first parting until nothing changes any more."""
    for _ in range(ROUNDS):
        if is_second.all() or not is_second.any():
            break
        centres = unit(np.stack([vectors[~is_second].mean(axis=0), vectors[is_second].mean(axis=0)]))
        near = vectors @ centres.T
        moved = near[:, 1] > near[:, 0]
        if (moved == is_second).all():
            break
        is_second = moved
    return is_second


def _ids(image_ids: NDArray[np.int64], is_second: NDArray[np.bool_]) -> tuple[tuple[int, ...], ...]:
    kinds = (tuple(image_ids[~is_second].tolist()), tuple(image_ids[is_second].tolist()))
    return tuple(sorted(kinds, key=len, reverse=True))
