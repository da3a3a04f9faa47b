"""Novelty scores: the program's and those of peers, on the same embeddings and labels."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from engine.everyday.blocks import to_floats
from engine.everyday.collection_stage.neighbours import whitening_of
from engine.everyday.prototypical.model import EverydayModel
from engine.everyday.scores import Scores
from research.unknown.open_set import Labelled

NEIGHBOURS = 5
"""Most nearest labelled images that peers use; at most the shots of a class."""

Matrix = NDArray[np.float32]
Novelty = NDArray[np.float32]


@dataclass(frozen=True)
class Seen:
    """Input of detectors.

    Attributes:
        labelled: the images and their labels.
        fitted: the program's model.
        plain: the same without the collection stage (Eq. 2 to 6).
    """

    labelled: Labelled
    fitted: EverydayModel
    plain: EverydayModel

    @staticmethod
    def of(labelled: Labelled) -> "Seen":
        """Fit both models."""
        rows, class_ids = labelled.rows, labelled.class_ids
        without = labelled.open_set.fitted(rows, class_ids, with_stage=False)
        return Seen(labelled, labelled.open_set.fitted(rows, class_ids), without)

    @cached_property
    def images(self) -> Matrix:
        """(n, d) float32 of length 1."""
        return to_floats(self.labelled.open_set.embeddings)

    @cached_property
    def shots(self) -> Matrix:
        """(l, d) float32, the labelled images."""
        return self.images[self.labelled.rows]

    @cached_property
    def scores(self) -> Scores:
        """The program's predictions."""
        count = len(self.images)
        return self.fitted.classify(self.labelled.open_set.embeddings, np.arange(count))

    @cached_property
    def logits(self) -> Matrix:
        """(n, c) of Eq. 2, up to a constant."""
        return self.plain.classifier.logits(self.images)

    @cached_property
    def energy(self) -> Matrix:
        """(n,) log-sum-exp of the logits."""
        most = self.logits.max(axis=1)
        return most + np.log(np.exp(self.logits - most[:, None]).sum(axis=1))

    @cached_property
    def neighbours(self) -> int:
        """Number of labelled images used."""
        return min(NEIGHBOURS, int(np.unique(self.labelled.class_ids, return_counts=True)[1].min()))

    @cached_property
    def whitened(self) -> Matrix:
        """(n, d) float32 of length 1, whitened by look-alikes."""
        whitening = whitening_of(self.labelled.open_set.embeddings)
        return self.images if whitening is None else whitening.apply(self.images)


def similarity(seen: Seen) -> Novelty:
    """The program's score: low similarity to labelled images, or distance to a class."""
    if seen.fitted.novelty is None:
        return seen.fitted.classifier.squared_distance(seen.scores)
    return -seen.scores.similarity


def largest_probability(seen: Seen) -> Novelty:
    """Maximum softmax probability (Hendrycks and Gimpel, 2017)."""
    return -seen.scores.best_score


def energy(seen: Seen) -> Novelty:
    """Energy of the logits (Liu and others, 2020)."""
    return -seen.energy


def nearest_labels(seen: Seen) -> Novelty:
    """Distance to the k-th nearest labelled image (Sun and others, 2022)."""
    cosines = np.partition(seen.images @ seen.shots.T, -seen.neighbours, axis=1)
    return -cosines[:, -seen.neighbours]


def mahalanobis(seen: Seen) -> Novelty:
    """Mahalanobis distance to the nearest class mean (Lee and others, 2018)."""
    shots = seen.whitened[seen.labelled.rows]
    means = [
        shots[seen.labelled.class_ids == each].mean(axis=0)
        for each in np.unique(seen.labelled.class_ids)
    ]
    return -(seen.whitened @ np.stack(means).T).max(axis=1)


def vim(seen: Seen) -> Novelty:
    """Virtual-logit matching (Wang and others, 2022): energy and residual of principal directions.

    The directions are those of the whole collection, as labelled images are too few.
    """
    moved = seen.images - seen.images.mean(axis=0)
    _, directions = np.linalg.eigh((moved.T @ moved).astype(np.float64))
    rest = directions[:, : moved.shape[1] // 2].astype(np.float32)
    residual = np.linalg.norm(moved @ rest, axis=1)
    labelled = seen.labelled.rows
    scale = seen.logits[labelled].max(axis=1).mean() / max(float(residual[labelled].mean()), 1e-9)
    return np.float32(scale) * residual - seen.energy


def nnguide(seen: Seen) -> Novelty:
    """Energy, guided by the nearest labelled images and their energies (Park and others, 2023)."""
    guides = (seen.images @ seen.shots.T) * seen.energy[seen.labelled.rows]
    nearest = np.partition(guides, -seen.neighbours, axis=1)[:, -seen.neighbours :]
    return -nearest.mean(axis=1) * seen.energy


@dataclass(frozen=True)
class Detector:
    """A score and the title of its row."""

    title: str
    score: Callable[[Seen], Novelty]


OURS = "similarity"
DETECTORS: Mapping[str, Detector] = {
    OURS: Detector("similarity to labels over look-alikes (the program's)", similarity),
    "probability": Detector("largest probability", largest_probability),
    "energy": Detector("energy", energy),
    "knn": Detector("k-th nearest labelled image", nearest_labels),
    "mahalanobis": Detector("Mahalanobis within look-alikes", mahalanobis),
    "vim": Detector("ViM", vim),
    "nnguide": Detector("NNGuide", nnguide),
}
"""Detectors by identifier."""
