"""A category graph as arrays, as models take it."""

from collections.abc import Sequence

import numpy as np

from engine.arrays import Floats, Integers
from engine.graph.category_graph import CategoryGraph, ClassId


def edge_index(graph: CategoryGraph, classes: Sequence[ClassId]) -> Integers:
    """Edges among distinct classes, (2, E) int64: positions of parent and child.

    They are ordered by child, then by the parent's id.

    Raises:
        UnknownClassError: a class is not in the graph.
    """
    position_of = {class_id: position for position, class_id in enumerate(classes)}
    pairs = [
        (position_of[parent_id], position)
        for class_id, position in position_of.items()
        for parent_id in graph.parents(class_id)
        if parent_id in position_of
    ]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2).T.copy()


def roll_up_matrix(
    graph: CategoryGraph, classes: Sequence[ClassId], leaves: Sequence[ClassId]
) -> Floats:
    """Roll-up (L, C) float32: 1 where the leaf is the class or below it.

    A leaf that is reachable on two paths counts once. Any classes will do for leaves.

    Raises:
        UnknownClassError: a leaf is not in the graph.
    """
    column_of = {class_id: column for column, class_id in enumerate(classes)}
    matrix = np.zeros((len(leaves), len(classes)), dtype=np.float32)
    for row, leaf in enumerate(leaves):
        for class_id in (leaf, *graph.ancestors(leaf)):
            if (column := column_of.get(class_id)) is not None:
                matrix[row, column] = 1.0
    return matrix
