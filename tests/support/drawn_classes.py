"""Labelled images around class centres, for tests of suggestions."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from engine.collection.graph_suggestions.class_means import ClassMeans, LabelledVectors, unit
from engine.graph.category_graph import CategoryGraph
from tests.support.graphs import graph_of

WIDTH = 160
"""Random directions are nearly orthogonal in this many dimensions."""
APART = 0.8
"""Length of a class's own part, relative to its family's."""
NOISE = 0.5
"""Length of an image's own part."""

Vector = NDArray[np.float32]


def direction(seed: int) -> Vector:
    """A random direction, nearly orthogonal to those of other seeds."""
    return unit(np.random.default_rng(seed).normal(size=WIDTH).astype(np.float32))


def centre(family: int, member: int) -> Vector:
    """Centre of a class: the family's direction plus its own."""
    return unit(direction(family) + APART * direction(100 + member))


def around(centre_of_class: Vector, count: int, *, seed: int) -> Vector:
    """Images (count, d) around a centre."""
    return unit(
        np.stack(
            [
                centre_of_class + NOISE * direction(10_000 * (seed + 1) + each)
                for each in range(count)
            ]
        )
    )


def known(vectors_of: Mapping[int, Vector]) -> LabelledVectors:
    """Images by class with these vectors; ids count from 1."""
    vectors = np.concatenate(list(vectors_of.values()))
    class_ids = np.concatenate(
        [np.full(len(part), class_id) for class_id, part in vectors_of.items()]
    )
    return LabelledVectors(np.arange(1, len(vectors) + 1), class_ids, vectors, vectors)


def two_families() -> tuple[CategoryGraph, dict[int, Vector]]:
    """Family 1 (id 1) has leaves 2 to 5, family 2 (id 6) 7 to 10, of five images; 11 has none."""
    names = {
        f"Family {family}": [f"Leaf {family}.{leaf}" for leaf in range(4)] for family in (1, 2)
    }
    parents: dict[str, list[str]] = {}
    for family, leaves in names.items():
        parents |= {family: []} | {leaf: [family] for leaf in leaves}
    graph = graph_of(parents | {"Dropped": []})
    placed = [each for each in graph.leaves() if graph.parents(each)]
    return graph, {
        each: around(centre(graph.parents(each)[0], each), 5, seed=each) for each in placed
    }


FIRST_FAMILY = 1
SECOND_FAMILY = 6
DROPPED = 11


def means_of(graph: CategoryGraph, vectors_of: Mapping[int, Vector]) -> ClassMeans:
    """Class means of images."""
    return ClassMeans(graph, known(vectors_of))
