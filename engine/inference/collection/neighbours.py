"""Which images look most alike: links along which a label may pass from one photo of a series to the next."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.inference.blocks import in_blocks

NEIGHBOURS: Final = 6
LINKS: Final = 10
"""Links an image keeps when it is also a neighbour of others: hubs keep the strongest."""
POWER: Final = 3
"""A link is as strong as the cosine of the whitened embeddings to this power (LaplacianShot's relatives use 1 to 4)."""
SEARCH_ROWS: Final = 256

Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class Nearest:
    """The most alike anchors of n images: `positions` (n, k) int32 among them, `cosines` (n, k), best first.

    Where there are fewer than k anchors the rest has cosine -1, which is no link.
    """

    positions: NDArray[np.int32]
    cosines: Matrix

    def rows(self, chosen: NDArray[np.int64]) -> "Nearest":
        """Those of some images."""
        return Nearest(self.positions[chosen], self.cosines[chosen])


@dataclass(frozen=True)
class Links:
    """Links of n images: `positions` (n, k) int32 and `weights` (n, k) float32, each row's sum 1, or 0 without any."""

    positions: NDArray[np.int32]
    weights: Matrix


def nearest(vectors: Matrix, anchors: Matrix, *, own: NDArray[np.int64]) -> Nearest:
    """Find each image's most alike anchors.

    Args:
        vectors: (n, d) float32 of length 1.
        anchors: (m, d) float32 of length 1.
        own: (n,) position of the image itself among the anchors, -1 where it is none.
    """
    count = min(NEIGHBOURS, len(anchors))
    positions = np.zeros((len(vectors), NEIGHBOURS), dtype=np.int32)
    cosines = np.full((len(vectors), NEIGHBOURS), -1, dtype=np.float32)

    def work(rows: slice) -> None:
        alike = vectors[rows] @ anchors.T
        places = np.arange(len(alike))
        itself = own[rows] >= 0
        alike[places[itself], own[rows][itself]] = -1
        for rank in range(count):  # a few sweeps for the largest are faster than a partial sort
            best = alike.argmax(axis=1)
            positions[rows, rank], cosines[rows, rank] = best, alike[places, best]
            alike[places, best] = -1

    in_blocks(len(vectors), work, SEARCH_ROWS)
    return Nearest(positions, cosines)


def strengths(cosines: Matrix) -> Matrix:
    """Strength of links, 0 where images are not alike."""
    return np.maximum(cosines, 0).astype(np.float32) ** POWER


def links_to(found: Nearest) -> Links:
    """Links of images to their nearest anchors."""
    return Links(found.positions, _shares(strengths(found.cosines)))


def links_between(found: Nearest) -> Links:
    """Links among the anchors themselves: of both, when either is a neighbour of the other.

    Args:
        found: the nearest anchors of each anchor.
    """
    count, width = found.positions.shape
    here, there = np.repeat(np.arange(count), width), found.positions.ravel().astype(np.int64)
    strong = strengths(found.cosines).ravel()
    here, there, strong = here[strong > 0], there[strong > 0], strong[strong > 0]
    pairs = np.concatenate([here * count + there, there * count + here])
    pairs, first = np.unique(pairs, return_index=True)
    strong = np.concatenate([strong, strong])[first]
    here, there = pairs // max(count, 1), pairs % max(count, 1)
    order = np.lexsort((-strong, here))
    here, there, strong = here[order], there[order], strong[order]
    rank = np.arange(len(here)) - np.searchsorted(here, here)
    kept = rank < LINKS
    positions, weights = np.zeros((count, LINKS), dtype=np.int32), np.zeros((count, LINKS), dtype=np.float32)
    positions[here[kept], rank[kept]] = there[kept]
    weights[here[kept], rank[kept]] = strong[kept]
    return Links(positions, _shares(weights))


def _shares(weights: Matrix) -> Matrix:
    total = weights.sum(axis=1, keepdims=True)
    return np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)


def mean_over(links: Links, values: Matrix) -> Matrix:
    """Weighted mean (n, c) of the linked anchors' values (m, c); zeros where an image has no link."""
    return np.matmul(links.weights[:, None, :], values[links.positions])[:, 0, :]
