"""Prototypes on a map, with the edges of the graph between them (the paper's Figure 1)."""

from dataclasses import dataclass

import numpy as np

from engine.arrays import Doubles, Floats, Integers, no_integers
from engine.collection.live import LiveCollection
from engine.map.image_map import ImageMap

MOST = 600
"""Maximum number of prototypes; classes with most images first. Chosen: still legible."""


@dataclass(frozen=True)
class MapPrototypes:
    """Prototypes (c, d) of classes, and the edges between them."""

    class_ids: Integers  # (c,) ascending
    vectors: Floats  # (c, d)
    edges: tuple[tuple[int, int], ...]  # indices of parents and children


def prototypes_of(live: LiveCollection, most: int = MOST) -> MapPrototypes:
    """Prototypes of the fitted model; none before the first fit."""
    graph, fitted, width = live.project.classes.graph, live.fitted, live.model.card.embedding_width
    if fitted is None:
        return MapPrototypes(no_integers(), np.zeros((0, width), dtype=np.float32), ())
    counts, shots = live.state.image_counts, live.state.shot_counts
    by_size = sorted(counts.keys() | shots.keys(), key=lambda each: (-counts.get(each, 0), each))
    found = {
        each: vector
        for each in by_size
        if each in graph and (vector := fitted.prototype(each)) is not None
    }
    class_ids = sorted(list(found)[:most])
    place_of = {class_id: place for place, class_id in enumerate(class_ids)}
    edges = tuple(
        (place_of[parent], place)
        for class_id, place in place_of.items()
        for parent in graph.parents(class_id)
        if parent in place_of
    )
    vectors = np.array([found[each] for each in class_ids], dtype=np.float32).reshape(
        len(class_ids), width
    )
    return MapPrototypes(np.array(class_ids, dtype=np.int64), vectors, edges)


def placed(made: ImageMap, prototypes: MapPrototypes) -> Doubles:
    """Places (c, 2) of prototypes, by the most similar images."""
    vectors = prototypes.vectors
    lengths = np.maximum(np.sqrt(np.einsum("cd,cd->c", vectors, vectors)), 1e-9)[:, None]
    return made.place((vectors / lengths).astype(np.float32)).astype(np.float64)
