"""Some images of a collection, and the model fitted to labels of some of these."""

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import NDArray

from engine.everyday.collection_stage.basis import CollectionBasis, collection_basis
from engine.everyday.prototypical.fit import fit
from engine.everyday.prototypical.model import EverydayModel
from engine.everyday.prototypical.prototypes import PropagationSession
from engine.everyday.scores import Scores
from research.transfer.embedded import EmbeddedCollection

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class GivenLabels:
    """Labels of a user.

    Attributes:
        rows: (l,) of the collection, ascending.
        class_ids: (l,) int64; bulk accepts may be wrong.
    """

    rows: Rows
    class_ids: Rows

    @staticmethod
    def of(labels: dict[int, int]) -> "GivenLabels":
        """Labels from class ids by row."""
        rows = np.array(sorted(labels), dtype=np.int64)
        class_ids = np.array([labels[row] for row in rows.tolist()], dtype=np.int64)
        return GivenLabels(rows, class_ids)


@final
class LabelledPart:
    """Images at rows (n,), ascending, of a collection."""

    def __init__(self, embedded: EmbeddedCollection, rows: Rows) -> None:
        self.embedded, self.rows = embedded, rows
        self.truth: Rows = embedded.collection.class_ids[rows]
        whole = len(rows) == len(embedded.embeddings)
        self.embeddings = embedded.embeddings if whole else embedded.embeddings[rows]
        self._basis = collection_basis(rows, self.embeddings, labelled=rows[:0])

    def basis(self, labels: GivenLabels) -> CollectionBasis | None:
        """Basis with the labelled images among its anchors; None of too few images."""
        if self._basis is None:
            return None
        return self._basis.with_anchors(self.embeddings, self.places_of(labels))

    def places_of(self, labels: GivenLabels) -> Rows:
        """(l,) positions of the labelled images."""
        return np.searchsorted(self.rows, labels.rows)

    def is_free(self, labels: GivenLabels) -> NDArray[np.bool_]:
        """(n,) bool, True for unlabelled images."""
        free = np.ones(len(self.rows), dtype=bool)
        free[self.places_of(labels)] = False
        return free

    def fit(self, labels: GivenLabels) -> EverydayModel:
        """Fit the program's default: all classes, and the collection stage if it helps."""
        return fit(
            self.embedded.collection.graph,
            self.embedded.shots(labels.rows, labels.class_ids),
            self._propagation,
            self.embedded.model.card,
            basis=self.basis(labels),
        )

    def scores(self, fitted: EverydayModel) -> Scores:
        """Scores of all n images."""
        return fitted.classify(self.embeddings, np.arange(len(self.rows)))

    @cached_property
    def _propagation(self) -> PropagationSession:
        return PropagationSession(self.embedded.model.propagation)
