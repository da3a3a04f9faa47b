"""ProbCover (Yehuda and others 2022): select images whose balls cover the most others."""

import numpy as np
from numpy.typing import NDArray

from research.teaching.known import KnownSoFar
from research.teaching.peers.clustered import clusters_of

PURITY = 0.95
"""Least share of balls whose images are all of one cluster, at the radius (ProbCover)."""
RADII = np.linspace(0.05, 1.2, 47)
"""Candidates, on embeddings of length 1."""


def probcover(known: KnownSoFar, count: int) -> NDArray[np.int64]:
    """Greedily the image whose ball covers most uncovered images; ties at random."""
    balls = _balls(known)
    is_covered = balls[known.labelled].any(axis=0)
    generator = known.generator()
    is_free = np.zeros(len(balls), dtype=bool)
    is_free[known.free] = True
    chosen: list[int] = []
    for _ in range(count):
        gains = np.where(is_free, balls @ (~is_covered).astype(np.float32), -1)
        chosen.append(int(generator.choice(np.flatnonzero(gains == gains.max()))))
        is_free[chosen[-1]] = False
        is_covered |= balls[chosen[-1]] > 0
    return np.array(chosen, dtype=np.int64)


def _balls(known: KnownSoFar) -> NDArray[np.float32]:
    """(n, n) float32, 1 where an image is in the ball of another."""
    distances = np.sqrt(np.maximum(2 - 2 * known.floats @ known.floats.T, 0))
    _, cluster_of = clusters_of(known.floats, known.classes, known.seed)
    is_other = cluster_of[:, None] != cluster_of
    nearest_other = np.where(is_other, distances, np.inf).min(axis=1)
    pure = [radius for radius in RADII.tolist() if (nearest_other > radius).mean() >= PURITY]
    return (distances <= max(pure, default=RADII[0])).astype(np.float32)
