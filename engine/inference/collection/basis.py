"""What a collection's images say about one another, whoever they show: directions that matter, and who is like whom.

It depends on embeddings alone, so it is made once and kept while labels change. A fixed subsample of `MOST_ANCHORS`
images and every labelled one are its anchors: rounds of refinement run over them, and every other image is linked to
the anchors it is most like.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.inference.blocks import in_blocks
from engine.inference.collection.neighbours import (
    LINKS,
    Links,
    Nearest,
    links_between,
    links_to,
    nearest,
)
from engine.inference.collection.whitening import Whitening, whitening_of
from engine.inference.fixed_point import Embeddings, block_of, factor_of

MOST_ANCHORS: Final = 3072
FEWEST_IMAGES: Final = 8
"""Fewer images than this are no collection to learn from."""
FEW_NEW_ANCHORS: Final = 16
"""More new anchors than this at once and the links are looked for anew."""

Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class CollectionBasis:
    """Whitening, anchors and links of n images.

    Attributes:
        image_ids: (n,) int64, ascending.
        whitening: learned from the images that have an embedding.
        scales: (n,) float32, one over the length of the whitened embedding; 0 for images without an embedding.
        anchors: (m,) int64 rows of the anchors.
        vectors: (m, d) float32, their whitened embeddings of length 1.
        found: the nearest anchors of every image.
        learned_from: images that the whitening was learned from.
    """

    image_ids: NDArray[np.int64]
    whitening: Whitening
    scales: Matrix
    anchors: NDArray[np.int64]
    vectors: Matrix
    found: Nearest
    learned_from: int

    @cached_property
    def anchor_links(self) -> Links:
        """Links (m, `LINKS`) among the anchors."""
        return links_between(self.found.rows(self.anchors))

    @cached_property
    def links(self) -> Links:
        """Links (n, `LINKS`) of every image to anchors; an anchor's are those of `anchor_links`."""
        near, among = links_to(self.found), self.anchor_links
        spare = ((0, 0), (0, LINKS - near.positions.shape[1]))
        positions, weights = np.pad(near.positions, spare), np.pad(near.weights, spare)
        positions[self.anchors], weights[self.anchors] = among.positions, among.weights
        return Links(positions, weights)

    def rows_of(self, image_ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """Rows (k,) of images; -1 for those it does not know or that have no embedding."""
        rows = np.minimum(np.searchsorted(self.image_ids, image_ids), len(self.image_ids) - 1)
        known = (self.image_ids[rows] == image_ids) & (self.scales[rows] > 0)
        return np.where(known, rows, -1).astype(np.int64)

    def positions_of(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Positions (k,) of rows among the anchors, -1 for rows that are none."""
        place = np.full(len(self.image_ids), -1, dtype=np.int64)
        place[self.anchors] = np.arange(len(self.anchors))
        return np.where(rows >= 0, place[rows], -1)

    def with_anchors(self, embeddings: Embeddings, rows: NDArray[np.int64]) -> "CollectionBasis":
        """The same with these rows among the anchors: every labelled image is one."""
        new = np.setdiff1d(rows[rows >= 0], self.anchors)
        if len(new) == 0:
            return self
        anchors = np.concatenate([self.anchors, new])
        vectors = np.concatenate([self.vectors, self.whitening.apply(embeddings[new])])
        if len(new) > FEW_NEW_ANCHORS:
            grown = replace(self, anchors=anchors, vectors=vectors)
            return replace(grown, found=_found(grown, embeddings, np.arange(len(self.image_ids))))
        found = self.found
        for place, row in enumerate(new.tolist(), start=len(self.anchors)):
            found = _with_one_more(found, self._cosines(embeddings, vectors[place]), place, row)
        return replace(self, anchors=anchors, vectors=vectors, found=found)

    def with_images(
        self, image_ids: NDArray[np.int64], embeddings: Embeddings, rows: NDArray[np.int64]
    ) -> "CollectionBasis":
        """The same with more images, linked to the present anchors.

        Args:
            image_ids: (n,) of all images, those known before first.
            embeddings: (n, d) of all.
            rows: those whose embeddings are new.
        """
        more = len(image_ids) - len(self.image_ids)
        found = Nearest(
            np.pad(self.found.positions, ((0, more), (0, 0))),
            np.pad(self.found.cosines, ((0, more), (0, 0)), constant_values=-1),
        )
        grown = replace(self, image_ids=image_ids, scales=np.pad(self.scales, (0, more)), found=found)
        grown.scales[rows] = _scales(self.whitening, embeddings[rows])
        part = _found(grown, embeddings, rows)
        found.positions[rows], found.cosines[rows] = part.positions, part.cosines
        return grown

    def _cosines(self, embeddings: Embeddings, vector: Matrix) -> Matrix:
        """Cosines (n,) of all whitened embeddings with a whitened one (d,); -1 without an embedding."""
        folded, shift = self.fold(vector[None, :])
        cosines = np.empty(len(embeddings), dtype=np.float32)
        factor = factor_of(embeddings)

        def work(rows: slice) -> None:
            cosines[rows] = block_of(embeddings[rows]) @ (folded[0] * factor)

        in_blocks(len(embeddings), work)
        return np.where(self.scales > 0, (cosines - shift[0]) * self.scales, np.float32(-1))

    def fold(self, weights: Matrix) -> tuple[Matrix, Matrix]:
        """Weights (c, d) for whitened embeddings as weights (c, d) and shifts (c,) for plain ones.

        z @ weights.T = scale * (embedding @ folded.T - shifts).
        """
        folded = (weights @ self.whitening.matrix.T).astype(np.float32)
        return folded, (folded @ self.whitening.mean).astype(np.float32)


def collection_basis(
    image_ids: NDArray[np.int64],
    embeddings: Embeddings,
    *,
    labelled: NDArray[np.int64],
    ready: NDArray[np.int64] | None = None,
) -> CollectionBasis | None:
    """Look at a whole collection.

    Args:
        image_ids: (n,) int64, ascending.
        embeddings: (n, d) of length 1.
        labelled: rows of the labelled images; they are anchors.
        ready: rows that have an embedding, ascending; by default all.

    Returns:
        None when there are too few images, or they are all the same.
    """
    ready = np.arange(len(image_ids)) if ready is None else ready
    if len(ready) < FEWEST_IMAGES:
        return None
    whitening = whitening_of(embeddings if len(ready) == len(image_ids) else embeddings[ready])
    if whitening is None:
        return None
    scales = np.zeros(len(image_ids), dtype=np.float32)
    scales[ready] = _scales(whitening, embeddings[ready])
    anchors = np.union1d(_subsample(ready), labelled).astype(np.int64)
    none = Nearest(np.zeros((len(image_ids), 0), dtype=np.int32), np.zeros((len(image_ids), 0), dtype=np.float32))
    basis = CollectionBasis(
        image_ids, whitening, scales, anchors, whitening.apply(embeddings[anchors]), none, len(ready)
    )
    return replace(basis, found=_found(basis, embeddings, np.arange(len(image_ids))))


def _subsample(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """A fixed choice among the images, spread over the collection."""
    if len(rows) <= MOST_ANCHORS:
        return rows
    return np.sort(np.random.default_rng(0).choice(rows, MOST_ANCHORS, replace=False))


def _scales(whitening: Whitening, embeddings: Embeddings) -> Matrix:
    scales = np.zeros(len(embeddings), dtype=np.float32)
    shift = whitening.mean @ whitening.matrix

    def work(rows: slice) -> None:
        moved = block_of(embeddings[rows]) @ (whitening.matrix * factor_of(embeddings)) - shift
        scales[rows] = 1 / np.maximum(np.sqrt(np.einsum("nd,nd->n", moved, moved)), np.float32(1e-6))

    in_blocks(len(embeddings), work)
    return scales


def _found(basis: CollectionBasis, embeddings: Embeddings, rows: NDArray[np.int64]) -> Nearest:
    """The nearest anchors of some rows, without the row itself."""
    own = basis.positions_of(rows)
    if len(rows) == 0:
        return nearest(basis.vectors[:0], basis.vectors, own=own)
    parts = [
        nearest(
            basis.whitening.apply(embeddings[rows[start : start + MOST_ANCHORS]]),
            basis.vectors,
            own=own[start : start + MOST_ANCHORS],
        )
        for start in range(0, len(rows), MOST_ANCHORS)
    ]
    found = Nearest(
        np.concatenate([part.positions for part in parts]), np.concatenate([part.cosines for part in parts])
    )
    found.cosines[basis.scales[rows] == 0] = -1
    return found


def _with_one_more(found: Nearest, cosines: Matrix, place: int, row: int) -> Nearest:
    """Put a new anchor into the lists of those images that it is nearer to than their last."""
    takes = np.flatnonzero(cosines > found.cosines[:, -1])
    takes = takes[takes != row]
    positions, kept = found.positions.copy(), found.cosines.copy()
    positions[takes, -1], kept[takes, -1] = place, cosines[takes]
    order = np.argsort(-kept[takes], axis=1, kind="stable")
    positions[takes] = np.take_along_axis(positions[takes], order, axis=1)
    kept[takes] = np.take_along_axis(kept[takes], order, axis=1)
    return Nearest(positions, kept)
