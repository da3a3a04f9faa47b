"""The affine map at the end of the bundled backbone, which makes its stages comparable.

The scatter of embeddings within classes is estimated on a labelled image set. Every direction is
divided by a power of that scatter (by the scatter itself this is within-class whitening, the first
half of linear discriminant analysis; the everyday model whitens once more, by the collection).
Early stages, which carry colour and texture, are kept whole. Of the last stage, the widest and most
specific to the training classes, only the discriminative directions are kept.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SHRINKAGE = 0.1
"""Share of the mean scatter that is added to the scatter of each direction."""
WHITENING = 0.25
"""0 leaves the directions unchanged, 1 equalises the scatter."""
LAST_DIRECTIONS = 48
LAST_SHARE = 0.5
"""Length of the last stage's part, relative to the early stages' part."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class EmbeddingHead:
    """An affine map x -> matrix (x - mean): `mean` (d_in,), `matrix` (d, d_in), float64."""

    mean: Floats
    matrix: Floats

    def apply(self, features: Floats) -> Floats:
        """Map features (n, d_in) to (n, d)."""
        return (features - self.mean) @ self.matrix.T


def fit_head(
    features: NDArray[np.float32], targets: NDArray[np.int64], widths: Sequence[int]
) -> EmbeddingHead:
    """Fit the map to features of all stages, of a labelled image set not used in training.

    Args:
        features: (n, sum of widths), concatenated features of all stages.
        targets: (n,) class of each image.
        widths: features of each stage.

    Returns:
        A map to sum(widths[:-1]) + 48 numbers (fewer when there are not as many classes).
    """
    wide = features.astype(np.float64)
    mean = wide.mean(axis=0)
    early = sum(widths[:-1])
    first = _whitening(wide[:, :early], targets)
    last = _whitening(wide[:, early:], targets)
    telling = last @ _telling_directions((wide[:, early:] - mean[early:]) @ last, targets)
    lengths = [
        np.linalg.norm((part - part.mean(axis=0)) @ matrix, axis=1).mean()
        for part, matrix in ((wide[:, :early], first), (wide[:, early:], telling))
    ]
    matrix = np.zeros((first.shape[1] + telling.shape[1], wide.shape[1]))
    matrix[: first.shape[1], :early] = first.T
    matrix[first.shape[1] :, early:] = telling.T * (LAST_SHARE * lengths[0] / lengths[1])
    return EmbeddingHead(mean, matrix)


def _class_means(features: Floats, targets: NDArray[np.int64]) -> Floats:
    return np.stack(
        [features[targets == target].mean(axis=0) for target in range(int(targets.max()) + 1)]
    )


def _whitening(features: Floats, targets: NDArray[np.int64]) -> Floats:
    """(d, d): makes the scatter of features within classes more even."""
    inner = features - _class_means(features, targets)[targets]
    variances, directions = np.linalg.eigh(inner.T @ inner / len(inner))
    return directions * (variances + SHRINKAGE * variances.mean()) ** (-WHITENING / 2)


def _telling_directions(whitened: Floats, targets: NDArray[np.int64]) -> Floats:
    """(d, k): the directions in which class means differ most."""
    means = _class_means(whitened, targets)
    directions = np.linalg.svd(means - means.mean(axis=0), full_matrices=False)[2]
    return directions[:LAST_DIRECTIONS].T
