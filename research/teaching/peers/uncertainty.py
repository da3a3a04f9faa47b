"""Methods that weigh the model's doubt and the images' variety: BADGE and DropQuery."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from research.teaching.known import KnownSoFar
from research.teaching.peers.clustered import centres, clusters_of, nearest_each
from research.teaching.peers.drawn import in_random_order

DROPPED: Final = 0.75
"""Share of an embedding's components that are left out (DropQuery)."""
TRIALS: Final = 3
"""Times that components are left out; an image is in doubt where the class differs in more than half (DropQuery)."""


def badge(known: KnownSoFar, count: int) -> NDArray[np.int64]:
    """BADGE (Ash and others 2020): k-means++ on the gradients of the last layer; at random before any label.

    The gradient is the outer product of (probabilities - 1 at the most likely class) and the embedding, so that
    products of two gradients are those of their parts.
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
    """DropQuery (Gupte and others 2024): centres of clusters of the images whose class changes under dropout.

    Before any label its authors start from the centres of clusters of everything.
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
