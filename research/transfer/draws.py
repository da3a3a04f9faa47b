"""Which images of a collection are shots, which have a coarse label, and which have none: the same for every method."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.graph.codes import NO_CLASS
from research.transfer.collection import TransferCollection

COARSE_LABELS: Final = 20
"""Most images that get the label of one coarse class."""


@dataclass(frozen=True, order=True)
class Situation:
    """What is labelled, and what is to be classified.

    Attributes:
        has_coarse_labels: whether some further images have a coarse label.
        shots: of each leaf.
        is_elsewhere: whether labels were given in one place and the photos of another are classified: the collection
            is the labelled images of `train` and all of `val`. Else it is everything, and photos of a shot's own
            series are in it.
    """

    has_coarse_labels: bool
    shots: int
    is_elsewhere: bool = False

    @property
    def name(self) -> str:
        """For the columns of a table; its title says what the collection is."""
        return f"{self.shots} shot{'s' * (self.shots > 1)}" + " + coarse" * self.has_coarse_labels


@dataclass(frozen=True)
class ShotDraw:
    """One draw of a situation; rows are positions of images in the collection, ascending.

    Attributes:
        shots: (s,) rows.
        coarse: (m,) rows of the images with a coarse label.
        coarse_ids: (m,) int64, the class that each of them is labelled with.
        unlabelled: (u,) rows of all other images that are in the collection.
    """

    shots: NDArray[np.int64]
    coarse: NDArray[np.int64]
    coarse_ids: NDArray[np.int64]
    unlabelled: NDArray[np.int64]

    @property
    def rows(self) -> NDArray[np.int64]:
        """(s + m + u,) rows of the collection, ascending; no method learns from any other image."""
        return np.sort(np.concatenate([self.shots, self.coarse, self.unlabelled]))


def draw(collection: TransferCollection, situation: Situation, seed: int) -> ShotDraw:
    """Draw shots, and coarse labels if the situation has them, from `train`.

    One order of all images of `train` decides: the first images of each leaf in it are its shots, so that the shots of
    a situation with fewer are among those of one with more. A leaf with fewer images than shots + 1 keeps one back; the
    only image of a leaf is a shot. Of the images below a coarse class that are no shots the first 20 get its label; an
    image gets one label only, from its deepest coarse class.

    Args:
        collection: the images.
        situation: what to draw.
        seed: number of the draw.
    """
    order = np.random.default_rng(seed).permutation(np.flatnonzero(collection.is_train))
    ordered_ids = collection.class_ids[order]
    is_shot = np.zeros(len(collection.files), dtype=bool)
    for leaf in collection.leaf_ids.tolist():
        of_leaf = order[ordered_ids == leaf]
        is_shot[of_leaf[: min(situation.shots, max(1, len(of_leaf) - 1))]] = True
    labels = np.full(len(collection.files), NO_CLASS, dtype=np.int64)
    if situation.has_coarse_labels:
        for coarse in collection.coarse_ids:
            below = np.isin(ordered_ids, list(collection.graph.descendants(coarse)))
            is_free = below & ~is_shot[order] & (labels[order] == NO_CLASS)
            labels[order[is_free][:COARSE_LABELS]] = coarse
    rows = np.flatnonzero(labels != NO_CLASS)
    is_unlabelled = ~is_shot & (labels == NO_CLASS)
    if situation.is_elsewhere:
        is_unlabelled &= ~collection.is_train
    return ShotDraw(np.flatnonzero(is_shot), rows, labels[rows], np.flatnonzero(is_unlabelled))
