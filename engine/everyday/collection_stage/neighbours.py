"""Nearest neighbours, links along which labels spread between similar photos, and whitening.

Mutual nearest neighbours mostly show the same class, so the covariance of their differences
estimates, without a label, the variance within classes. The covariance of all images would also
take away what tells classes apart (decision 52).
"""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Doubles, Floats, Integers, no_integers
from engine.everyday.blocks import (
    Embeddings,
    at_columns,
    filled_in_blocks,
    in_blocks,
    one_thread_each,
    stop_if_requested,
    to_floats,
    unit_rows,
)

NEIGHBOURS = 6  # most similar images of each image; ten do the same, slower (decision 52)
LINKS = 10
"""Links an image keeps when it is also a neighbour of others: hubs keep the strongest."""
FARTHEST = np.float32(0.95)
"""Largest share that an image takes from its look-alikes; below it, the mean cosine of its
links."""
COSINE_ONE = 32767  # cosines are stored as 16-bit integers; this one is 1
SEARCH_ROWS = 256
"""Images searched at a time by a core. Chosen: their cosines with 3,072 anchors take 3 MB."""
LEAST_SHRINKAGE = 0.1
"""Share of the mean variance in every direction's variance, however many images there are."""
MOST_IMAGES = 20_000  # more images than this are sampled: the covariance no longer changes
MOST_COMPARED = 3072
"""More images than this are not compared with one another in search of look-alikes."""
LOOK_ALIKES = 3
"""Two images are look-alikes when each is among so many nearest neighbours of the other."""
COPY = 0.9999
"""Cosine from which two images are copies, whose difference carries no information."""
FEWEST_PAIRS = 8  # fewer look-alikes than this are too few for an estimate
LEAST_VARIANCE = 1e-7
"""Summed variance of unit embeddings below which all images are the same, in 16 bits."""
LEVELLING = 0.8
"""How far variances are equalised: 0 as in look-alikes, 1 whitens by all images (decision 52)."""
BORROWED = 1.2
"""Share, in shrinkages, of the total covariance in that of look-alikes (decision 52)."""
LEAST_NOISE = 0.05  # least variance between look-alikes along a direction, of 1 on average

MOST_NEWER = 0.25
"""Share of the images whose nearest anchors may be in the overlay; above it the table is
rebuilt."""


Square = NDArray[np.float64]


@dataclass(frozen=True)
class Nearest:
    """The nearest anchors of n images, best first; with fewer than k the rest has cosine -1."""

    positions: NDArray[np.int32]  # (n, k) among the anchors
    cosines: Floats  # (n, k)

    def rows(self, chosen: Integers | slice) -> "Nearest":
        return Nearest(self.positions[chosen], self.cosines[chosen])

    @classmethod
    def none(cls, images: int) -> "Nearest":
        """No anchor for any of n images yet."""
        shape = (images, NEIGHBOURS)
        return cls(np.zeros(shape, dtype=np.int32), np.full(shape, -1, dtype=np.float32))

    def take(self, rows: slice, cosines: Floats, first: int = 0) -> None:
        """Merge m more anchors, from position `first` on, into the lists of a block of images.

        Args:
            rows: the block.
            cosines: (block, m) of the images with the anchors; -1 where there must be no link;
                overwritten.
        """
        kept, places = self.cosines[rows], self.positions[rows]
        for _rank in range(min(NEIGHBOURS, cosines.shape[1])):
            best = cosines.argmax(axis=1)
            alike = at_columns(cosines, best)
            better = np.flatnonzero(alike > kept[:, -1])
            if len(better) == 0:
                return
            cosines[better, best[better]] = -1
            kept[better, -1], places[better, -1] = alike[better], best[better] + first
            order = np.argsort(-kept[better], axis=1, kind="stable")
            kept[better] = np.take_along_axis(kept[better], order, axis=1)
            places[better] = np.take_along_axis(places[better], order, axis=1)


@dataclass(frozen=True)
class Links:
    """Links of n images."""

    positions: NDArray[np.int32]  # (n, k) int32 of anchors
    weights: Floats  # (n, k) float32; a row's sum is how far the image follows its look-alikes
    cosines: Floats  # (n, k) float32 of the whitened embeddings, 0 where there is no link

    @property
    def followed(self) -> Floats:
        """(n, 1) how far each image follows its look-alikes; the prototypes have the rest."""
        return self.weights.sum(axis=1, keepdims=True)

    def rows(self, chosen: NDArray[np.integer] | slice) -> "Links":
        return Links(self.positions[chosen], self.weights[chosen], self.cosines[chosen])


def nearest(vectors: Floats, anchors: Floats, *, own: Integers) -> Nearest:
    """Nearest anchors (m, d) of unit vectors (n, d); `own` (n,) is a vector's anchor or -1."""
    found = Nearest.none(len(vectors))

    def compare(rows: slice) -> None:
        alike = vectors[rows] @ anchors.T
        itself = np.flatnonzero(own[rows] >= 0)
        alike[itself, own[rows][itself]] = -1
        found.take(rows, alike)

    in_blocks(len(vectors), compare, SEARCH_ROWS)
    return found


def all_cosines(vectors: Floats, others: Floats) -> NDArray[np.int16]:
    """Cosines (n, m) of unit vectors, times `COSINE_ONE`: faster and finer than float16."""

    def cosines_of(rows: slice) -> Floats:
        block = vectors[rows] @ others.T
        return np.rint(np.multiply(block, COSINE_ONE, out=block), out=block)

    return filled_in_blocks((len(vectors), len(others)), cosines_of, SEARCH_ROWS, np.int16)


def links_to(found: Nearest) -> Links:
    """Links of images to their nearest anchors."""
    cosines = np.maximum(found.cosines, 0)
    return Links(found.positions, _weights(cosines), cosines)


def links_between(found: Nearest) -> Links:
    """Links among the anchors themselves: of both, when either is a neighbour of the other."""
    count, width = found.positions.shape
    here, there = np.repeat(np.arange(count), width), found.positions.ravel().astype(np.int64)
    strong = found.cosines.ravel()
    here, there, strong = here[strong > 0], there[strong > 0], strong[strong > 0]
    pairs = np.concatenate([here * count + there, there * count + here])
    pairs, first = np.unique(pairs, return_index=True)
    strong = np.concatenate([strong, strong])[first]
    here, there = pairs // max(count, 1), pairs % max(count, 1)
    order = np.lexsort((-strong, here))
    here, there, strong = here[order], there[order], strong[order]
    rank = np.arange(len(here)) - np.searchsorted(here, here)
    kept = rank < LINKS
    positions, cosines = (
        np.zeros((count, LINKS), dtype=np.int32),
        np.zeros((count, LINKS), dtype=np.float32),
    )
    positions[here[kept], rank[kept]] = there[kept]
    cosines[here[kept], rank[kept]] = strong[kept]
    return Links(positions, _weights(cosines), cosines)


def _weights(cosines: Floats) -> Floats:
    """Weights (n, k) of links by the fourth power of the cosine; their sum is the mean cosine."""
    strong = np.maximum(cosines, 0)
    strong *= strong
    strong *= strong  # ten times as fast as a power
    total = strong.sum(axis=1, keepdims=True)
    shares = np.divide(strong, total, out=strong, where=total > 0)
    shares *= np.minimum(np.einsum("nk,nk->n", shares, cosines)[:, None], FARTHEST)
    return shares


def follow(links: Links, values: Floats) -> Floats:
    """Sum (n, c) of the linked anchors' values (m, c) by weight; zeros without links."""
    linked = np.take(values, links.positions, axis=0)  # twice as fast as values[links.positions]
    return np.matmul(links.weights[:, None, :], linked)[:, 0, :]


@dataclass(frozen=True)
class Whitening:
    """A shift and a rotation with scales."""

    mean: Floats  # (d,) float32
    # (d, d) float32; (embedding - mean) @ matrix has the same variance in every direction
    matrix: Floats

    def apply(self, embeddings: Embeddings) -> Floats:
        """Whitened embeddings (n, d) float32 of length 1; an image at the mean stays at zero."""
        return unit_rows((to_floats(embeddings) - self.mean) @ self.matrix)


def shrinkage_for(images: int, width: int) -> float:
    """Share of the mean variance in every direction's: few images estimate directions badly."""
    return max(LEAST_SHRINKAGE, width / (images + width))


@one_thread_each
def whitening_of(embeddings: Embeddings) -> Whitening | None:
    """Whitening of embeddings (n, d), by all images where look-alikes are few; or None."""
    sample = to_floats(_spread(embeddings, MOST_IMAGES))
    if len(sample) < 2:  # noqa: PLR2004 (one image has no variance)
        return None
    stop_if_requested()
    mean = sample.mean(axis=0)
    sample = sample - mean
    if float(np.einsum("nd,nd->", sample, sample)) / len(sample) < LEAST_VARIANCE:
        return None
    shrinkage = shrinkage_for(*sample.shape)
    total = _covariance(sample)
    differences = _look_alike_differences(np.ascontiguousarray(_spread(sample, MOST_COMPARED)))
    stop_if_requested()
    if len(differences) < FEWEST_PAIRS:
        matrix = _whitening_matrix(total, shrinkage)
    else:
        matrix = _shrunk(_covariance(differences) / 2, total, shrinkage)
    return Whitening(mean.astype(np.float32), matrix.astype(np.float32))


def _whitening_matrix(covariance: Square, shrinkage: float) -> Square:
    """Matrix (d, d) that whitens vectors of this covariance, but for shrinkage."""
    variance, directions = np.linalg.eigh(covariance)
    variance = np.maximum(variance, 0)
    shrunk: Square = directions / np.sqrt((1 - shrinkage) * variance + shrinkage * variance.mean())
    return shrunk


def _shrunk(within: Square, total: Square, shrinkage: float) -> Square:
    """Matrix (d, d) that whitens within look-alikes and favours directions that separate.

    Where b is the variance between unlike images as a multiple of that between look-alikes, a
    direction counts by sqrt(b / (1 + b)), the share of it that is not noise, and by (1 + b) to the
    power -`LEVELLING` / 2, so that a few directions that tell crates from shelves do not drown
    those that tell apples apart.

    Look-alikes among few images are often of different classes, so the fewer there are, the more
    the covariance of all images counts; of a few dozen images it is all.
    """
    borrowed = min(1.0, BORROWED * shrinkage)
    within = (1 - borrowed) * within + borrowed * (np.trace(within) / np.trace(total)) * total
    whiten = _whitening_matrix(within, shrinkage)
    variance, directions = np.linalg.eigh(whiten.T @ total @ whiten)
    rotated = whiten @ directions
    noise = np.maximum(
        np.einsum("dk,de,ek->k", rotated, within, rotated, optimize=True), LEAST_NOISE
    )
    between = np.maximum(variance - noise, 0) / noise
    weighed: Square = rotated * (
        np.sqrt(between / (1 + between)) * (1 + between) ** (-LEVELLING / 2)
    )
    return weighed


def _spread(rows: Embeddings, most: int) -> Embeddings:
    """Every so manieth row (k, d), at most so many."""
    return rows[:: max(-(-len(rows) // most), 1)]


def _covariance(vectors: Floats) -> Doubles:
    """Second moments (d, d) of vectors (n, d)."""
    return (vectors.T @ vectors).astype(np.float64) / len(vectors)


def _look_alike_differences(centred: Floats) -> Floats:
    """Differences (p, d) of mutual `LOOK_ALIKES` nearest neighbours among images (n, d)."""
    unit, count = unit_rows(centred), len(centred)
    found = nearest(unit, unit, own=np.arange(count))
    near, alike = found.positions[:, :LOOK_ALIKES], found.cosines[:, :LOOK_ALIKES]
    is_pair = (alike > 0) & (alike < COPY)
    pairs = (np.arange(count)[:, None] * count + near)[is_pair]
    mutual = pairs[np.isin(pairs % count * count + pairs // count, pairs)]
    here, there = mutual // count, mutual % count
    return (centred[here] - centred[there])[here < there]


@final
@dataclass(frozen=True)
class NearestAnchors:
    """The nearest anchors of n images.

    A label makes one anchor more, which is among the nearest of one image in hundreds. The others'
    stay where they are, in a table of 48 bytes an image that may be mapped from a file.
    """

    table: Nearest  # (n, k)
    newer_rows: Integers  # (c,) ascending rows whose nearest anchors are those of `newer`
    newer: Nearest  # (c, k)

    @staticmethod
    def of(table: Nearest) -> "NearestAnchors":
        """Those of a table, and no others."""
        return NearestAnchors(table, no_integers(), Nearest.none(0))

    def rows(self, chosen: Integers | slice) -> Nearest:
        """Those of k images, at rows or in a slice without steps; not to be written to."""
        part = self.table.rows(chosen)
        if len(self.newer_rows) == 0:
            return part
        if isinstance(chosen, slice):
            start, stop, _step = chosen.indices(len(self.table.cosines))
            first, last = np.searchsorted(self.newer_rows, (start, stop)).tolist()
            which = np.arange(first, last)
            places = self.newer_rows[which] - start
        else:
            which = np.minimum(np.searchsorted(self.newer_rows, chosen), len(self.newer_rows) - 1)
            places = np.flatnonzero(self.newer_rows[which] == chosen)
            which = which[places]
        if len(which) == 0:
            return part
        found = Nearest(part.positions.copy(), part.cosines.copy())
        found.positions[places], found.cosines[places] = (
            self.newer.positions[which],
            self.newer.cosines[which],
        )
        return found

    def whole(self) -> Nearest:
        """Those of all images; not to be written to."""
        return self.rows(slice(None))

    def with_newer(self, rows: Integers, nearest: Nearest) -> "NearestAnchors":
        """The same where images at these rows (c,), ascending, have others."""
        is_left = ~np.isin(self.newer_rows, rows, assume_unique=True)
        all_rows = np.concatenate([self.newer_rows[is_left], rows])
        order = np.argsort(all_rows)
        newer = Nearest(
            np.concatenate([self.newer.positions[is_left], nearest.positions])[order],
            np.concatenate([self.newer.cosines[is_left], nearest.cosines])[order],
        )
        found = NearestAnchors(self.table, all_rows[order], newer)
        is_many = len(all_rows) > MOST_NEWER * len(self.table.cosines)
        return NearestAnchors.of(found.whole()) if is_many else found
