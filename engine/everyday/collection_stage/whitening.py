"""Whitening by the differences of look-alikes: directions in which photos of one class differ anyway count less.

Mutual nearest neighbours mostly show the same class, so the covariance of their differences estimates, without a label,
the variance within classes. The covariance of all images would also take away what tells classes apart (decision 52).
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.everyday.blocks import Embeddings, Floats, one_thread_each, stop_if_asked, to_floats
from engine.everyday.collection_stage.neighbours import nearest

LEAST_SHRINKAGE: Final = 0.1
"""Share of the mean variance in every direction's variance, however many images there are."""
MOST_IMAGES: Final = 20_000
"""More images than this are sampled: the covariance no longer changes."""
MOST_COMPARED: Final = 3072
"""More images than this are not compared with one another in search of look-alikes."""
LOOK_ALIKES: Final = 3
"""Two images are look-alikes when each is among the so many most alike ones of the other."""
COPY: Final = 0.9999
"""Cosine from which two images are copies of one photo, which say nothing of how photos differ."""
FEWEST_PAIRS: Final = 8
"""Fewer look-alikes than this say nothing."""
LEAST_VARIANCE: Final = 1e-7
"""Summed variance of unit-length embeddings below which all images are the same: 16 bits tell no less apart."""

LEVELLING: Final = 0.8
"""How far directions are brought to one variance: 0 as look-alikes have it, 1 whitens by all images (decision 52)."""
BORROWED: Final = 1.2
"""Share, in shrinkages, of the covariance of all images in that of look-alikes (decision 52)."""
LEAST_NOISE: Final = 0.05
"""Least variance between look-alikes along a direction, of 1 on average."""

Square = NDArray[np.float64]


@dataclass(frozen=True)
class Whitening:
    """A shift and a rotation with scales."""

    mean: Floats  # (d,) float32
    matrix: Floats  # (d, d) float32; (embedding - mean) @ matrix has the same variance in every direction

    def apply(self, embeddings: Embeddings) -> Floats:
        """Whitened embeddings (n, d) float32 of length 1; an image at the mean stays at zero."""
        moved = (to_floats(embeddings) - self.mean) @ self.matrix
        lengths = np.sqrt(np.einsum("nd,nd->n", moved, moved))[:, None]
        return (moved / np.maximum(lengths, np.float32(1e-6))).astype(np.float32)


def shrinkage_for(images: int, width: int) -> float:
    """Share of the mean variance in every direction's: few images do not estimate directions well."""
    return max(LEAST_SHRINKAGE, width / (images + width))


@one_thread_each
def whitening_of(embeddings: Embeddings) -> Whitening | None:
    """Whitening of embeddings (n, d), by all images where look-alikes are few; None if all are equal."""
    sample = to_floats(_spread(embeddings, MOST_IMAGES))
    if len(sample) < 2:  # noqa: PLR2004 (one image has no variance)
        return None
    stop_if_asked()
    mean = sample.mean(axis=0)
    sample = sample - mean
    if float(np.einsum("nd,nd->", sample, sample)) / len(sample) < LEAST_VARIANCE:
        return None
    shrinkage = shrinkage_for(*sample.shape)
    total = _covariance(sample)
    differences = _look_alike_differences(np.ascontiguousarray(_spread(sample, MOST_COMPARED)))
    stop_if_asked()
    if len(differences) < FEWEST_PAIRS:
        matrix = _whitening_matrix(total, shrinkage)
    else:
        matrix = _shrunk(_covariance(differences) / 2, total, shrinkage)
    return Whitening(mean.astype(np.float32), matrix.astype(np.float32))


def _whitening_matrix(covariance: Square, shrinkage: float) -> Square:
    """(d, d): vectors with this covariance, times it, have the same variance in every direction, but for shrinkage."""
    variance, directions = np.linalg.eigh(covariance)
    variance = np.maximum(variance, 0)
    shrunk: Square = directions / np.sqrt((1 - shrinkage) * variance + shrinkage * variance.mean())
    return shrunk


def _shrunk(within: Square, total: Square, shrinkage: float) -> Square:
    """(d, d): whitens within look-alikes, then weighs directions by how far they tell images apart beyond that.

    Where b is the variance between unlike images as a multiple of that between look-alikes, a direction counts by
    sqrt(b / (1 + b)), the share of it that is no noise, and by (1 + b) to the power -`LEVELLING` / 2, so that a few
    directions that tell crates from shelves do not drown those that tell apples apart.

    Look-alikes among few images are often of different classes, so the fewer there are, the more the covariance of all
    images counts; of a few dozen images it is all.
    """
    borrowed = min(1.0, BORROWED * shrinkage)
    within = (1 - borrowed) * within + borrowed * (np.trace(within) / np.trace(total)) * total
    whiten = _whitening_matrix(within, shrinkage)
    variance, directions = np.linalg.eigh(whiten.T @ total @ whiten)
    rotated = whiten @ directions
    noise = np.maximum(np.einsum("dk,de,ek->k", rotated, within, rotated, optimize=True), LEAST_NOISE)
    between = np.maximum(variance - noise, 0) / noise
    weighed: Square = rotated * (np.sqrt(between / (1 + between)) * (1 + between) ** (-LEVELLING / 2))
    return weighed


def _spread(rows: Embeddings, most: int) -> Embeddings:
    """Every so manieth row (k, d), at most so many."""
    return rows[:: max(-(-len(rows) // most), 1)]


def _covariance(vectors: Floats) -> NDArray[np.float64]:
    """Second moments (d, d) of vectors (n, d)."""
    return (vectors.T @ vectors).astype(np.float64) / len(vectors)


def _look_alike_differences(centred: Floats) -> Floats:
    """Differences (p, d) of pairs of images (n, d) that are among each other's `LOOK_ALIKES` most alike ones."""
    lengths = np.sqrt(np.einsum("nd,nd->n", centred, centred))[:, None]
    unit = (centred / np.maximum(lengths, np.float32(1e-6))).astype(np.float32)
    count = len(unit)
    found = nearest(unit, unit, own=np.arange(count))
    near, alike = found.positions[:, :LOOK_ALIKES], found.cosines[:, :LOOK_ALIKES]
    is_pair = (alike > 0) & (alike < COPY)
    pairs = (np.arange(count)[:, None] * count + near)[is_pair]
    mutual = pairs[np.isin(pairs % count * count + pairs // count, pairs)]
    here, there = mutual // count, mutual % count
    return (centred[here] - centred[there])[here < there]
