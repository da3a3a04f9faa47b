"""Scores of all embedded images by the fitted model: those it was fitted with, and those that came since."""

from typing import final

import numpy as np
from numpy.typing import NDArray

from engine.collection.embedded_images import EmbeddedImages
from engine.collection.fitting import Fit
from engine.collection.predictions import Predictions
from engine.everyday.classifier import FittedClassifier
from engine.everyday.scores import Scores
from engine.graph.category_graph import CategoryGraph


@final
class RowScores:
    """Scores of each row of the embedded images.

    Attributes:
        fitted: the model, or None before the first fit.
        scores: of each row.
    """

    def __init__(self, embedded: EmbeddedImages) -> None:
        self._embedded = embedded
        self.fitted: FittedClassifier | None = None
        self.scores = Scores.empty(0)
        self._fitted_age = 0
        self._scored_at = np.zeros(0, dtype=np.int32)
        self._make_room()

    def adopt(self, fitted: FittedClassifier, scores: Scores, age: int) -> None:
        """Use a model that was fitted when the store had this age, and its scores of the rows from then."""
        self.fitted, self.scores, self._fitted_age = fitted, scores, age
        self._scored_at = np.full(len(scores.best), -1, dtype=np.int32)
        self._make_room()
        self._scored_at[self.seen()] = age

    @property
    def fit(self) -> Fit | None:
        """The model and scores of the rows as they are; None where one was filled since."""
        is_same = self._fitted_age == self._embedded.store.age
        return None if self.fitted is None or not is_same else Fit(self.fitted, self.scores)

    def classify(self, rows: NDArray[np.int64]) -> None:
        """Classify those of these rows (k,) that are new to the model."""
        self._make_room()
        if self.fitted is None or len(self.fitted.candidate_ids) == 0:
            return
        rows = rows[~self.has_scores()[rows]]
        if len(rows):
            self.scores.put(rows, self.fitted.classify_new(self._embedded.store.embeddings[rows]))
            self._scored_at[rows] = self._embedded.store.age

    def seen(self) -> NDArray[np.bool_]:
        """(r,) bool: rows that the model was fitted with, unchanged since."""
        seen = self._embedded.store.filled_at <= self._fitted_age
        if self.fitted is not None and (has_links := self.fitted.has_links) is not None:
            seen[: len(has_links)] &= has_links
            seen[len(has_links) :] = False
        return seen

    def has_scores(self) -> NDArray[np.bool_]:
        """(r,) bool: rows with scores of the model for the present embedding."""
        self._make_room()
        return self._embedded.store.filled_at <= self._scored_at

    def predictions(self, fitted: FittedClassifier, graph: CategoryGraph) -> Predictions:
        """What the model predicts of the listed images, in a graph that may have changed since the fit."""
        rows, is_scored = self._embedded.rows, self.has_scores()
        return Predictions.of(fitted, self.scores.at(rows), self._embedded.is_ready & is_scored[rows], graph)

    def _make_room(self) -> None:
        missing = len(self._embedded.store.image_ids) - len(self.scores.best)
        if missing:
            grown = Scores.empty(len(self.scores.best) + missing)
            grown.put(slice(0, len(self.scores.best)), self.scores)
            self.scores = grown
            self._scored_at = np.pad(self._scored_at, (0, missing), constant_values=-1)
