"""Active learning: images to label first, those that represent many others of uncertain class.

An image covers another as far as their whitened embeddings point the same way, and the best cover
counts. The next image is the one that adds most to what the labelled ones and those chosen before
it cover, each image weighed by its uncertainty: typical images come before odd ones, the second of
a series comes late. The objective is facility location (Wei, Iyer and Bilmes 2015), for which the
greedy choice reaches 63% of the best at least (Nemhauser and others 1978). Ours are the space, the
weights and the limit to anchors.
"""

import heapq
from abc import ABC, abstractmethod

import numpy as np

from engine.arrays import Floats, Integers, RowOrder
from engine.everyday.blocks import filled_in_blocks, in_blocks, one_thread_each, stop_if_requested
from engine.everyday.classifier import FitSnapshot, FittedClassifier, ProjectClassifier
from engine.everyday.collection_stage.basis import MOST_ANCHORS, CollectionBasis
from engine.everyday.collection_stage.live_basis import LiveBasis
from engine.everyday.grouping.groups import BasisLinks
from engine.everyday.scores import Scores
from engine.graph.codes import NO_CLASS

BLOCK_ROWS = 256
"""Images compared at a time by a core. Chosen: their cosines with 3,072 anchors take 3 MB."""
STEPS_BEFORE_A_LOOK = 256  # images chosen before looking whether to stop: some milliseconds


def uncertainty_of(fitted: FittedClassifier | None, scores: Scores) -> Floats:
    """Uncertainty (n,) of a model about n images, in [0, 1]; 1 without a model or any label."""
    if fitted is None or len(fitted.candidate_ids) == 0:
        return np.ones(len(scores.best), dtype=np.float32)
    return 1 - scores.best_score


class BasisClassifier(ABC):
    """What the basis of the collection gives to any `Classifier`: look-alikes, what to label."""

    def __init__(self, basis: LiveBasis) -> None:
        self._basis = basis

    @abstractmethod
    def fit(self, snapshot: FitSnapshot) -> ProjectClassifier:
        """See `Classifier`."""

    def look_alikes(self, snapshot: FitSnapshot) -> BasisLinks | None:
        basis = self._basis.current(snapshot.images, snapshot.shots.image_ids)
        return None if basis is None else BasisLinks(basis)

    def teach_first(
        self, snapshot: FitSnapshot, fitted: FittedClassifier, scores: Scores
    ) -> RowOrder | None:
        images = snapshot.images
        basis = self._basis.current(images, snapshot.shots.image_ids)
        if basis is None:
            return None
        is_gone = np.ones(len(images.row_ids), dtype=bool)
        is_gone[images.rows] = False
        labelled = images.rows[images.labels != NO_CLASS]
        uncertainty, left_out = uncertainty_of(fitted, scores), np.flatnonzero(is_gone)
        return teach_first(basis, uncertainty, labelled=labelled, left_out=left_out)


@one_thread_each
def teach_first(
    basis: CollectionBasis, uncertainty: Floats, *, labelled: Integers, left_out: Integers
) -> RowOrder:
    """Every unlabelled image in the order in which labels would teach most.

    Anchors represent all images, so they are chosen one by one, and come first; each of the others
    follows by what its most similar anchors would have taught had they been first.

    Args:
        uncertainty: (n,) float32 in [0, 1] of a model about each image, by row.
        labelled: rows of the labelled images, which cover others.
        left_out: rows of images that neither count nor come up: removed ones.

    Returns:
        Rows of the images that have an embedding and are neither labelled nor left out.
    """
    is_free = basis.scales > 0
    is_free[labelled] = False
    is_free[left_out] = False
    places = np.flatnonzero(is_free[basis.anchors])[:MOST_ANCHORS]
    known = basis.positions_of(labelled)
    weights = _weights(uncertainty[basis.anchors[places]])
    chosen = _Coverage(basis.vectors[places], weights, basis.vectors[known[known >= 0]])
    gains = np.zeros(len(basis.anchors), dtype=np.float32)
    gains[places] = chosen.gains
    order = basis.anchors[places[chosen.order()]]
    is_free[order] = False
    others = np.flatnonzero(is_free).astype(np.int32)

    def gains_of(part: slice) -> Floats:
        links = basis.links_at(others[part].astype(np.int64))
        return np.asarray((links.weights * gains[links.positions]).sum(axis=1))

    likely = filled_in_blocks(len(others), gains_of)
    np.negative(likely, out=likely)
    return np.concatenate([order.astype(np.int32), others[np.argsort(likely, kind="stable")]])


def _weights(uncertainties: Floats) -> Floats:
    """Weights of images in [0, 1]; with few labels the mean confidence weighs most."""
    sure = 1 - uncertainties
    trust = sure.mean() if len(sure) else np.float32(0)
    return (1 - trust * sure).astype(np.float32)


class _Coverage:
    """Coverage of m images, by unit vectors (m, d) and those of labelled images (k, d)."""

    def __init__(self, vectors: Floats, weights: Floats, known: Floats) -> None:
        count = len(vectors)
        self._weights = weights
        self._alike = np.zeros((count, count), dtype=np.float32)
        self._covered = np.zeros(count, dtype=np.float32)
        # What each image would add if it were the next one
        self.gains = np.zeros(count, dtype=np.float32)
        in_blocks(count, lambda rows: self._compare(vectors, known, rows), BLOCK_ROWS)
        in_blocks(count, self._gain, BLOCK_ROWS)

    def _compare(self, vectors: Floats, known: Floats, rows: slice) -> None:
        np.maximum(vectors[rows] @ vectors.T, 0, out=self._alike[rows])
        if len(known):
            self._covered[rows] = np.maximum((vectors[rows] @ known.T).max(axis=1), 0)

    def _gain(self, rows: slice) -> None:
        self.gains[rows] = np.maximum(self._alike[rows] - self._covered, 0) @ self._weights

    def order(self) -> Integers:
        """All m images, each adding most after those before it.

        Lazy greedy (Minoux 1978): gains only shrink, so the largest known one is next if it is
        still the largest once it is recomputed.
        """
        heap = [(-gain, place) for place, gain in enumerate(self.gains.tolist())]
        heapq.heapify(heap)
        covered, order = self._covered.copy(), np.zeros(len(heap), dtype=np.int64)
        looked_up = np.zeros(len(heap), dtype=np.int64)  # the step at which a gain was true last
        for step in range(len(order)):
            if step % STEPS_BEFORE_A_LOOK == 0:
                stop_if_requested()
            while looked_up[place := heap[0][1]] != step:
                gain = float(np.maximum(self._alike[place] - covered, 0) @ self._weights)
                looked_up[place] = step
                heapq.heapreplace(heap, (-gain, place))
            order[step] = heapq.heappop(heap)[1]
            np.maximum(covered, self._alike[place], out=covered)
        return order
