"""What a method may look at when it chooses the images to label next; classes are not among it."""

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
        classes: to tell apart.
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
        """What the model says of all n images; nothing before the first label."""
        if self.fitted is None:
            return Scores.empty(len(self.floats))
        return self.fitted.classify(self.embeddings)

    def chances(self, rows: NDArray[np.int64]) -> Matrix:
        """Probability (k, c) of each candidate for some images, after the first label."""
        assert self.fitted is not None, "some label is there"
        return self.fitted.probabilities(self.embeddings[rows], rows)

    def generator(self) -> np.random.Generator:
        """Random numbers of this draw and round, the same each time."""
        return np.random.default_rng([self.seed, len(self.labelled)])
