"""Methods that cluster all images: k-means centres, and TypiClust."""

import numpy as np
from numpy.typing import NDArray

from research.teaching.known import KnownSoFar

NEIGHBOURS = 20
"""Neighbours in a cluster whose mean distance is the typicality of an image (TypiClust)."""
MOST_CLUSTERS = 500
"""TypiClust's limit."""
FEWEST_IMAGES = 5
"""Smaller clusters come last (TypiClust)."""

Matrix = NDArray[np.float32]


def clusters_of(vectors: Matrix, count: int, seed: int) -> tuple[Matrix, NDArray[np.int64]]:
    """Centres (count, d) of k-means, and each vector's cluster (n,); vectors have length 1.

    Initialised by k-means++ with matrix products: the library's own takes fifteen times as long for
    hundreds of clusters.
    """
    from sklearn.cluster import KMeans

    generator = np.random.default_rng(seed)
    first = [int(generator.integers(len(vectors)))]
    squared = np.full(len(vectors), np.inf)
    while len(first) < count:
        squared = np.minimum(squared, np.maximum(2 - 2 * vectors @ vectors[first[-1]], 0))
        first.append(int(generator.choice(len(vectors), p=squared / squared.sum())))
    found = KMeans(count, init=vectors[first], n_init=1).fit(vectors)
    return found.cluster_centers_.astype(np.float32), found.labels_.astype(np.int64)


def nearest_each(vectors: Matrix, centres: Matrix) -> NDArray[np.int64]:
    """For each centre in turn the nearest vector that is not taken yet."""
    squared = (centres**2).sum(axis=1)[:, None] - 2 * centres @ vectors.T + (vectors**2).sum(axis=1)
    taken: list[int] = []
    for far in squared:
        far[taken] = np.inf
        taken.append(int(far.argmin()))
    return np.array(taken, dtype=np.int64)


def centres(known: KnownSoFar, count: int) -> NDArray[np.int64]:
    """K-means with as many clusters as labels; the central image of each unlabelled cluster."""
    middles, cluster_of = clusters_of(known.floats, len(known.labelled) + count, known.seed)
    uncovered = _uncovered(cluster_of, known.labelled, len(middles))[:count]
    return known.free[nearest_each(known.floats[known.free], middles[uncovered])]


def typiclust(known: KnownSoFar, count: int) -> NDArray[np.int64]:
    """TypiClust (Hacohen and others 2022): the most typical image of the largest clusters."""
    wanted = min(len(known.labelled) + count, MOST_CLUSTERS)
    _, cluster_of = clusters_of(known.floats, wanted, known.seed)
    sizes = np.bincount(cluster_of, minlength=wanted)
    labels = np.bincount(cluster_of[known.labelled], minlength=wanted)
    is_free = np.zeros(len(known.floats), dtype=bool)
    is_free[known.free] = True
    chosen: list[int] = []
    while len(chosen) < count:
        has_free = np.bincount(cluster_of[is_free], minlength=wanted) > 0
        order = np.lexsort((-sizes, sizes < FEWEST_IMAGES, labels, ~has_free))
        members = np.flatnonzero(cluster_of == order[0])
        typical = np.where(is_free[members], _typicality(known.floats[members]), -1)
        chosen.append(int(members[typical.argmax()]))
        is_free[chosen[-1]] = False
        labels[order[0]] += 1
    return np.array(chosen, dtype=np.int64)


def _uncovered(
    cluster_of: NDArray[np.int64], labelled: NDArray[np.int64], count: int
) -> NDArray[np.int64]:
    """Clusters without a label first, the largest first."""
    sizes = np.bincount(cluster_of, minlength=count)
    labels = np.bincount(cluster_of[labelled], minlength=count)
    return np.lexsort((-sizes, labels))


def _typicality(vectors: Matrix) -> NDArray[np.float64]:
    """Inverse of the mean distance (m,) to the nearest others; 1 for a single one."""
    if len(vectors) == 1:
        return np.ones(1)
    distances = np.sqrt(np.maximum(2 - 2 * vectors @ vectors.T, 0))
    nearest = np.sort(distances, axis=1)[:, 1 : NEIGHBOURS + 1]
    return 1 / (nearest.mean(axis=1).astype(np.float64) + 1e-5)
