"""Input of a method that selects the images to label next; classes are not part of it."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from engine.everyday.collection_stage.basis import CollectionBasis
from engine.everyday.prototypical.model import EverydayModel
from engine.everyday.scores import Scores

Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class KnownSoFar:
    """A collection of n images after some labels.

    Attributes:
        embeddings: (n, d) int16 in fixed point.
        floats: (n, d) the same as float32, of length 1.
        basis: whitening and links, with the labelled images among its anchors.
        labelled: (k,) int64, in the order in which they were labelled.
        fitted: the everyday model on these labels; None before the first.
        classes: number of classes.
        seed: of the draw.
    """

    embeddings: NDArray[np.int16]
    floats: Matrix
    basis: CollectionBasis
    labelled: NDArray[np.int64]
    fitted: EverydayModel | None
    classes: int
    seed: int

    @cached_property
    def free(self) -> NDArray[np.int64]:
        """(n - k,) int64, the unlabelled images."""
        return np.setdiff1d(np.arange(len(self.floats)), self.labelled)

    @cached_property
    def scores(self) -> Scores:
        """Scores of all n images; None before the first label."""
        if self.fitted is None:
            return Scores.empty(len(self.floats))
        return self.fitted.classify(self.embeddings)

    def chances(self, rows: NDArray[np.int64]) -> Matrix:
        """Class probabilities (k, c) of some images, after the first label."""
        assert self.fitted is not None, "some label is there"
        return self.fitted.probabilities(self.embeddings[rows], rows)

    def generator(self) -> np.random.Generator:
        """Random generator of this draw and round, deterministic."""
        return np.random.default_rng([self.seed, len(self.labelled)])
