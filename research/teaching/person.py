"""A simulated user who labels the selected images in rounds, with the model's accuracy."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.everyday.collection_stage.basis import CollectionBasis, collection_basis
from engine.everyday.prototypical.fit import fit
from engine.everyday.prototypical.model import EverydayModel
from engine.everyday.prototypical.prototypes import PropagationSession
from engine.everyday.shots import Shots
from engine.graph.codes import NO_CLASS
from research.teaching.known import KnownSoFar
from research.teaching.methods import Choose
from research.transfer.embedded import EmbeddedCollection

ROUNDS = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0)
"""Labels after each round, as multiples of the number of classes; each round ends with a fit."""
PARTS = 10
"""A draw leaves out one of so many parts of the images; deterministic methods vary, too."""


@dataclass(frozen=True)
class RoundOutcome:
    """State after a round.

    Attributes:
        named: share of all images whose leaf is correct; a labelled image counts as correct.
        predicted: share of the unlabelled images whose predicted leaf is correct.
        classes: number of leaves with a label.
    """

    named: float
    predicted: float
    classes: int


class ScriptedPerson:
    """The images of a draw; each call of `label` starts without labels.

    Args:
        embedded: the collection; images of unknown leaf are left out.
        seed: number of the draw.
    """

    def __init__(self, embedded: EmbeddedCollection, seed: int) -> None:
        rows = drawn_rows(np.flatnonzero(embedded.collection.class_ids != NO_CLASS), seed)
        self._seed = seed
        self._model = embedded.model
        self._graph = embedded.collection.graph
        self._propagation = PropagationSession(embedded.model.propagation)
        self._classes = embedded.collection.class_ids[rows]
        self._embeddings, self._floats = embedded.embeddings[rows], embedded.floats[rows]
        ids = np.arange(len(rows), dtype=np.int64)
        basis = collection_basis(ids, self._embeddings, labelled=ids[:0])
        assert basis is not None, "a collection of several classes"
        self._basis: CollectionBasis = basis
        self.ways = len(embedded.collection.leaf_ids)

    def label(self, choose: Choose) -> tuple[RoundOutcome, ...]:
        """Label the selected images; one outcome for each of `ROUNDS`."""
        labelled = np.zeros(0, dtype=np.int64)
        fitted: EverydayModel | None = None
        outcomes = []
        for multiple in ROUNDS:
            count = min(round(multiple * self.ways), len(self._floats) - 1) - len(labelled)
            if count > 0:
                known = KnownSoFar(
                    self._embeddings,
                    self._floats,
                    self._basis.with_anchors(self._embeddings, labelled),
                    labelled,
                    fitted,
                    self.ways,
                    self._seed,
                )
                labelled = np.concatenate([labelled, choose(known, count)])
                fitted = self._fit(np.sort(labelled))
            assert fitted is not None, "the first round labels"
            outcomes.append(self._outcome(fitted, labelled))
        return tuple(outcomes)

    def _fit(self, labelled: NDArray[np.int64]) -> EverydayModel:
        return fit(
            self._graph,
            Shots(labelled, self._classes[labelled], self._floats[labelled]),
            self._propagation,
            self._model.card,
            basis=self._basis.with_anchors(self._embeddings, labelled),
        )

    def _outcome(self, fitted: EverydayModel, labelled: NDArray[np.int64]) -> RoundOutcome:
        scores = fitted.classify(self._embeddings)
        is_right = fitted.candidate_ids[scores.best] == self._classes
        is_labelled = np.zeros(len(is_right), dtype=bool)
        is_labelled[labelled] = True
        return RoundOutcome(
            float((is_right | is_labelled).mean()),
            float(is_right[~is_labelled].mean()),
            len(np.unique(self._classes[labelled])),
        )


def drawn_rows(rows: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """Images of a draw, ascending: draws 0 to 9 leave out a tenth each, 10 to 19 in new order."""
    order = np.random.default_rng(seed // PARTS).permutation(rows)
    return np.setdiff1d(rows, order[seed % PARTS :: PARTS])
