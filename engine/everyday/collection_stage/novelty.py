"""Novelty detection: which images show none of the classes, by how near they and their look-alikes are to labels.

An image's evidence is its cosine with the nearest labelled image and with the nearest mean of a class's, which is kind
to classes of several looks. A random walk with restart spreads it over look-alikes, so that images are judged together
with others of the same thing (decision 73). Ours, not the paper's.
"""

from dataclasses import dataclass
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from engine.everyday.blocks import in_blocks
from engine.everyday.collection_stage.basis import CollectionBasis
from engine.everyday.collection_stage.neighbours import COSINE_ONE, SEARCH_ROWS, Links
from engine.everyday.fixed_point import Embeddings

ROUNDS: Final = 20
"""Rounds of the walk. Chosen: with `RESTART` more rounds change nothing that can be seen."""
RESTART: Final = np.float32(0.1)
"""Share of an image's own evidence in a round; the rest is its look-alikes' (decision 73)."""
LONELINESS: Final = 0.25
"""Power of how much less an image is like its look-alikes than these are like theirs (decision 73)."""
MOST_COMPARED: Final = 4096
"""With more labels than this not every one is compared with."""

Matrix = NDArray[np.float32]
Positions = NDArray[np.int64]


@final
class LabelledNearness:
    """How near m anchors are to any choice of labelled ones, and to what is like those.

    Args:
        vectors: (m, d) float32 of length 1.
        cosines: (m, m) of all with one another, times `COSINE_ONE`, where they are kept.
    """

    def __init__(self, vectors: Matrix, links: Links, cosines: NDArray[np.int16] | None) -> None:
        self.vectors = vectors
        self._cosines = cosines
        self._links = links
        self._followed = links.followed[:, 0]
        self._shares = _shares(links)

    def spread(self, labelled: Positions, classes: NDArray[np.int64], ignored: Positions | None = None) -> Matrix:
        """Evidence (m,), in [0, 1] but for images that are opposites, spread over look-alikes.

        Args:
            labelled: (l,) positions, at least one.
            classes: (l,) what each is labelled as; any numbers.
            ignored: positions of those that show none of the classes.
        """
        own = self._evidence(labelled, classes)
        own[labelled] = 1
        if ignored is not None:
            own[ignored] = 0
        values, kept = own, RESTART * own
        is_linked = self._followed > 0
        for _round in range(ROUNDS):
            around = _gather(self._shares, self._links.positions, values)
            values = np.where(is_linked, kept + (1 - RESTART) * around, own)
        return values

    def similarity(self, spread: Matrix, links: Links | None = None) -> Matrix:
        """Similarity (n,) to the labelled images of images with such links; by default of the anchors themselves.

        Args:
            spread: (m,) from `spread`.
            links: (n, k) to the anchors.
        """
        shares = self._shares if links is None else _shares(links)
        links = self._links if links is None else links
        around = _gather(shares, links.positions, spread)
        usual = _gather(shares, links.positions, self._followed)
        company = np.divide(links.followed[:, 0], usual, out=np.zeros_like(around), where=usual > 0)
        return (around * np.minimum(company, 1) ** LONELINESS).astype(np.float32)

    def _evidence(self, labelled: Positions, classes: NDArray[np.int64]) -> Matrix:
        """Mean (m,) of the cosines with the nearest labelled image and with the nearest class's images on the mean."""
        if self._cosines is not None:
            cosines = self._cosines[labelled]
            nearest = cosines.max(axis=0).astype(np.float32)
            return (nearest + _class_means(cosines, classes).max(axis=0)) / (2 * COSINE_ONE)
        compared = labelled
        if len(labelled) > MOST_COMPARED:
            chosen = np.sort(np.random.default_rng(0).choice(len(labelled), MOST_COMPARED, replace=False))
            compared, classes = labelled[chosen], classes[chosen]
        images = self.vectors[compared]
        means = _class_means(images, classes)
        found = np.empty(len(self.vectors), dtype=np.float32)

        def work(rows: slice) -> None:
            block = self.vectors[rows]
            found[rows] = ((block @ images.T).max(axis=1) + (block @ means.T).max(axis=1)) / 2

        in_blocks(len(found), work, SEARCH_ROWS)
        return found


@dataclass(frozen=True)
class Novelty:
    """Fitted to labels."""

    basis: CollectionBasis  # the collection
    nearness: LabelledNearness  # over its anchors
    spread: Matrix  # (m,) float32 of the labels
    threshold: float  # images whose similarity is below it show none of the classes

    def similarity(self, links: Links) -> Matrix:
        """Similarity (n,) of images with links (n, k) to anchors."""
        return self.nearness.similarity(self.spread, links)

    def similarity_at(self, rows: NDArray[np.int64]) -> Matrix:
        """Similarity (n,) of images of the collection, by their rows in the basis."""
        found = np.empty(len(rows), dtype=np.float32)

        def work(part: slice) -> None:
            found[part] = self.similarity(self.basis.links_at(rows[part]))

        in_blocks(len(rows), work)
        return found

    def similarity_of_new(self, embeddings: Embeddings) -> Matrix:
        """Similarity (n,) of any images (n, d), of the collection or not."""
        return self.similarity(self.basis.links_of_new(self.basis.whitening.apply(embeddings)))


def _class_means(rows: Matrix | NDArray[np.int16], classes: NDArray[np.int64]) -> Matrix:
    """Mean (u, n) of the rows (l, n) of each class."""
    places, place, counts = np.unique(classes, return_inverse=True, return_counts=True)
    means = np.empty((len(places), rows.shape[1]), dtype=np.float32)
    for mean, own in zip(means, np.split(np.argsort(place, kind="stable"), np.cumsum(counts)[:-1]), strict=True):
        np.add.reduce(rows[own], axis=0, dtype=np.float32, out=mean)
    means /= counts[:, None].astype(np.float32)
    return means


def _shares(links: Links) -> Matrix:
    """Weights (n, k) that sum to 1; zeros where an image has no link."""
    followed = links.followed
    return np.divide(links.weights, followed, out=np.zeros_like(links.weights), where=followed > 0)


def _gather(shares: Matrix, positions: NDArray[np.int32], values: Matrix) -> Matrix:
    """Mean (n,) of linked anchors' values (m,)."""
    return np.einsum("nk,nk->n", shares, np.take(values, positions))
