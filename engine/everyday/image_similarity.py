"""Likeness of images: the cosine in the whitened space of the collection, where it is known, else the plain one."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from engine.everyday.blocks import Embeddings, Flags, Floats, to_floats
from engine.everyday.collection_stage.basis import CollectionBasis
from engine.everyday.scores import similarity

LEAST_LENGTH: Final = np.float32(
    1e-6
)  # of a vector that is divided by. Chosen: anything above zero does.


@dataclass(frozen=True)
class ImageSimilarity:
    """Compares images by their embeddings; several count by their mean (`protoleaf experiment similar`)."""

    basis: CollectionBasis | None = None  # whitening of the collection

    def cosines(self, embeddings: Embeddings, is_filled: Flags, vectors: Floats) -> Floats:
        """Cosines (r,) float32 of all rows (r, d) with n > 0 unit-length vectors (n, d): one product.

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


def _scales(embeddings: Embeddings, is_filled: Flags, basis: CollectionBasis) -> Floats:
    """One over the whitened lengths (r,), also of the few rows that came since the basis was made."""
    scales = np.zeros(len(embeddings), dtype=np.float32)
    known = min(len(scales), len(basis.scales))
    scales[:known] = basis.scales[:known]
    for row in np.flatnonzero(is_filled & (scales == 0)).tolist():
        moved = (to_floats(embeddings[row]) - basis.whitening.mean) @ basis.whitening.matrix
        scales[row] = 1 / max(float(np.linalg.norm(moved)), float(LEAST_LENGTH))
    return scales


def _unit(vector: Floats) -> Floats:
    return (vector / max(float(np.linalg.norm(vector)), float(LEAST_LENGTH))).astype(np.float32)
