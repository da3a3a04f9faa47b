"""Predictions of all images of a collection."""

from dataclasses import dataclass

import numpy as np

from engine.arrays import Flags, Floats, Integers
from engine.collection.state import NO_CLASS, Codes
from engine.everyday.classifier import FittedClassifier
from engine.everyday.scores import Scores
from engine.graph.category_graph import CategoryGraph


@dataclass(frozen=True)
class Predictions:
    """Predictions (n,) as in `CollectionState`, without classes removed since the fit."""

    best_class: Codes
    best_score: Floats
    safe_class: Codes
    safe_score: Floats
    is_unknown: Flags

    @staticmethod
    def none(count: int) -> "Predictions":
        classes, scores = (
            np.full(count, NO_CLASS, dtype=np.int32),
            np.zeros(count, dtype=np.float32),
        )
        return Predictions(classes, scores, classes, scores, np.zeros(count, dtype=bool))

    def copy(self) -> "Predictions":
        return Predictions(*(column.copy() for column in vars(self).values()))

    def put(self, places: Integers, part: "Predictions") -> None:
        """Write the predictions of images at k places."""
        for name, column in vars(self).items():
            column[places] = getattr(part, name)

    @staticmethod
    def of(
        fitted: FittedClassifier,
        scores: Scores,
        has_scores: Flags,
        graph: CategoryGraph,
    ) -> "Predictions":
        """Convert scores (n,), of which only those with `has_scores` (n,) are valid."""
        candidates = _those_in(graph, fitted.candidate_ids)
        if not has_scores.any() or len(candidates) == 0:
            return Predictions.none(len(has_scores))
        best = np.where(has_scores, candidates[np.where(has_scores, scores.best, 0)], NO_CLASS)
        has_best = best != NO_CLASS
        is_unknown = has_best & fitted.is_unknown(scores)
        safe = np.where(has_best & ~is_unknown, scores.safe_class, NO_CLASS)
        gone = np.setdiff1d(
            fitted.back_off.coarse_ids, _those_in(graph, fitted.back_off.coarse_ids)
        )
        if len(gone):
            safe[np.isin(safe, gone)] = NO_CLASS
        return Predictions(
            best,
            np.where(has_best, scores.best_score, 0).astype(np.float32),
            safe,
            np.where(safe != NO_CLASS, scores.safe_score, 0).astype(np.float32),
            is_unknown,
        )


def _those_in(graph: CategoryGraph, class_ids: Integers) -> Codes:
    """Class ids (c,), `NO_CLASS` for removed classes."""
    return np.array([i if i in graph else NO_CLASS for i in class_ids.tolist()], dtype=np.int32)
