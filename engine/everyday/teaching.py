"""Which images to label first: those that stand for many others whose class is not clear yet.

An image speaks for another as far as their whitened embeddings point the same way, and the best speaker counts. The
next image to ask about is the one that adds most to what the labelled ones and those chosen before it say of all
images, each of which counts the more the less is known of its class. So typical images come before odd ones, the second
image of a series comes late, and before any label coverage alone decides. The objective is facility location (Wei, Iyer
and Bilmes 2015), for which the greedy choice reaches 63% of the best at least (Nemhauser and others 1978).
Ours are the space, the weights and the limit to anchors.
"""

import heapq
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.everyday.blocks import in_blocks, one_thread_each, stop_if_asked
from engine.everyday.classifier import FitSnapshot, FittedClassifier
from engine.everyday.collection_stage.basis import MOST_ANCHORS, CollectionBasis
from engine.everyday.collection_stage.live_basis import LiveBasis
from engine.everyday.scores import Scores
from engine.graph.codes import NO_CLASS

BLOCK_ROWS: Final = 256
"""Images compared at a time by a core. Chosen: their cosines with 3,072 anchors take 3 MB."""
STEPS_BEFORE_A_LOOK: Final = 256
"""Images chosen before looking whether to stop: some milliseconds."""

Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class ModelUncertainty:
    """What a model does not know of the images of a basis."""

    values: Matrix  # (n,) float32 in [0, 1], by row: 1 where nothing is known, 0 where the class is certain
    labelled: NDArray[np.int64]  # rows of the labelled images: they speak for others, and nobody need ask about them
    # rows of images that are neither asked about nor matter: said to show none of the classes, or gone
    left_out: NDArray[np.int64]
    classes_seen: float  # share in [0, 1] of the classes to choose among that have a shot


def uncertainty_of(
    fitted: FittedClassifier | None, scores: Scores, labelled: NDArray[np.int64], left_out: NDArray[np.int64]
) -> ModelUncertainty:
    """What a fitted model does not know; without a model, or before any label, that is everything.

    Args:
        scores: what it says of the n images.
        labelled: see `ModelUncertainty`.
        left_out: see `ModelUncertainty`.
    """
    if fitted is None or len(fitted.candidate_ids) == 0:
        return ModelUncertainty(np.ones(len(scores.best), dtype=np.float32), labelled, left_out, 0.0)
    is_unseen = ~np.isin(fitted.candidate_ids, fitted.shots.class_ids)
    return ModelUncertainty(1 - scores.best_score, labelled, left_out, 1 - float(is_unseen.mean()))


def teach_first_of(
    kept: LiveBasis, snapshot: FitSnapshot, fitted: FittedClassifier, scores: Scores
) -> NDArray[np.int64] | None:
    """See `Classifier.teach_first`, by the basis that is kept of the collection."""
    images = snapshot.images
    basis = kept.current(images, snapshot.shots.image_ids)
    if basis is None:
        return None
    is_gone = np.ones(len(images.row_ids), dtype=bool)
    is_gone[images.rows] = False
    labelled = images.rows[images.labels != NO_CLASS]
    return teach_first(basis, uncertainty_of(fitted, scores, labelled, np.flatnonzero(is_gone)))


@one_thread_each
def teach_first(basis: CollectionBasis, uncertainty: ModelUncertainty) -> NDArray[np.int64]:
    """Every unlabelled image in the order in which labels would teach most.

    Anchors stand for all images, so they are chosen one by one, and come first; each of the others follows by what its
    most alike anchors would have taught had they been first.

    Args:
        uncertainty: what is known of its images.

    Returns:
        Rows of the images that have an embedding and are neither labelled nor left out.

    Raises:
        Cancelled: the token of `stopped_by` says so.
    """
    is_free = basis.scales > 0
    is_free[uncertainty.labelled] = False
    is_free[uncertainty.left_out] = False
    places = np.flatnonzero(is_free[basis.anchors])[:MOST_ANCHORS]
    labelled = basis.positions_of(uncertainty.labelled)
    weights = _weights(uncertainty.values[basis.anchors[places]], uncertainty.classes_seen)
    chosen = _Coverage(basis.vectors[places], weights, basis.vectors[labelled[labelled >= 0]])
    gains = np.zeros(len(basis.anchors), dtype=np.float32)
    gains[places] = chosen.gains
    order = basis.anchors[places[chosen.order()]]
    is_free[order] = False
    others = np.flatnonzero(is_free)
    links = basis.links_at(others)
    likely = (links.weights * gains[links.positions]).sum(axis=1)
    return np.concatenate([order, others[np.argsort(-likely, kind="stable")]])


def _weights(uncertainties: Matrix, classes_seen: float) -> Matrix:
    """What each image counts, in [0, 1].

    A model that doubts much is not to be believed where it is sure either: few labels make it sure of much that it has
    wrong, most of all where it has not seen some classes. So its word counts by how sure it is on the whole, and by how
    many of the classes it has seen.
    """
    sure = 1 - uncertainties
    trust = classes_seen * (sure.mean() if len(sure) else 0)
    return (1 - trust * sure).astype(np.float32)


class _Coverage:
    """How well each of m images is spoken for, and what speaking for it is worth.

    Args:
        vectors: (m, d) of the images, of length 1.
        weights: (m,) of the images.
        known: (k, d) of images that speak for others already.
    """

    def __init__(self, vectors: Matrix, weights: Matrix, known: Matrix) -> None:
        count = len(vectors)
        self._weights = weights
        self._alike = np.zeros((count, count), dtype=np.float32)
        self._covered = np.zeros(count, dtype=np.float32)
        self.gains = np.zeros(count, dtype=np.float32)
        """What each image would add if it were the next one."""
        in_blocks(count, lambda rows: self._compare(vectors, known, rows), BLOCK_ROWS)
        in_blocks(count, self._gain, BLOCK_ROWS)

    def _compare(self, vectors: Matrix, known: Matrix, rows: slice) -> None:
        np.maximum(vectors[rows] @ vectors.T, 0, out=self._alike[rows])
        if len(known):
            self._covered[rows] = np.maximum((vectors[rows] @ known.T).max(axis=1), 0)

    def _gain(self, rows: slice) -> None:
        self.gains[rows] = np.maximum(self._alike[rows] - self._covered, 0) @ self._weights

    def order(self) -> NDArray[np.int64]:
        """All m images, each adding most after those before it.

        A gain only shrinks as more images are chosen: the image with the largest gain of some steps ago is next if it
        still has the largest once that was looked up (Minoux 1978).
        """
        heap = [(-gain, place) for place, gain in enumerate(self.gains.tolist())]
        heapq.heapify(heap)
        covered, order = self._covered.copy(), np.zeros(len(heap), dtype=np.int64)
        looked_up = np.zeros(len(heap), dtype=np.int64)  # the step at which a gain was true last
        for step in range(len(order)):
            if step % STEPS_BEFORE_A_LOOK == 0:
                stop_if_asked()
            while looked_up[place := heap[0][1]] != step:
                gain = float(np.maximum(self._alike[place] - covered, 0) @ self._weights)
                looked_up[place] = step
                heapq.heapreplace(heap, (-gain, place))
            order[step] = heapq.heappop(heap)[1]
            np.maximum(covered, self._alike[place], out=covered)
        return order
