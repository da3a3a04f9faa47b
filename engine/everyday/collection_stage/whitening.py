"""Whitening by the collection's own covariance: directions in which all images differ anyway count less."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.everyday.blocks import one_thread_each, stop_if_asked
from engine.everyday.fixed_point import Embeddings, to_floats

LEAST_SHRINKAGE: Final = 0.1
"""Share of the mean variance in every direction's variance, however many images there are."""
MOST_IMAGES: Final = 20_000
"""More images than this are sampled: the covariance no longer changes."""
LEAST_VARIANCE: Final = 1e-7
"""Summed variance of unit-length embeddings below which all images are the same: 16 bits tell no less apart."""

Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class Whitening:
    """A shift and a rotation with scales.

    Attributes:
        mean: (d,) float32.
        matrix: (d, d) float32; (embedding - mean) @ matrix has the same variance in every direction.
    """

    mean: Matrix
    matrix: Matrix

    def apply(self, embeddings: Embeddings) -> Matrix:
        """Whitened embeddings (n, d) float32 of length 1; an image at the mean stays at zero."""
        moved = (to_floats(embeddings) - self.mean) @ self.matrix
        lengths = np.sqrt(np.einsum("nd,nd->n", moved, moved))[:, None]
        return (moved / np.maximum(lengths, np.float32(1e-6))).astype(np.float32)


def shrinkage_for(images: int, width: int) -> float:
    """Share of the mean variance in every direction's: few images do not tell the directions apart."""
    return max(LEAST_SHRINKAGE, width / (images + width))


@one_thread_each
def whitening_of(embeddings: Embeddings) -> Whitening | None:
    """Learn the whitening of a collection.

    Args:
        embeddings: (n, d), n any number.

    Returns:
        None when the images do not differ, or there are fewer than two.
    """
    step = -(-len(embeddings) // MOST_IMAGES)
    sample = to_floats(embeddings[:: max(step, 1)])
    if len(sample) < 2:  # noqa: PLR2004 (one image has no variance)
        return None
    stop_if_asked()
    mean = sample.mean(axis=0)
    centred = sample - mean
    covariance = (centred.T @ centred).astype(np.float64) / len(sample)
    stop_if_asked()
    variance, directions = np.linalg.eigh(covariance)
    variance = np.maximum(variance, 0)
    if variance.sum() < LEAST_VARIANCE:
        return None
    shrinkage = shrinkage_for(*sample.shape)
    shrunk = (1 - shrinkage) * variance + shrinkage * variance.mean()
    return Whitening(mean.astype(np.float32), (directions / np.sqrt(shrunk)).astype(np.float32))
