"""Split classes and merged classes as planted faults."""

import numpy as np
from numpy.typing import NDArray

from engine.collection.graph_suggestions.class_means import ClassMeans, LabelledVectors
from engine.collection.graph_suggestions.pairs import find_mixed, find_twins
from engine.graph.category_graph import CategoryGraph
from research.graph_suggestions.drawn import only, relabelled
from research.graph_suggestions.placements import Planted


def planted_twins(images: LabelledVectors, graph: CategoryGraph) -> Planted:
    """Give half of the images of a class to a new sibling, one class at a time.

    A suggested pair of original classes counts as a false alarm, though it may be right.
    """
    half = np.max(np.unique(images.class_ids, return_counts=True)[1]) // 2
    first_half = only(images, _rank(images.class_ids) < half)
    as_it_is = find_twins(ClassMeans(graph, first_half))
    planted = found = 0
    for class_id in np.unique(images.class_ids).tolist():
        rows = np.flatnonzero(images.class_ids == class_id)
        if len(rows) < 2 * half:
            continue
        torn = graph.copy()
        twin = torn.add_class(f"{graph.name(class_id)} (twin)", graph.parents(class_id))
        kept = (_rank(images.class_ids) < half) | (images.class_ids == class_id)
        suggested = find_twins(ClassMeans(torn, only(relabelled(images, rows[half:], twin), kept)))
        planted += 1
        found += any({each.class_id, each.other_id} == {class_id, twin} for each in suggested)
    return Planted(planted, found, found, len(np.unique(images.class_ids)), len(as_it_is))


def planted_mixed(
    images: LabelledVectors,
    whole: LabelledVectors,
    graph: CategoryGraph,
    seed: int,
    *,
    are_siblings: bool,
) -> Planted:
    """Add the images of another class to a class, one class at a time.

    Args:
        images: of each class.
        whole: twice as many of each, so that a class without a fault has as many as a merged one.
        graph: of the classes.
        seed: that draws the other class.
        are_siblings: whether the other class is a sibling.
    """
    generator = np.random.default_rng(seed)
    labelled = np.unique(images.class_ids).tolist()
    planted = found = 0
    purity = 0.0
    for class_id in labelled:
        siblings = {each for parent in graph.parents(class_id) for each in graph.children(parent)}
        pool = [
            each for each in labelled if each != class_id and (each in siblings) == are_siblings
        ]
        if not pool:
            continue
        planted += 1
        other = int(generator.choice(pool))
        rows = np.isin(images.class_ids, [class_id, other])
        together = relabelled(images, images.class_ids == other, class_id)
        for mixed in find_mixed(ClassMeans(graph, only(together, rows))):
            found += 1
            purity += _purity(images, mixed.kinds)
    return Planted(planted, found, purity, len(labelled), len(find_mixed(ClassMeans(graph, whole))))


def _purity(images: LabelledVectors, kinds: tuple[tuple[int, ...], ...]) -> float:
    """Purity of the clusters: share of images in a cluster dominated by their class."""
    most = 0
    for kind in kinds:
        _ids, counts = np.unique(
            images.class_ids[np.isin(images.image_ids, kind)], return_counts=True
        )
        most += int(counts.max())
    return most / sum(map(len, kinds))


def _rank(class_ids: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rank (n,) of each image among those of its class."""
    order = np.argsort(class_ids, kind="stable")
    rank = np.empty(len(class_ids), dtype=np.int64)
    rank[order] = np.arange(len(order)) - np.searchsorted(class_ids[order], class_ids[order])
    return rank
