"""Which leaves lie below which classes: what sums leaf scores up to coarse classes.

A leaf that is reachable on two paths counts once (product: "the summed score of the distinct leaves below it").
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.graph.category_graph import CategoryGraph, ClassId


def roll_up_matrix(graph: CategoryGraph, classes: Sequence[ClassId], leaves: Sequence[ClassId]) -> NDArray[np.float32]:
    """Make the matrix that turns scores of leaves into scores of classes: `scores @ matrix`.

    Args:
        graph: the category graph.
        classes: the classes to score, without repeats; C of them.
        leaves: the classified classes, L of them; usually leaves, though any classes will do.

    Returns:
        (L, C) float32: 1 where the leaf is the class or lies below it, else 0.

    Raises:
        UnknownClassError: a leaf is not in the graph.
    """
    column_of = {class_id: column for column, class_id in enumerate(classes)}
    matrix = np.zeros((len(leaves), len(classes)), dtype=np.float32)
    for row, leaf in enumerate(leaves):
        for class_id in (leaf, *graph.ancestors(leaf)):
            column = column_of.get(class_id)
            if column is not None:
                matrix[row, column] = 1.0
    return matrix
