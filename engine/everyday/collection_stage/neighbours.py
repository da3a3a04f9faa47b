"""Nearest neighbours: links along which a label may pass from one photo of a series to the next."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.everyday.blocks import Floats, Integers, in_blocks

NEIGHBOURS: Final = 6
"""Most alike images of each image; ten do the same, slower (decision 20)."""
LINKS: Final = 10
"""Links an image keeps when it is also a neighbour of others: hubs keep the strongest."""
FARTHEST: Final = np.float32(0.95)
"""An image follows its look-alikes as far as it is like them, by the mean cosine of its links, and no farther."""
COSINE_ONE: Final = 32767
"""Cosines that are kept are integers of 16 bits; this one is 1."""
SEARCH_ROWS: Final = 256
"""Images searched at a time by a core. Chosen: their cosines with 3,072 anchors take 3 MB."""


@dataclass(frozen=True)
class Nearest:
    """The nearest anchors of n images, best first; where there are fewer than k the rest has cosine -1: no link."""

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
            cosines: (block, m) of the images with the anchors; -1 where there must be no link; overwritten.
        """
        kept, places = self.cosines[rows], self.positions[rows]
        for _rank in range(min(NEIGHBOURS, cosines.shape[1])):
            best = cosines.argmax(axis=1)
            alike = np.take_along_axis(cosines, best[:, None], axis=1)[:, 0]
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
    """Nearest anchors (m, d) of vectors (n, d) of length 1; `own` (n,) is a vector's place among them, -1 for none."""
    found = Nearest.none(len(vectors))

    def work(rows: slice) -> None:
        alike = vectors[rows] @ anchors.T
        itself = np.flatnonzero(own[rows] >= 0)
        alike[itself, own[rows][itself]] = -1
        found.take(rows, alike)

    in_blocks(len(vectors), work, SEARCH_ROWS)
    return found


def all_cosines(vectors: Floats, others: Floats) -> NDArray[np.int16]:
    """Cosines (n, m) of vectors (n, d) and (m, d) of length 1, times `COSINE_ONE`: faster and finer than float16."""
    cosines = np.empty((len(vectors), len(others)), dtype=np.int16)

    def work(rows: slice) -> None:
        block = vectors[rows] @ others.T
        cosines[rows] = np.rint(np.multiply(block, COSINE_ONE, out=block), out=block)

    in_blocks(len(vectors), work, SEARCH_ROWS)
    return cosines


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
    positions, cosines = np.zeros((count, LINKS), dtype=np.int32), np.zeros((count, LINKS), dtype=np.float32)
    positions[here[kept], rank[kept]] = there[kept]
    cosines[here[kept], rank[kept]] = strong[kept]
    return Links(positions, _weights(cosines), cosines)


def _weights(cosines: Floats) -> Floats:
    """Weights (n, k) of links: by the fourth power of the cosine, their sum the mean cosine by it."""
    strong = np.maximum(cosines, 0)
    strong *= strong
    strong *= strong  # ten times as fast as a power
    total = strong.sum(axis=1, keepdims=True)
    shares = np.divide(strong, total, out=strong, where=total > 0)
    shares *= np.minimum(np.einsum("nk,nk->n", shares, cosines)[:, None], FARTHEST)
    return shares


def follow(links: Links, values: Floats) -> Floats:
    """Sum (n, c) of the linked anchors' values (m, c) by their weights; zeros where an image has no link."""
    linked = np.take(values, links.positions, axis=0)  # twice as fast as values[links.positions]
    return np.matmul(links.weights[:, None, :], linked)[:, 0, :]
