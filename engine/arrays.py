"""Types of arrays by their elements, and arrays without any; shapes are in the docstrings."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]
Pixels = NDArray[np.uint8]
Codes = NDArray[np.int32]  # class ids, or negative codes for none: as wide as millions of them need
RowOrder = NDArray[np.int32]
Ranks = NDArray[np.int32]
"""Rows in some order, and ranks of rows: for millions of images half the memory of 64 bits."""


def no_integers() -> Integers:
    """An empty array."""
    return np.zeros(0, dtype=np.int64)


def no_flags() -> Flags:
    """An empty array."""
    return np.zeros(0, dtype=np.bool_)


def rows_of(wanted: Integers, ids: Integers) -> tuple[Integers, Flags]:
    """Rows (k,) of wanted ids in ascending ids (n,), and whether each id is there.

    The row of a missing id is arbitrary.
    """
    if not len(ids):
        return np.zeros(len(wanted), dtype=np.int64), np.zeros(len(wanted), dtype=np.bool_)
    rows = np.minimum(np.searchsorted(ids, wanted), len(ids) - 1)
    return rows, ids[rows] == wanted
