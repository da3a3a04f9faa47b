"""The edges among chosen classes as an array, the form in which the model takes a graph."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.graph.category_graph import CategoryGraph, ClassId


def edge_index(graph: CategoryGraph, classes: Sequence[ClassId]) -> NDArray[np.int64]:
    """List the edges whose both ends are among the classes.

    Args:
        graph: the category graph.
        classes: the classes in the order of the model's rows, without repeats.

    Returns:
        (2, E) int64: row 0 the parent's position in `classes`, row 1 the child's; by child, then by the parent's id.

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
