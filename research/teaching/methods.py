"""All methods that select images to label next, ours first."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.everyday.teaching import teach_first, uncertainty_of
from research.teaching.known import KnownSoFar
from research.teaching.peers.clustered import centres, typiclust
from research.teaching.peers.covering import probcover
from research.teaching.peers.drawn import coreset, in_random_order, least_margin
from research.teaching.peers.uncertainty import badge, dropquery

Choose = Callable[[KnownSoFar, int], NDArray[np.int64]]
"""Select a number of unlabelled images."""


@dataclass(frozen=True)
class TeachMethod:
    """A compared method.

    Attributes:
        title: for tables.
        choose: which images.
    """

    title: str
    choose: Choose


def ours(known: KnownSoFar, count: int) -> NDArray[np.int64]:
    """The order of the window and of `protoleaf suggest`."""
    nothing = np.zeros(0, dtype=np.int64)
    first = teach_first(
        known.basis,
        uncertainty_of(known.fitted, known.scores),
        labelled=known.labelled,
        left_out=nothing,
    )
    return first[:count].astype(np.int64)


OURS = "teach-first"
RANDOM = "random"

METHODS: Mapping[str, TeachMethod] = {
    OURS: TeachMethod("Teach first", ours),
    RANDOM: TeachMethod("random order", in_random_order),
    "least-margin": TeachMethod("uncertainty alone (least margin)", least_margin),
    "k-means": TeachMethod("k-means centres", centres),
    "typiclust": TeachMethod("TypiClust", typiclust),
    "probcover": TeachMethod("ProbCover", probcover),
    "coreset": TeachMethod("Coreset", coreset),
    "badge": TeachMethod("BADGE", badge),
    "dropquery": TeachMethod("DropQuery", dropquery),
}
