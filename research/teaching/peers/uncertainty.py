"""Methods by uncertainty and diversity: BADGE and DropQuery."""

import numpy as np
from numpy.typing import NDArray

from research.teaching.known import KnownSoFar
from research.teaching.peers.clustered import centres, clusters_of, nearest_each
from research.teaching.peers.drawn import in_random_order

DROPPED = 0.75
"""Dropout rate of embedding components (DropQuery)."""
TRIALS = 3
"""Dropout trials; an image is uncertain where the class differs in more than half (DropQuery)."""


def badge(known: KnownSoFar, count: int) -> NDArray[np.int64]:
    """BADGE (Ash and others 2020): k-means++ on gradients of the last layer; at first random.

    The gradient is the outer product of (probabilities - 1 at the most likely class) and the
    embedding, so that inner products of gradients are products of those of their factors.
    """
    if known.fitted is None:
        return in_random_order(known, count)
    blame = known.chances(known.free)
    blame[np.arange(len(blame)), blame.argmax(axis=1)] -= 1
    vectors, squares = known.floats[known.free], (blame**2).sum(axis=1)
    generator = known.generator()
    chosen = [int(squares.argmax())]
    nearest = np.full(len(squares), np.inf)
    while len(chosen) < count:
        last = chosen[-1]
        products = (blame @ blame[last]) * (vectors @ vectors[last])
        nearest = np.minimum(nearest, np.maximum(squares + squares[last] - 2 * products, 0))
        nearest[chosen] = 0
        chosen.append(int(generator.choice(len(nearest), p=nearest / nearest.sum())))
    return known.free[chosen]


def dropquery(known: KnownSoFar, count: int) -> NDArray[np.int64]:
    """DropQuery (Gupte and others 2024): cluster centres of images that change under dropout.

    Before any label, cluster centres of all images, as its authors do.
    """
    if known.fitted is None:
        return centres(known, count)
    vectors, generator = known.floats[known.free], known.generator()
    usual = known.fitted.classify_new(vectors).best
    changes = np.zeros(len(vectors), dtype=np.int64)
    for _ in range(TRIALS):
        kept = vectors * (generator.random(vectors.shape) >= DROPPED)
        kept /= np.maximum(np.linalg.norm(kept, axis=1, keepdims=True), 1e-9)
        changes += known.fitted.classify_new(kept.astype(np.float32)).best != usual
    uncertain = np.flatnonzero(changes > TRIALS / 2)
    if len(uncertain) <= count:
        return known.free[np.argsort(-changes, kind="stable")[:count]]
    middles, _ = clusters_of(vectors[uncertain], count, known.seed)
    return known.free[uncertain[nearest_each(vectors[uncertain], middles)]]
