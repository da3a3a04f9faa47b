"""From labels and scores to the snapshot that everybody sees; after a label only what a label changes is made anew."""

from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from engine.collection.embeddings.counting import ShownCounts, counts_of, shown_classes
from engine.collection.embeddings.embedded_images import EmbeddedImages
from engine.collection.state import NO_CLASS, CollectionState, ImageStatus
from engine.everyday.classifier import FittedClassifier
from engine.everyday.scores import Scores
from engine.graph.category_graph import CategoryGraph


@dataclass(frozen=True)
class Predictions:
    """What a model says of n images, in a graph that may have changed since it was fitted: no class that is gone."""

    # best_class, best_score, safe_class, safe_score, is_unknown: as in `CollectionState`
    best_class: NDArray[np.int64]
    best_score: NDArray[np.float32]
    safe_class: NDArray[np.int64]
    safe_score: NDArray[np.float32]
    is_unknown: NDArray[np.bool_]

    @staticmethod
    def none(count: int) -> "Predictions":
        """Nothing said of any image yet."""
        classes, scores = np.full(count, NO_CLASS, dtype=np.int64), np.zeros(count, dtype=np.float32)
        return Predictions(classes, scores, classes, scores, np.zeros(count, dtype=bool))

    @staticmethod
    def of(
        fitted: FittedClassifier, scores: Scores, has_scores: NDArray[np.bool_], graph: CategoryGraph
    ) -> "Predictions":
        """Read them off the scores.

        Args:
            scores: of n images.
            has_scores: (n,) bool, whether they are about the image.
            graph: as it is now.
        """
        candidates = _those_in(graph, fitted.candidate_ids)
        if not has_scores.any() or len(candidates) == 0:
            return Predictions.none(len(has_scores))
        best = np.where(has_scores, candidates[np.where(has_scores, scores.best, 0)], NO_CLASS)
        has_best = best != NO_CLASS
        is_unknown = has_best & fitted.is_unknown(scores)
        safe = np.where(has_best & ~is_unknown, scores.safe_class, NO_CLASS)
        gone = np.setdiff1d(fitted.back_off.coarse_ids, _those_in(graph, fitted.back_off.coarse_ids))
        if len(gone):
            safe[np.isin(safe, gone)] = NO_CLASS
        return Predictions(
            best, np.where(has_best, scores.best_score, 0).astype(np.float32),
            safe, np.where(safe != NO_CLASS, scores.safe_score, 0).astype(np.float32), is_unknown,
        )  # fmt: skip


def _those_in(graph: CategoryGraph, class_ids: NDArray[np.int64]) -> NDArray[np.int64]:
    """Class ids (c,), `NO_CLASS` in place of those that are gone."""
    return np.array([i if i in graph else NO_CLASS for i in class_ids.tolist()], dtype=np.int64)


def teach_ranks(first: NDArray[np.int64] | None, rows: NDArray[np.int64]) -> NDArray[np.int32] | None:
    """Places (n,) among the images to label first; those that are not among them have the last.

    Args:
        first: (k,) rows of the images to label, in order; None where nobody asked.
        rows: (n,) of the listed images.
    """
    if first is None:
        return None
    ranks = np.full(max(rows.max(initial=0), first.max(initial=0)) + 1, len(first), dtype=np.int32)
    ranks[first] = np.arange(len(first), dtype=np.int32)
    return ranks[rows]


@final
class Publisher:
    """Makes snapshots, and keeps what the next one can be made from quickly.

    Args:
        embedded: the images.
        model_name: name of the backbone.

    Attributes:
        state: the newest snapshot; replaced, never changed.
    """

    def __init__(self, embedded: EmbeddedImages, model_name: str) -> None:
        self._embedded = embedded
        self._model_name = model_name
        self._counts = ShownCounts.none()
        self.state: CollectionState = embedded.images.blank_state(model_name)

    def publish_list(self) -> CollectionState:
        """Images and labels; nobody looked at the embeddings yet."""
        self._counts = ShownCounts.none()
        self.state = self._embedded.images.blank_state(self._model_name)
        return self.state

    def publish(
        self, graph: CategoryGraph, predictions: Predictions, teach_rank: NDArray[np.int32] | None = None
    ) -> CollectionState:
        """Everything: images, labels, predictions, counts, and the images to label first if that was asked."""
        images, is_ready = self._embedded.images, self._embedded.is_ready
        status = np.where(is_ready, ImageStatus.READY, ImageStatus.WAITING).astype(np.uint8)
        status[images.has_failed & ~is_ready] = ImageStatus.FAILED
        self._counts = ShownCounts.none()
        self.state = replace(
            self.state, image_ids=images.ids, paths=images.paths, status=status,
            failures=images.failures, is_list_only=False,
            best_class=predictions.best_class, best_score=predictions.best_score,
            safe_class=predictions.safe_class, safe_score=predictions.safe_score,
            is_unknown=predictions.is_unknown, teach_rank=teach_rank,
        )  # fmt: skip
        return self.publish_labels(graph)

    def publish_labels(self, graph: CategoryGraph) -> CollectionState:
        """Other labels of the same images, with the same predictions in the same graph."""
        labels, state = self._embedded.images.labels, self.state
        shown = shown_classes(labels, state.best_class, state.is_unknown)
        self._counts = self._counts.moved_to(graph, shown)
        self.state = replace(
            state, label_class=labels, shot_counts=counts_of(labels), image_counts=self._counts.or_below,
            without_views=state.without_views if state.is_list_only else self._embedded.without_views(),
        )  # fmt: skip
        return self.state
