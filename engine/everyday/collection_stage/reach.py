"""How far a person's shots speak for an image: whether labels reach it, and whether it could be one of theirs.

Links and prototypes are fitted to the collection itself, so among images that no shot is like they agree with one
another and sound surer than they are. How sure to be is therefore told for each image by how much label reaches it.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.everyday.collection_stage.basis import CollectionBasis
from engine.everyday.collection_stage.neighbours import Links
from engine.everyday.collection_stage.sharing import AnchorLabels

STEPS: Final = 12
"""After so many the share of walks that go on is below a third, and what they may still bring is less."""

Matrix = NDArray[np.float32]


def reach_along(links: Links, reached: Matrix, usual_cosine: float) -> Matrix:
    """Reach (n,) of images by their links to anchors.

    A link hands on less the weaker it is: everybody has a most alike image, however little alike.

    Args:
        links: (n, k).
        reached: (m,) float32, of the anchors.
        usual_cosine: of a strong link in this collection.
    """
    trust = np.clip(links.cosines / np.float32(usual_cosine), 0, 1)
    along: Matrix = (links.weights * trust * reached[links.positions]).sum(axis=1)
    return along


def reach_of(links: Links, shots: NDArray[np.int64], usual_cosine: float) -> Matrix:
    """Reach (m,) of the anchors in [0, 1]: the share of walks over strong links that come by a shot; 1 for shots.

    Args:
        links: among the anchors.
        shots: (s,) positions of the shots.
        usual_cosine: of a strong link in this collection.
    """
    reached = np.zeros(len(links.positions), dtype=np.float32)
    for _ in range(STEPS):
        reached[shots] = 1
        reached = reach_along(links, reached, usual_cosine)
    reached[shots] = 1
    return reached


def familiarity_of(basis: CollectionBasis, labels: AnchorLabels) -> float:
    """How alike shots are to the unlabelled images, in [0, 1]; 1 where they might have been drawn from among them.

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
    return float(min(1.0, shots.mean() / others.mean()))
