"""Scores of all embedded images: of those in the last fit, and of newer ones.

A newer model may have classified a few images, the visible ones, before all others (decision 44).
"""

from collections.abc import Iterator, Sequence
from typing import final

import numpy as np

from engine.arrays import Flags, Integers
from engine.collection.answers import Answers
from engine.collection.embedded_images import EmbeddedImages
from engine.collection.fitting import FirstAnswers, Fit, FitOutcome
from engine.collection.predictions import Predictions
from engine.collection.state import CollectionState
from engine.everyday.classifier import ProjectClassifier
from engine.everyday.scores import Scores
from engine.graph.category_graph import CategoryGraph


@final
class RowScores:
    """Scores of each row of the embedded images.

    Attributes:
        fitted: the model that has classified all, or None before the first fit.
        scores: of each row, by this model.
        first: answers of newer models on a few images, oldest first.
        error_odds: of safe predictions, as a multiple of those by scores.
    """

    def __init__(self, embedded: EmbeddedImages) -> None:
        self._embedded = embedded
        self.fitted: ProjectClassifier | None = None
        self.scores = Scores.empty(0)
        self.first: tuple[FirstAnswers, ...] = ()
        self.error_odds = 1.0
        self._fitted_age = 0
        self._scored_at = np.zeros(0, dtype=np.int32)
        self._make_room()

    def adopt_first(self, first: FirstAnswers) -> None:
        """Use a newer model's answers on a few images until it has classified all."""
        self.first = (*self.first, first)

    def adopt(self, outcome: FitOutcome) -> None:
        """Use a model and its scores."""
        given = outcome.given
        self.fitted, self.scores, self._fitted_age = (
            outcome.fitted,
            outcome.scores,
            given.snapshot.images.age,
        )
        self.error_odds = given.snapshot.error_odds
        self.first = tuple(first for first in self.first if first.given.version > given.version)
        self._scored_at = np.full(len(self.scores.best), -1, dtype=np.int32)
        self._make_room()
        self._scored_at[self._seen_by(self.fitted, self._fitted_age)] = self._fitted_age

    @property
    def fit(self) -> Fit | None:
        """The model and scores; None if a row has changed since the fit."""
        is_same = self._fitted_age == self._embedded.store.age
        return None if self.fitted is None or not is_same else Fit(self.fitted, self.scores)

    def classify_new(self, rows: Integers) -> None:
        """Classify those of these rows (k,) without valid scores."""
        self._make_room()
        if self.fitted is None or len(self.fitted.candidate_ids) == 0:
            return
        rows = rows[~self.has_scores()[rows]]
        if len(rows):
            self.scores.put(rows, self.fitted.classify_new(self._embedded.store.embeddings[rows]))
            self._scored_at[rows] = self._embedded.store.age

    def has_scores(self) -> Flags:
        """(r,) bool: rows with scores of the model for the present embedding."""
        self._make_room()
        return self._embedded.store.filled_at <= self._scored_at

    def predictions(self, graph: CategoryGraph, before_fit: Predictions) -> Predictions:
        """Predictions of the listed images, in a graph that may have changed since the fit.

        Args:
            graph: the current classes.
            before_fit: predictions (n,) to use until a model has classified all.
        """
        if self.fitted is None:
            found = before_fit
        else:
            rows, is_scored = self._embedded.rows, self.has_scores()
            found = Predictions.of(
                self.fitted, self.scores.at(rows), self._embedded.is_ready & is_scored[rows], graph
            )
        if self.first:
            found = found.copy()
            for first in self.first:
                self._put(found, first, graph)
        return found

    @property
    def models(self) -> tuple[ProjectClassifier, ...]:
        """The model that has classified all, then those that have classified a few."""
        whole = () if self.fitted is None else (self.fitted,)
        return (*whole, *(first.fitted for first in self.first))

    def answers(
        self, image_ids: Sequence[int], graph: CategoryGraph, state: CollectionState
    ) -> Iterator[tuple[Answers, list[int]]]:
        """Each model with those of some images that it classifies, the whole one last."""
        left = list(image_ids)
        for first in reversed(self.first):
            if own := [image_id for image_id in left if image_id in first.image_ids]:
                left = [image_id for image_id in left if image_id not in first.image_ids]
                seen = self._seen_by(first.fitted, first.given.snapshot.images.age)
                yield Answers(first.fitted, graph, self._embedded, state, seen), own
        if self.fitted is not None:
            seen = self._seen_by(self.fitted, self._fitted_age)
            yield Answers(self.fitted, graph, self._embedded, state, seen), left

    def _put(self, predictions: Predictions, first: FirstAnswers, graph: CategoryGraph) -> None:
        """Write answers on a few images, except for changed embeddings."""
        rows, listed = first.given.first_rows, self._embedded.rows
        places = np.minimum(np.searchsorted(listed, rows), len(listed) - 1)
        is_same = self._embedded.store.filled_at[rows] <= first.given.snapshot.images.age
        is_there = np.flatnonzero(is_same & (listed[places] == rows))
        part = Predictions.of(
            first.fitted, first.scores.at(is_there), np.ones(len(is_there), dtype=bool), graph
        )
        predictions.put(places[is_there], part)

    def _seen_by(self, fitted: ProjectClassifier, age: int) -> Flags:
        """(r,) bool: rows that a model was fitted with, at this age of the store, unchanged."""
        seen: Flags = self._embedded.store.filled_at <= age
        if (has_links := fitted.has_links) is not None:
            seen[: len(has_links)] &= has_links
            seen[len(has_links) :] = False
        return seen

    def _make_room(self) -> None:
        missing = len(self._embedded.store.image_ids) - len(self.scores.best)
        if missing:
            grown = Scores.empty(len(self.scores.best) + missing)
            grown.put(slice(0, len(self.scores.best)), self.scores)
            self.scores = grown
            self._scored_at = np.pad(self._scored_at, (0, missing), constant_values=-1)
