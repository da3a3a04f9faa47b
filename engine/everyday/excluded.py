"""Classes that a person has excluded for single images of the collection.

An image that was left out of a group of look-alikes looks like its class, and a model would claim
that class again. The probabilities of the other classes do not change: a model that was wrong about
an image knows less of it, not more (decision 104).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from engine.arrays import Flags, Floats, Integers
from engine.everyday.blocks import Embeddings, at_columns
from engine.everyday.classifier import FittedClassifier
from engine.everyday.prototypical.classification import LinearClassifier, scores_of
from engine.everyday.scores import Scores
from engine.graph.category_graph import CategoryGraph

EXCLUDED = np.float32(1e-9)
"""Probability of an excluded class. Chosen: its logarithm exists."""
ROWS_AT_ONCE = 1024
"""Images that are classified together. Chosen: 10,000 classes take 40 MB."""


@dataclass(frozen=True)
class ExcludedClasses:
    """Of k images.

    Attributes:
        rows: (k,) int64 rows of the snapshot, ascending.
        is_excluded: (k, c) bool, candidates that the image is not of.
    """

    rows: Integers
    is_excluded: Flags

    def apply(self, probabilities: Floats, rows: Integers) -> Floats:
        """Set the probabilities (n, c) of excluded classes of images at `rows` (n,), in place."""
        found, here = self._places(rows)
        if len(found):
            probabilities[found] = np.where(self.is_excluded[here], EXCLUDED, probabilities[found])
        return probabilities

    def correct(
        self,
        scores: Scores,
        embeddings: Embeddings,
        rows: Integers | None,
        fitted: FittedClassifier,
        linear: LinearClassifier,
    ) -> Scores:
        """Scores (n,) of images (n, d), in their memory, with what is excluded.

        Args:
            rows: (n,) of the snapshot; by default all, in order.
            fitted: gives probabilities with what is excluded.
            linear: its logits are in the scores, see `Scores.best_logit`.
        """
        at = np.arange(len(embeddings)) if rows is None else rows
        found = self._places(at)[0]
        for start in range(0, len(found), ROWS_AT_ONCE):
            part = found[start : start + ROWS_AT_ONCE]
            images = embeddings[part]
            own_logit = partial(at_columns, linear.logits(images))
            chances, similarity = fitted.probabilities(images, at[part]), scores.similarity[part]
            scores.put(part, scores_of(chances, similarity, fitted.back_off, own_logit))
        return scores

    def _places(self, rows: Integers) -> tuple[Integers, Integers]:
        """Places among these rows (n,) of images with excluded classes, and their places here."""
        here = np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)
        found = np.flatnonzero(self.rows[here] == rows)
        return found, here[found]


def excluded_classes(
    graph: CategoryGraph,
    candidate_ids: Integers,
    pairs: Sequence[tuple[int, int]],
    row_ids: Integers,
) -> ExcludedClasses | None:
    """Look up excluded classes among the candidates; None where there is none.

    Args:
        candidate_ids: (c,) class ids.
        pairs: the ids of an image and of a class that is excluded for it, with all below.
        row_ids: (r,) ids of the images in the rows of the snapshot, ascending.
    """
    place_of = {class_id: place for place, class_id in enumerate(candidate_ids.tolist())}
    places: dict[int, list[int]] = {}
    for class_id in {class_id for _, class_id in pairs if class_id in graph}:
        below = graph.descendants(class_id) | {class_id}
        places[class_id] = [place_of[each] for each in below if each in place_of]
    relevant = [(image_id, class_id) for image_id, class_id in pairs if places.get(class_id)]
    image_ids = np.unique(np.array([image_id for image_id, _ in relevant], dtype=np.int64))
    image_ids = image_ids[np.isin(image_ids, row_ids)]
    if not len(image_ids):
        return None
    is_excluded = np.zeros((len(image_ids), len(candidate_ids)), dtype=bool)
    row_of = {image_id: row for row, image_id in enumerate(image_ids.tolist())}
    for image_id, class_id in relevant:
        if image_id in row_of:
            is_excluded[row_of[image_id], places[class_id]] = True
    return ExcludedClasses(np.searchsorted(row_ids, image_ids), is_excluded)
