"""Ancestors of classes, over edges between positions."""

import numpy as np
from numpy.typing import NDArray


def is_above(
    classes: NDArray[np.int64], edge_index: NDArray[np.int64], class_count: int
) -> NDArray[np.bool_]:
    """Mark some classes and all their ancestors.

    Args:
        classes: positions, int64.
        edge_index: (2, E) int64 without cycles: row 0 parent, row 1 child.
        class_count: C.

    Returns:
        (C,) bool.
    """
    marked = np.zeros(class_count, dtype=np.bool_)
    marked[classes] = True
    while True:
        parents = edge_index[0, marked[edge_index[1]]]
        if marked[parents].all():
            return marked
        marked[parents] = True
