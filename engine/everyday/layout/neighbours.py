"""Approximate nearest neighbours: each image is compared with the cells around it only.

Cells are the images nearest to one of about 4 * sqrt(n) centres (an inverted file, as in Faiss).
Found are 92 % of the true fifteen nearest ones among photos, in a small part of the time that
comparing all with all takes (decision 62).
"""

from dataclasses import dataclass

import numpy as np

from engine.arrays import Floats, Integers
from engine.everyday.blocks import filled_in_blocks, in_blocks, one_thread_each, stop_if_requested

CENTRES_PER_ROOT = 4  # cells, in multiples of sqrt(n): cells of 80 images at 100,000
CELLS_SEARCHED = 64
"""Nearest to that of an image. Chosen: 92 % of the true fifteen are found (decision 62)."""
FEWEST_FOR_CELLS = 4_000  # fewer images are compared with one another
TRAINED_ON = 32  # images that a centre is learned from, on average
ROUNDS = 4
"""Of Lloyd's algorithm; more move the centres, and change nothing of what is found."""
ROWS_AT_ONCE = 512  # images that are compared at a time by a core


@dataclass(frozen=True)
class NeighbourIndex:
    """Vectors (n, d) sorted into cells; a query searches the cells nearest to it."""

    vectors: Floats  # (n, d) float32
    centres: Floats  # (c, d) float32
    order: Integers  # (n,) rows of the vectors, cell by cell
    starts: Integers  # (c + 1,) where each cell begins in `order`
    near_cells: Integers  # (c, p) the cells to search for the members of each

    @classmethod
    def of(cls, vectors: Floats) -> "NeighbourIndex":
        """Sort vectors (n, d) into cells.

        Raises:
            Cancelled: the token of `stopped_by` was set.
        """
        count = len(vectors)
        cells = 1 if count < FEWEST_FOR_CELLS else round(CENTRES_PER_ROOT * count**0.5)
        centres = _centres(vectors, cells)
        cell_of = nearest_centre(vectors, centres)
        order = np.argsort(cell_of, kind="stable").astype(np.int64)
        starts = np.searchsorted(cell_of[order], np.arange(cells + 1)).astype(np.int64)
        near = _nearest_rows(centres, centres, min(CELLS_SEARCHED, cells))
        return cls(vectors, centres, order, starts, near)

    def search(
        self, queries: Floats, count: int, *, leaves_out_itself: bool = False
    ) -> tuple[Integers, Floats]:
        """Find the `count` nearest vectors of each query (m, d).

        Returns:
            Rows (m, count) and squared distances (m, count), nearest first.

        Args:
            queries: any vectors, or exactly those of the index.
            count: at most as many as there are vectors; where the searched cells have fewer, the
                rest has row -1.
            leaves_out_itself: the queries are those of the index, and none is a neighbour of its
                own.

        Raises:
            Cancelled: the token of `stopped_by` was set.
        """
        rows = np.full((len(queries), count), -1, dtype=np.int64)
        squares = np.full((len(queries), count), np.inf, dtype=np.float32)
        cell_of = nearest_centre(queries, self.centres)
        order = np.argsort(cell_of, kind="stable")
        pieces = _pieces(cell_of[order])

        def search_pieces(span: slice) -> None:
            for first, last in pieces[span]:
                asked = order[first:last]
                pool = self._members(int(cell_of[asked[0]]))
                own = asked if leaves_out_itself else None
                found, squared = _nearest_in(queries[asked], self.vectors[pool], pool, count, own)
                rows[asked, : found.shape[1]], squares[asked, : found.shape[1]] = found, squared

        in_blocks(len(pieces), search_pieces, 4)
        return rows, squares

    def _members(self, cell: int) -> Integers:
        """Rows of the vectors in the cells around a cell."""
        spans = [
            self.order[self.starts[near] : self.starts[near + 1]]
            for near in self.near_cells[cell].tolist()
        ]
        return np.concatenate(spans)


def nearest_centre(vectors: Floats, centres: Floats) -> Integers:
    """(n,) the nearest of centres (c, d) to each vector (n, d)."""
    if len(centres) <= 1:
        return np.zeros(len(vectors), dtype=np.int64)
    half = np.einsum("cd,cd->c", centres, centres) / 2
    return filled_in_blocks(
        len(vectors),
        lambda rows: (vectors[rows] @ centres.T - half).argmax(axis=1),
        ROWS_AT_ONCE,
        np.int64,
    )


@one_thread_each
def _centres(vectors: Floats, cells: int) -> Floats:
    """Centres (cells, d) by rounds of k-means over a sample; an empty cell keeps its centre."""
    generator = np.random.default_rng(0)
    if not len(vectors):
        return np.zeros((1, vectors.shape[1]), np.float32)
    if cells == 1:
        return vectors.mean(axis=0, keepdims=True)
    count = min(len(vectors), cells * TRAINED_ON)
    sample = vectors[np.sort(generator.choice(len(vectors), count, replace=False))]
    centres = sample[np.sort(generator.choice(len(sample), cells, replace=False))].copy()
    for _round in range(ROUNDS):
        stop_if_requested()
        cell_of = nearest_centre(sample, centres)
        order = np.argsort(cell_of, kind="stable")
        held, first = np.unique(cell_of[order], return_index=True)
        sizes = np.diff(np.append(first, len(order)))
        centres[held] = np.add.reduceat(sample[order], first, axis=0) / sizes[:, None].astype(
            np.float32
        )
    return centres


def _pieces(cells: Integers) -> list[tuple[int, int]]:
    """Spans of equal cells in ascending cells (m,), none longer than `ROWS_AT_ONCE`."""
    if not len(cells):
        return []
    edges = np.flatnonzero(np.diff(cells, prepend=-1, append=-1))
    return [
        (start, min(start + ROWS_AT_ONCE, last))
        for first, last in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)
        for start in range(first, last, ROWS_AT_ONCE)
    ]


def _nearest_rows(vectors: Floats, others: Floats, count: int) -> Integers:
    pool = np.arange(len(others), dtype=np.int64)
    return filled_in_blocks(
        (len(vectors), count),
        lambda rows: _nearest_in(vectors[rows], others, pool, count, None)[0],
        ROWS_AT_ONCE,
        np.int64,
    )


def _nearest_in(
    queries: Floats, vectors: Floats, rows: Integers, count: int, own: Integers | None
) -> tuple[Integers, Floats]:
    """The nearest of vectors (k, d) at `rows` (k,): rows (m, count) and squared distances."""
    squares = -2 * (queries @ vectors.T)
    squares += np.einsum("kd,kd->k", vectors, vectors)
    if own is not None:
        order = np.argsort(rows)
        squares[np.arange(len(own)), order[np.searchsorted(rows[order], own)]] = np.inf
    count = min(count, squares.shape[1] - (own is not None))
    kept = np.argpartition(squares, count - 1, axis=1)[:, :count]
    near = np.take_along_axis(squares, kept, axis=1)
    ranked = np.argsort(near, axis=1, kind="stable")
    near = (
        np.take_along_axis(near, ranked, axis=1) + np.einsum("md,md->m", queries, queries)[:, None]
    )
    return rows[np.take_along_axis(kept, ranked, axis=1)], np.maximum(near, 0)
