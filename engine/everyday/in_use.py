"""The classifiers that a project may use: the one place outside their own folders that names them."""

from pathlib import Path
from typing import final

import numpy as np

from engine.everyday.blocks import Floats, Integers
from engine.everyday.classifier import Classifier, ProjectClassifier, Setting
from engine.everyday.collection_stage.basis import collection_basis
from engine.everyday.collection_stage.kept_basis import KeptBasis
from engine.everyday.collection_stage.live_basis import LiveBasis
from engine.everyday.image_similarity import ImageSimilarity
from engine.everyday.logistic_regression import LogisticRegression
from engine.everyday.prototypical.fit import EverydayClassifier, fit, prior_of
from engine.everyday.prototypical.prototypes import PropagationSession
from engine.everyday.prototypical.tuning import fit_temperature
from engine.everyday.shots import EmbeddedSnapshot, Shots
from engine.everyday.teaching import ModelUncertainty, teach_first
from engine.graph.category_graph import CategoryGraph
from engine.model_card import BackboneCard

__all__ = [
    "Classifiers",
    "fit_temperature",
    "fitted_to_shots",
    "propagation_width",
    "teach_first_unlabelled",
]


@final
class Classifiers:
    """The classifiers of a backbone and a collection, which share its basis.

    Args:
        propagation: file of the exported equations.
        card: of the backbone, for the prior.
        folder, name: where the basis is cached, and by which name; None caches nothing.
    """

    def __init__(
        self, propagation: Path, card: BackboneCard, folder: Path | None = None, name: str = ""
    ) -> None:
        self._basis = LiveBasis(None if folder is None else KeptBasis(folder, name))
        self._everyday = EverydayClassifier(propagation, prior_of(card), self._basis)
        self._regression = LogisticRegression(self._basis)

    def of(self, setting: Setting) -> Classifier:
        """The one of a setting."""
        return self._regression if setting is Setting.REGRESSION else self._everyday

    @property
    def similarity(self) -> ImageSimilarity:
        """How images are compared; safe to use while a fit is under way."""
        return ImageSimilarity(self._basis.known)

    def know_space(self, images: EmbeddedSnapshot) -> None:
        """Make the whitened space of the collection, unless it is known; takes seconds."""
        self._basis.current(images, np.zeros(0, dtype=np.int64))


def fitted_to_shots(
    graph: CategoryGraph, shots: Shots, propagation: Path, card: BackboneCard
) -> ProjectClassifier:
    """The everyday model of labelled images alone, with no collection around them."""
    return fit(graph, shots, PropagationSession(propagation), prior_of(card))


def teach_first_unlabelled(embeddings: Floats) -> Integers:
    """Rows (n,) of images whose labels would teach most first, before any label; as they are where all look the same.

    Args:
        embeddings: (n, d) float32 of length 1.

    Raises:
        Cancelled: the token of `stopped_by` was set.
    """
    rows, none = np.arange(len(embeddings)), np.zeros(0, dtype=np.int64)
    basis = collection_basis(rows, embeddings, labelled=none)
    if basis is None:
        return rows
    first = teach_first(basis, ModelUncertainty(np.ones(len(rows), dtype=np.float32), none, none))
    return first.astype(np.int64)


def propagation_width(file: Path) -> int | None:
    """Width of embeddings that a file of exported equations was trained for; None where it takes any.

    Raises:
        ModelError: it is none.
    """
    return PropagationSession(file).embedding_width
