"""Layout of images in the plane by t-SNE (van der Maaten and Hinton, 2008).

Every image is drawn to its nearest neighbours with one weight (uniform affinities), and the start
is the two directions of most variance, so that the same images give the same map. Decision 62
compares libraries and settings.
"""

from collections.abc import Callable

import numpy as np

from engine.arrays import Floats, Integers
from engine.everyday.blocks import filled_in_blocks, stop_if_requested
from engine.everyday.layout.neighbours import NeighbourIndex

NEIGHBOURS = 15  # that draw an image to them (decision 62)
FEWEST = 20  # fewer images are placed by their two directions of most variance
MOST_LAID_OUT = 120_000
"""Of more images than this a sample is laid out, and the others are placed among it."""
PHASES = ((12.0, 0.5, 4), (4.0, 0.8, 2), (1.0, 0.8, 14))
"""Exaggeration, momentum and rounds of optimisation: groups form first, then they spread."""
ITERATIONS = 25  # of a round
ROUNDS = sum(rounds for _exaggeration, _momentum, rounds in PHASES)
FEWEST_FOR_GRID = 1_500
"""Images from which forces are interpolated on a grid: of fewer, summing them takes less."""
EXTENT = 100.0
"""The middle 98 % of a map are within half of this of its centre, along the longer side."""
_SPAN = (1, 99)  # percentiles that `EXTENT` is of
_EVEN = 1e-9  # a span or distance below this is none

OnRound = Callable[[int, int], None]
"""Called with the finished and with all rounds."""


def lay_out(vectors: Floats, on_round: OnRound | None = None, *, threads: int = 0) -> Floats:
    """Return positions (n, 2) float32 of vectors (n, w), whose first two columns vary most.

    The same vectors give the same positions.

    Args:
        vectors: at most `MOST_LAID_OUT`; of more, see `sample_of` and `place_among`.
        on_round: called with the rounds that are done, and all of them.
        threads: 0 for all cores.

    Raises:
        Cancelled: the token of `stopped_by` was set.
    """
    if len(vectors) < FEWEST:
        return centred(_first_two(vectors))
    rows, squares = NeighbourIndex.of(vectors).search(vectors, NEIGHBOURS, leaves_out_itself=True)
    stop_if_requested()
    return centred(_optimised(_first_two(vectors), rows, squares, on_round, threads))


def _optimised(
    start: Floats, rows: Integers, squares: Floats, on_round: OnRound | None, threads: int
) -> Floats:
    import os

    from openTSNE import TSNEEmbedding, initialization
    from openTSNE.affinity import Uniform
    from openTSNE.nearest_neighbors import PrecomputedNeighbors

    is_large = len(start) > FEWEST_FOR_GRID
    near = PrecomputedNeighbors(np.where(rows < 0, rows[:, :1], rows), squares)
    affinities = Uniform(knn_index=near, symmetrize="max")
    laid = TSNEEmbedding(
        initialization.rescale(start.astype(np.float64) + _jitter(start)),
        affinities,
        negative_gradient_method="fft" if is_large else "bh",
        # Few images: threads would only wait for one another
        n_jobs=threads or (os.cpu_count() if is_large else None) or 1,
        random_state=0,
    )
    done = 0
    for exaggeration, momentum, rounds in PHASES:
        for _round in range(rounds):
            stop_if_requested()
            laid.optimize(
                n_iter=ITERATIONS,
                exaggeration=exaggeration,
                momentum=momentum,
                learning_rate="auto",
                inplace=True,
            )
            done += 1
            if on_round is not None:
                on_round(done, ROUNDS)
    return np.asarray(laid, dtype=np.float32)


def _jitter(start: Floats) -> Floats:
    """Random offsets that separate copies of one photo, which no force parts."""
    spread = max(float(start.std()), _EVEN)
    return (np.random.default_rng(0).standard_normal(start.shape) * (spread / 1e3)).astype(
        np.float32
    )


def _first_two(vectors: Floats) -> Floats:
    places = np.zeros((len(vectors), 2), dtype=np.float32)
    width = min(2, vectors.shape[1])
    places[:, :width] = vectors[:, :width]
    return places


def centred(places: Floats) -> Floats:
    """Positions (n, 2) around zero, scaled so that nearly all are within half of `EXTENT`."""
    if not len(places):
        return places
    low, high = np.percentile(places, _SPAN, axis=0)
    span = float((high - low).max())
    return ((places - (low + high) / 2) * (EXTENT / span if span > _EVEN else 1.0)).astype(
        np.float32
    )


def sample_of(count: int, most: int = MOST_LAID_OUT, *, seed: int = 0) -> Integers:
    """Rows, ascending, of the images that are laid out: all, or a sample."""
    if count <= most:
        return np.arange(count, dtype=np.int64)
    return np.sort(np.random.default_rng(seed).choice(count, most, replace=False)).astype(np.int64)


def place_among(index: NeighbourIndex, places: Floats, new: Floats) -> Floats:
    """Places (m, 2) of new vectors (m, w) among those that are there, which do not move.

    Each moves to the mean of its nearest neighbours' places, of those that are close together where
    they are scattered: a mean of two groups would be a place in neither.

    Args:
        index: of the vectors (n, w) that have a place.
        places: (n, 2) of these.
    """
    rows, squares = index.search(new, min(NEIGHBOURS, len(places)))
    known = rows >= 0
    near = places[np.maximum(rows, 0)]
    nearest = np.maximum(squares[:, :1], _EVEN)
    weights = np.where(known, nearest / np.maximum(squares, _EVEN), 0.0) ** 2
    return filled_in_blocks((len(new), 2), lambda rows: _together(near[rows], weights[rows]))


def _together(near: Floats, weights: Floats) -> Floats:
    """Weighted means (m, 2) of places (m, k, 2) around the one that is closest to most others."""
    apart = np.sqrt(((near[:, :, None] - near[:, None]) ** 2).sum(axis=3))
    support = (weights[:, None, :] / (1.0 + apart)).sum(axis=2) * np.sqrt(weights)
    middle = support.argmax(axis=1)
    from_middle = np.take_along_axis(apart, middle[:, None, None], axis=1)[:, 0]
    reach = np.median(from_middle, axis=1, keepdims=True) / 2 + _EVEN
    kept = weights * np.exp(-((from_middle / reach) ** 2))
    kept /= kept.sum(axis=1, keepdims=True)
    return np.einsum("mk,mkx->mx", kept, near).astype(np.float32)
