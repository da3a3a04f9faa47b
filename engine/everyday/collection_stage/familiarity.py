"""Whether the shots could be of the collection, or were taken elsewhere and tell little about how sure to be."""

from typing import Final

import numpy as np

from engine.everyday.collection_stage.basis import CollectionBasis
from engine.everyday.collection_stage.sharing import AnchorLabels

LEAST: Final = 0.05
"""Lowest familiarity: no shots are so far off that nothing can be said."""


def familiarity_of(basis: CollectionBasis, labels: AnchorLabels) -> float:
    """How alike shots are to the unlabelled images, in (0, 1]; 1 where they might have been drawn from among them.

    The mean cosine of shots to their most alike unlabelled image, as a share of what unlabelled images have to one
    another. Shots that were taken elsewhere tell little about how sure to be, and not even by holding them out.
    """
    is_labelled = np.zeros(len(basis.anchors), dtype=bool)
    is_labelled[labels.positions] = True
    found = basis.found.rows(basis.anchors)
    is_free = ~is_labelled[found.positions] & (found.cosines > 0)
    nearest = np.where(is_free, found.cosines, 0).max(axis=1)
    nearest = np.where(is_free.any(axis=1), nearest, np.maximum(found.cosines[:, -1], 0))  # no more than the last
    shots, others = nearest[labels.positions[labels.is_shot]], nearest[~is_labelled]
    if len(shots) == 0 or len(others) == 0 or others.mean() <= 0:
        return 1.0
    return float(np.clip(shots.mean() / others.mean(), LEAST, 1.0))
