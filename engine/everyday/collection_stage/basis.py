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

from engine.everyday.blocks import BLOCK_ROWS, in_blocks
from engine.everyday.collection_stage.neighbours import (
    LINKS,
    SEARCH_ROWS,
    Links,
    Nearest,
    all_cosines,
    links_between,
    links_to,
    nearest,
)
from engine.everyday.collection_stage.whitening import Whitening, whitening_of
from engine.everyday.fixed_point import Embeddings, block_of, factor_of

MOST_ANCHORS: Final = 3072
"""Images that stand for all (decision 20). Chosen: one label more takes less than a second (`benchmark collection`)."""
MOST_COMPARED: Final = 4096
"""Of more anchors than this the cosines with one another are not kept: those of these take 32 MB."""
SAME: Final = 0.9999
"""Cosine above which a new embedding is taken for the anchor itself, which is no neighbour of its own."""
FEWEST_IMAGES: Final = 8
"""Fewer images than this are no collection to learn from."""

Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class CollectionBasis:
    """Whitening, anchors and links of n images."""

    image_ids: NDArray[np.int64]  # (n,) int64, ascending
    whitening: Whitening  # learned from the images that have an embedding
    scales: Matrix  # (n,) float32, one over the length of the whitened embedding; 0 for images without an embedding
    anchors: NDArray[np.int64]  # (m,) int64 rows of the anchors
    vectors: Matrix  # (m, d) float32, their whitened embeddings of length 1
    found: Nearest  # the nearest anchors of every image
    learned_from: int  # images that the whitening was learned from

    @cached_property
    def anchor_links(self) -> Links:
        """Links (m, `LINKS`) among the anchors."""
        return links_between(self.found.rows(self.anchors))

    @cached_property
    def cosines(self) -> NDArray[np.int16] | None:
        """Cosines (m, m) of the anchors with one another, times `COSINE_ONE`; None where there are too many to keep."""
        return all_cosines(self.vectors, self.vectors) if len(self.anchors) <= MOST_COMPARED else None

    def links_at(self, rows: NDArray[np.int64] | slice) -> Links:
        """Links (k, `LINKS`) of some images to anchors; an anchor's are those of `anchor_links`.

        They are made when they are asked for: those of all images would take as much memory as `found` twice over.
        """
        near = links_to(self.found.rows(rows))
        shape, width = (len(near.positions), LINKS), near.positions.shape[1]
        positions = np.zeros(shape, dtype=np.int32)
        weights, cosines = np.zeros(shape, dtype=np.float32), np.zeros(shape, dtype=np.float32)
        positions[:, :width], weights[:, :width], cosines[:, :width] = near.positions, near.weights, near.cosines
        place = self._place[rows]
        itself = np.flatnonzero(place >= 0)
        own = self.anchor_links.rows(place[itself])
        positions[itself], weights[itself], cosines[itself] = own.positions, own.weights, own.cosines
        return Links(positions, weights, cosines)

    def links_of_new(self, vectors: Matrix) -> Links:
        """Links (n, k) to anchors of any images, of the collection or not, by their whitened embeddings (n, d)."""
        alike = vectors @ self.vectors.T
        own = np.where(alike.max(axis=1) > SAME, alike.argmax(axis=1), -1)
        return links_to(nearest(vectors, self.vectors, own=own))

    @cached_property
    def _place(self) -> NDArray[np.int32]:
        """Position (n,) among the anchors of each image; -1 for those that are none."""
        place = np.full(len(self.image_ids), -1, dtype=np.int32)
        place[self.anchors] = np.arange(len(self.anchors))
        return place

    def rows_of(self, image_ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """Rows (k,) of images; -1 for those it does not know or that have no embedding."""
        rows = np.minimum(np.searchsorted(self.image_ids, image_ids), len(self.image_ids) - 1)
        known = (self.image_ids[rows] == image_ids) & (self.scales[rows] > 0)
        return np.where(known, rows, -1).astype(np.int64)

    def positions_of(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Positions (k,) of rows among the anchors, -1 for rows that are none."""
        return np.where(rows >= 0, self._place[rows], -1).astype(np.int64)

    def with_anchors(self, embeddings: Embeddings, rows: NDArray[np.int64]) -> "CollectionBasis":
        """The same with these rows among the anchors: every labelled image is one."""
        new = np.setdiff1d(rows[rows >= 0], self.anchors)
        if len(new) == 0:
            return self
        grown = replace(
            self,
            anchors=np.concatenate([self.anchors, new]),
            vectors=np.concatenate([self.vectors, self.whitening.apply(embeddings[new])]),
            found=Nearest(self.found.positions.copy(), self.found.cosines.copy()),
        )
        grown.link(embeddings, np.arange(len(self.image_ids)), grown.found, first=len(self.anchors))
        grown.keep_cosines(self)
        return grown

    def keep_cosines(self, before: "CollectionBasis") -> None:
        """Take over the cosines of the anchors that were there before; only those of the new ones are multiplied."""
        known: NDArray[np.int16] | None = before.__dict__.get("cosines")
        if known is None or len(self.anchors) > MOST_COMPARED:
            return
        count = len(before.anchors)
        new = all_cosines(self.vectors[count:], self.vectors)
        whole = np.empty((len(self.anchors), len(self.anchors)), dtype=np.int16)
        whole[:count, :count], whole[count:], whole[:count, count:] = known, new, new[:, :count].T
        self.__dict__["cosines"] = whole

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
        part = Nearest.none(len(rows))
        grown.link(embeddings[rows], rows, part)
        found.positions[rows], found.cosines[rows] = part.positions, part.cosines
        return grown

    def link(self, embeddings: Embeddings, rows: NDArray[np.int64], found: Nearest, *, first: int = 0) -> None:
        """Find the anchors that images are most alike to, and put them into their lists of neighbours.

        Args:
            embeddings: (k, d) of the images.
            rows: (k,) their rows.
            found: their lists, which are changed.
            first: the anchors before this one are in the lists already.
        """
        folded, shifts = self.fold(self.vectors[first:])
        folded = (folded.T * factor_of(embeddings)).astype(np.float32)
        scales, own = self.scales[rows], self.positions_of(rows) - first

        def work(part: slice) -> None:
            cosines = block_of(embeddings[part]) @ folded
            cosines -= shifts
            cosines *= scales[part][:, None]
            cosines[scales[part] == 0] = -1
            itself = np.flatnonzero(own[part] >= 0)
            cosines[itself, own[part][itself]] = -1
            found.take(part, cosines, first)

        in_blocks(len(rows), work, SEARCH_ROWS if folded.shape[1] > SEARCH_ROWS else BLOCK_ROWS)

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
    """Make the basis of a whole collection: whitening, anchors, and each image's nearest anchors.

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
    # `take` is many times as fast as embeddings[ready].
    there = embeddings if len(ready) == len(image_ids) else embeddings.take(ready, axis=0)
    whitening = whitening_of(there)
    if whitening is None:
        return None
    scales = np.zeros(len(image_ids), dtype=np.float32)
    scales[ready] = _scales(whitening, there)
    anchors = np.union1d(_subsample(ready), labelled).astype(np.int64)
    basis = CollectionBasis(
        image_ids, whitening, scales, anchors, whitening.apply(embeddings[anchors]), Nearest.none(len(image_ids)),
        len(ready),
    )  # fmt: skip
    basis.link(embeddings, np.arange(len(image_ids)), basis.found)
    return basis


def _subsample(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """A fixed choice among the images, spread over the collection."""
    if len(rows) <= MOST_ANCHORS:
        return rows
    return np.sort(np.random.default_rng(0).choice(rows, MOST_ANCHORS, replace=False))


def _scales(whitening: Whitening, embeddings: Embeddings) -> Matrix:
    """One over the length (n,) of whitened embeddings (n, d)."""
    scales = np.zeros(len(embeddings), dtype=np.float32)
    matrix = whitening.matrix * factor_of(embeddings)
    shift = whitening.mean @ whitening.matrix

    def work(rows: slice) -> None:
        moved = block_of(embeddings[rows]) @ matrix - shift
        scales[rows] = 1 / np.maximum(np.sqrt(np.einsum("nd,nd->n", moved, moved)), np.float32(1e-6))

    in_blocks(len(embeddings), work)
    return scales
