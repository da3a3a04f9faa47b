"""Random order, least margin, and coreset."""

import numpy as np
from numpy.typing import NDArray

from research.teaching.known import KnownSoFar


def in_random_order(known: KnownSoFar, count: int) -> NDArray[np.int64]:
    """A random order, the same for all rounds of a draw."""
    order = np.random.default_rng(known.seed).permutation(len(known.floats))
    return order[~np.isin(order, known.labelled)][:count]


def least_margin(known: KnownSoFar, count: int) -> NDArray[np.int64]:
    """Smallest margin between the two top classes; at random before any label."""
    if known.fitted is None:
        return in_random_order(known, count)
    best = np.sort(known.chances(known.free), axis=1)[:, -2:]
    return known.free[np.argsort(best[:, 1] - best[:, 0], kind="stable")[:count]]


def coreset(known: KnownSoFar, count: int) -> NDArray[np.int64]:
    """Coreset (Sener and Savarese 2018): greedily the image furthest from all selected ones."""
    chosen = list(known.labelled.tolist()) or [int(known.generator().integers(len(known.floats)))]
    first = len(known.labelled)
    nearest = (known.floats @ known.floats[chosen].T).max(axis=1)
    while len(chosen) < first + count:
        chosen.append(int(nearest.argmin()))
        nearest = np.maximum(nearest, known.floats @ known.floats[chosen[-1]])
    return np.array(chosen[first:], dtype=np.int64)
