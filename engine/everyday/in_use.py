"""The classifiers that a project may use: the only module that names them all."""

from dataclasses import dataclass
from pathlib import Path
from typing import final

import numpy as np

from engine.arrays import Flags, Floats, Integers, no_integers
from engine.everyday.blocks import Embeddings, to_floats
from engine.everyday.classifier import Classifier, ProjectClassifier, Setting
from engine.everyday.collection_stage.basis import CollectionBasis, collection_basis
from engine.everyday.collection_stage.live_basis import BasisCache, LiveBasis
from engine.everyday.logistic_regression import LogisticRegression
from engine.everyday.prototypical.fit import EverydayClassifier, fit
from engine.everyday.prototypical.prototypes import PropagationSession
from engine.everyday.prototypical.tuning import fit_temperature
from engine.everyday.scores import similarity
from engine.everyday.shots import EmbeddedSnapshot, Shots
from engine.everyday.teaching import teach_first
from engine.graph.category_graph import CategoryGraph
from engine.model_card import BackboneCard

__all__ = [
    "Classifiers",
    "fit_temperature",
    "fitted_to_shots",
    "propagation_width",
    "teach_first_unlabelled",
]


LEAST_LENGTH = np.float32(1e-6)
"""Of a vector that is divided by. Chosen: anything above zero does."""


@dataclass(frozen=True)
class ImageSimilarity:
    """Compares images by their embeddings, several by the mean (`protoleaf experiment similar`)."""

    basis: CollectionBasis | None = None  # whitening of the collection

    def cosines(self, embeddings: Embeddings, is_filled: Flags, vectors: Floats) -> Floats:
        """Cosines (r,) float32 of all rows (r, d) with n > 0 unit vectors (n, d), as one product.

        Args:
            is_filled: (r,) rows that have an embedding; results for others are meaningless.
        """
        basis = self.basis
        if basis is None:
            return similarity(embeddings, _unit(vectors.mean(axis=0)))
        wanted = _unit(basis.whitening.apply(vectors).mean(axis=0))
        folded, shift = basis.fold(wanted[None])
        found = similarity(embeddings, folded[0])
        found -= shift[0]
        found *= _scales(embeddings, is_filled, basis)
        return found


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
        self._basis = LiveBasis(None if folder is None else BasisCache(folder, name))
        self._everyday = EverydayClassifier(propagation, card, self._basis)
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
        self._basis.current(images, no_integers())


def fitted_to_shots(
    graph: CategoryGraph, shots: Shots, propagation: Path, card: BackboneCard
) -> ProjectClassifier:
    """The everyday model of labelled images alone, with no collection around them."""
    return fit(graph, shots, PropagationSession(propagation), card)


def teach_first_unlabelled(embeddings: Floats) -> Integers:
    """Rows (n,) of images in labelling order before any label; unchanged where all look the same.

    Args:
        embeddings: (n, d) float32 of length 1.

    Raises:
        Cancelled: the token of `stopped_by` was set.
    """
    rows, none = np.arange(len(embeddings)), no_integers()
    basis = collection_basis(rows, embeddings, labelled=none)
    if basis is None:
        return rows
    uncertainty = np.ones(len(rows), dtype=np.float32)
    first = teach_first(basis, uncertainty, labelled=none, left_out=none)
    return first.astype(np.int64)


def propagation_width(file: Path) -> int | None:
    """Embedding width that a file of exported equations was trained for; None where it takes any.

    Raises:
        ModelError: it is not one.
    """
    return PropagationSession(file).embedding_width


def _scales(embeddings: Embeddings, is_filled: Flags, basis: CollectionBasis) -> Floats:
    """One over the whitened lengths (r,), also of rows that were added after the basis."""
    scales = np.zeros(len(embeddings), dtype=np.float32)
    known = min(len(scales), len(basis.scales))
    scales[:known] = basis.scales[:known]
    for row in np.flatnonzero(is_filled & (scales == 0)).tolist():
        moved = (to_floats(embeddings[row]) - basis.whitening.mean) @ basis.whitening.matrix
        scales[row] = 1 / max(float(np.linalg.norm(moved)), float(LEAST_LENGTH))
    return scales


def _unit(vector: Floats) -> Floats:
    return (vector / max(float(np.linalg.norm(vector)), float(LEAST_LENGTH))).astype(np.float32)
