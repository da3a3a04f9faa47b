"""Whitening and nearest neighbours of a collection: computed once, and valid while labels change.

A fixed subsample of `MOST_ANCHORS` images and every labelled one are its anchors: rounds of
refinement run over them, and every other image is linked to the anchors that are most similar to
it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Floats, Integers
from engine.everyday.blocks import (
    BLOCK_ROWS,
    Embeddings,
    block_of,
    factor_of,
    filled_in_blocks,
    in_blocks,
)
from engine.everyday.collection_stage.neighbours import (
    LINKS,
    SEARCH_ROWS,
    Links,
    Nearest,
    NearestAnchors,
    Whitening,
    all_cosines,
    links_between,
    links_to,
    nearest,
    whitening_of,
)

MOST_ANCHORS = 3072
"""Images that represent all (decision 52).

Chosen: one label more takes less than a second (`benchmark collection`).
"""
MOST_COMPARED = 4096
"""Of more anchors than this no pairwise cosines are stored: those of so many take 32 MB."""
SAME = 0.9999
"""Cosine above which a new embedding is the anchor itself, which is not a neighbour of its own."""
SINGULAR = 1e-6
"""Added to the diagonal of a singular matrix, as a share of its mean. Chosen: any small value
does."""
FEWEST_IMAGES = 8  # fewer images than this are not enough to learn from


@dataclass(frozen=True)
class CollectionBasis:
    """Whitening, anchors and links of n images."""

    image_ids: Integers  # (n,) int64, ascending
    whitening: Whitening  # learned from the images that have an embedding
    # (n,) float32, one over the length of the whitened embedding; 0 without an embedding
    scales: Floats
    anchors: Integers  # (m,) int64 rows of the anchors
    vectors: Floats  # (m, d) float32, their whitened embeddings of length 1
    found: NearestAnchors  # of every image
    learned_from: int  # images that the whitening was learned from

    @cached_property
    def anchor_links(self) -> Links:
        """Links (m, `LINKS`) among the anchors."""
        return links_between(self.found.rows(self.anchors))

    @cached_property
    def cosines(self) -> NDArray[np.int16] | None:
        """Cosines (m, m) of the anchors, times `COSINE_ONE`; None where they are too many."""
        return (
            all_cosines(self.vectors, self.vectors) if len(self.anchors) <= MOST_COMPARED else None
        )

    def links_at(self, rows: Integers) -> Links:
        """Links (k, `LINKS`) of some images to anchors; an anchor's are those of `anchor_links`.

        They are not cached: those of all images would take twice the memory of `found`.
        """
        near = links_to(self.found.rows(rows))
        shape, width = (len(near.positions), LINKS), near.positions.shape[1]
        positions = np.zeros(shape, dtype=np.int32)
        weights, cosines = np.zeros(shape, dtype=np.float32), np.zeros(shape, dtype=np.float32)
        positions[:, :width], weights[:, :width], cosines[:, :width] = (
            near.positions,
            near.weights,
            near.cosines,
        )
        place = self.positions_of(rows)
        itself = np.flatnonzero(place >= 0)
        own = self.anchor_links.rows(place[itself])
        positions[itself], weights[itself], cosines[itself] = (
            own.positions,
            own.weights,
            own.cosines,
        )
        return Links(positions, weights, cosines)

    def links_of_new(self, vectors: Floats) -> Links:
        """Links (n, k) to anchors of any images, by their whitened embeddings (n, d)."""
        alike = vectors @ self.vectors.T
        own = np.where(alike.max(axis=1) > SAME, alike.argmax(axis=1), -1)
        return links_to(nearest(vectors, self.vectors, own=own))

    def rows_of(self, image_ids: Integers) -> Integers:
        """Rows (k,) of images; -1 for those it does not know or that have no embedding."""
        rows = np.minimum(np.searchsorted(self.image_ids, image_ids), len(self.image_ids) - 1)
        known = (self.image_ids[rows] == image_ids) & (self.scales[rows] > 0)
        return np.where(known, rows, -1).astype(np.int64)

    def positions_of(self, rows: Integers) -> Integers:
        """Positions (k,) of rows among the anchors, -1 for other rows."""
        anchors, positions = self._anchors_by_row
        place = np.minimum(np.searchsorted(anchors, rows), len(anchors) - 1)
        return np.where(anchors[place] == rows, positions[place], -1)

    @cached_property
    def _anchors_by_row(self) -> tuple[Integers, Integers]:
        """Rows (m,) of the anchors, ascending, and their positions."""
        order = np.argsort(self.anchors)
        return self.anchors[order], order

    def with_anchors(self, embeddings: Embeddings, rows: Integers) -> "CollectionBasis":
        """The same with these rows among the anchors."""
        new = np.setdiff1d(rows[rows >= 0], self.anchors)
        if len(new) == 0:
            return self
        anchors = np.concatenate([self.anchors, new])
        vectors = np.concatenate([self.vectors, self.whitening.apply(embeddings[new])])
        grown = replace(self, anchors=anchors, vectors=vectors)
        grown = replace(grown, found=grown.with_more_found(embeddings, first=len(self.anchors)))
        grown.keep_cosines(self)
        return grown

    def with_more_found(self, embeddings: Embeddings, *, first: int) -> NearestAnchors:
        """Update `found` with the anchors from `first` on, by all images' embeddings (n, d)."""
        cosines_of = self._cosines(embeddings, np.arange(len(self.image_ids)), first)
        nearer: dict[int, tuple[Integers, Nearest]] = {}

        def find_nearer(part: slice) -> None:
            cosines, known = cosines_of(part), self.found.rows(part)
            rows = np.flatnonzero(cosines.max(axis=1) > known.cosines[:, -1])
            if len(rows):
                found = known.rows(rows)
                found.take(slice(None), cosines[rows], first)
                nearer[part.start] = part.start + rows, found

        in_blocks(len(self.image_ids), find_nearer, self._rows_for(first))
        if not nearer:
            return self.found
        parts = [nearer[start] for start in sorted(nearer)]
        positions = np.concatenate([found.positions for _rows, found in parts])
        cosines = np.concatenate([found.cosines for _rows, found in parts])
        return self.found.with_newer(
            np.concatenate([rows for rows, _found in parts]), Nearest(positions, cosines)
        )

    def keep_cosines(self, before: "CollectionBasis") -> None:
        """Reuse the cosines of the earlier anchors; only those of the new ones are computed."""
        known: NDArray[np.int16] | None = before.__dict__.get("cosines")
        if known is None or len(self.anchors) > MOST_COMPARED:
            return
        count = len(before.anchors)
        new = all_cosines(self.vectors[count:], self.vectors)
        whole = np.empty((len(self.anchors), len(self.anchors)), dtype=np.int16)
        whole[:count, :count], whole[count:], whole[:count, count:] = known, new, new[:, :count].T
        self.know_cosines(whole)

    def know_cosines(self, cosines: NDArray[np.int16]) -> None:
        """Take cosines (m, m) of the anchors over; they are not multiplied then."""
        self.__dict__["cosines"] = cosines

    def with_images(
        self, image_ids: Integers, embeddings: Embeddings, rows: Integers
    ) -> "CollectionBasis":
        """Extend to these ids (n,), the known ones first; the images of new rows are linked."""
        more = len(image_ids) - len(self.image_ids)
        known = self.found.whole()
        cosines = np.pad(known.cosines, ((0, more), (0, 0)), constant_values=-1)
        found = Nearest(np.pad(known.positions, ((0, more), (0, 0))), cosines)
        scales = np.pad(self.scales, (0, more))
        grown = replace(self, image_ids=image_ids, scales=scales, found=NearestAnchors.of(found))
        grown.scales[rows] = _scales(self.whitening, embeddings[rows])
        part = Nearest.none(len(rows))
        grown.link(embeddings[rows], rows, part)
        found.positions[rows], found.cosines[rows] = part.positions, part.cosines
        return grown

    def link(self, embeddings: Embeddings, rows: Integers, found: Nearest) -> None:
        """Merge the nearest anchors of embeddings (k, d) at these rows (k,) into `found`."""
        cosines_of = self._cosines(embeddings, rows, 0)
        in_blocks(len(rows), lambda part: found.take(part, cosines_of(part)), self._rows_for(0))

    def _rows_for(self, first: int) -> int:
        """Rows of a block whose cosines with the anchors from `first` on stay in a core's cache."""
        return SEARCH_ROWS if len(self.anchors) - first > SEARCH_ROWS else BLOCK_ROWS

    def _cosines(
        self, embeddings: Embeddings, rows: Integers, first: int
    ) -> Callable[[slice], Floats]:
        """Return a function from embeddings (k, d) at `rows` (k,) to cosines with the anchors.

        An image has -1 with itself, and one without an embedding with all.
        """
        folded, shifts = self.fold(self.vectors[first:])
        folded = (folded.T * factor_of(embeddings)).astype(np.float32)

        def of_block(part: slice) -> Floats:
            scales, own = self.scales[rows[part]], self.positions_of(rows[part]) - first
            cosines = block_of(embeddings[part]) @ folded
            cosines -= shifts
            cosines *= scales[:, None]
            cosines[scales == 0] = -1
            itself = np.flatnonzero(own >= 0)
            cosines[itself, own[itself]] = -1
            return cosines

        return of_block

    def fold(self, weights: Floats) -> tuple[Floats, Floats]:
        """Weights (c, d) for whitened embeddings as weights (c, d) and shifts (c,) for plain ones.

        z @ weights.T = scale * (embedding @ folded.T - shifts).
        """
        folded = (weights @ self.whitening.matrix.T).astype(np.float32)
        return folded, (folded @ self.whitening.mean).astype(np.float32)

    def unfold(self, weights: Floats) -> Floats:
        """Convert weights (c, d) for plain embeddings to ones for unnormalised whitened ones.

        Directions that whitening leaves out count nothing.
        """
        matrix = self.whitening.matrix.astype(np.float64)
        squares = matrix.T @ matrix
        squares += SINGULAR * squares.diagonal().mean() * np.eye(len(squares))
        return np.linalg.solve(squares, matrix.T @ weights.T).T.astype(np.float32)


def collection_basis(
    image_ids: Integers,
    embeddings: Embeddings,
    *,
    labelled: Integers,
    ready: Integers | None = None,
) -> CollectionBasis | None:
    """Compute the basis of a collection; None for too few images, or where all are the same.

    Args:
        image_ids: (n,) int64, ascending.
        embeddings: (n, d) of length 1.
        labelled: rows of the labelled images; they are anchors.
        ready: rows that have an embedding, ascending; by default all.
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
    chosen = ready
    if len(ready) > MOST_ANCHORS:
        chosen = np.random.default_rng(0).choice(ready, MOST_ANCHORS, replace=False)
    anchors = np.union1d(chosen, labelled).astype(np.int64)
    vectors, found = whitening.apply(embeddings[anchors]), Nearest.none(len(image_ids))
    nearest_anchors = NearestAnchors.of(found)
    basis = CollectionBasis(
        image_ids, whitening, scales, anchors, vectors, nearest_anchors, len(ready)
    )
    basis.link(embeddings, np.arange(len(image_ids)), found)
    return basis


def _scales(whitening: Whitening, embeddings: Embeddings) -> Floats:
    """One over the length (n,) of whitened embeddings (n, d)."""
    matrix = whitening.matrix * factor_of(embeddings)
    shift = whitening.mean @ whitening.matrix

    def scales_of(rows: slice) -> Floats:
        moved = block_of(embeddings[rows]) @ matrix - shift
        lengths = np.sqrt(np.einsum("nd,nd->n", moved, moved))
        return np.asarray(1 / np.maximum(lengths, np.float32(1e-6)))

    return filled_in_blocks(len(embeddings), scales_of)
