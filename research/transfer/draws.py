"""Draws: which images are shots, which have a coarse label, and which have none."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.graph.codes import NO_CLASS
from research.transfer.class_sizes import (
    AS_IS,
    EQUAL,
    SHOT_SIZES,
    SIZES,
    Counts,
    ranked,
    resampled_sizes,
    shot_counts,
)
from research.transfer.collection import TransferCollection

COARSE_LABELS = 20
"""Most images that get the label of one coarse class."""
RESAMPLING = 1
"""Further seed of a draw: the images of each class in a resampled collection."""
LABELLING = 2
"""Further seed of a draw: the order in which images are labelled."""


@dataclass(frozen=True, order=True)
class Situation:
    """Labels, and the images to classify.

    Attributes:
        has_coarse_labels: whether some further images have a coarse label.
        shots: of each leaf, or on average.
        is_elsewhere: whether photos of another place are classified: the collection is the labelled
            images of `train` and all of `val`. Else it is everything, other photos of a shot's
            series included.
        sizes: of the classes in the collection, one of `SIZES`.
        shot_sizes: distribution of shots among the classes, one of `SHOT_SIZES`.
    """

    has_coarse_labels: bool
    shots: int
    is_elsewhere: bool = False
    sizes: str = AS_IS
    shot_sizes: str = EQUAL

    @property
    def name(self) -> str:
        """Name of a column; the title of the table describes the collection."""
        return f"{self.shots} shot{'s' * (self.shots > 1)}" + " + coarse" * self.has_coarse_labels

    @property
    def folder(self) -> str:
        """Name of the folder of its results, without defaults."""
        name = (
            f"{self.shots}-shots"
            + "-coarse" * self.has_coarse_labels
            + "-elsewhere" * self.is_elsewhere
        )
        name += f"-{self.sizes}" * (self.sizes != AS_IS)
        return name + f"-{self.shot_sizes}-shots" * (self.shot_sizes != EQUAL)

    @property
    def title(self) -> str:
        """Part of a table's title: labels and collection."""
        labels = "shots and coarse labels" if self.has_coarse_labels else "shots"
        if self.is_elsewhere:
            title = f"{labels} from train, the collection is val"
        else:
            title = labels if self.has_coarse_labels else f"{labels} alone"
        return ", ".join(filter(None, (title, SIZES[self.sizes], SHOT_SIZES[self.shot_sizes])))


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
        """(s + m + u,) rows of the collection, ascending; no method uses any other image."""
        return np.sort(np.concatenate([self.shots, self.coarse, self.unlabelled]))


def draw(collection: TransferCollection, situation: Situation, seed: int) -> ShotDraw:
    """Draw shots and, where requested, coarse labels from `train`; resample the rest.

    Images of `train` are shuffled once: the first images of each leaf are its shots, so that fewer
    shots are a subset of more. One image of a leaf stays unlabelled, except the only one. Of the
    other images below a coarse class the first 20 get its label; an image gets one label only, from
    its deepest coarse class. A collection with changed class sizes has the first of the other
    images of each class in another random order, and none of unknown class.

    Args:
        collection: the images.
        situation: what to draw.
        seed: number of the draw.
    """
    order = np.random.default_rng(seed).permutation(np.flatnonzero(collection.is_train))
    ordered_ids = collection.class_ids[order]
    is_classified = (
        ~collection.is_train
        if situation.is_elsewhere
        else np.ones(len(collection.files), dtype=bool)
    )
    generator = np.random.default_rng((seed, RESAMPLING))
    counts = _counts(collection, is_classified)
    ranks = ranked(situation.sizes, counts, generator)
    is_shot = np.zeros(len(collection.files), dtype=bool)
    shots = _shots_of_leaves(
        collection, situation, resampled_sizes(situation.sizes, counts, ranks), seed
    )
    for leaf, count in zip(collection.leaf_ids.tolist(), shots.tolist(), strict=True):
        is_shot[order[ordered_ids == leaf][:count]] = True
    labels = np.full(len(collection.files), NO_CLASS, dtype=np.int64)
    if situation.has_coarse_labels:
        for coarse in collection.coarse_ids:
            below = np.isin(ordered_ids, list(collection.graph.descendants(coarse)))
            is_free = below & ~is_shot[order] & (labels[order] == NO_CLASS)
            labels[order[is_free][:COARSE_LABELS]] = coarse
    rows = np.flatnonzero(labels != NO_CLASS)
    unlabelled = np.flatnonzero(is_classified & ~is_shot & (labels == NO_CLASS))
    if situation.sizes != AS_IS:
        unlabelled = _resampled(collection, unlabelled, situation.sizes, ranks, generator)
    return ShotDraw(np.flatnonzero(is_shot), rows, labels[rows], unlabelled)


def resampled_rows(collection: TransferCollection, form: str, seed: int) -> NDArray[np.int64]:
    """Rows, ascending, of a collection of such class sizes, from all images of known class.

    Args:
        collection: the images.
        form: one of `SIZES`; unchanged, it includes images of classes that are not in `train`.
        seed: number of the draw.
    """
    known = np.flatnonzero(collection.class_ids != NO_CLASS)
    if form == AS_IS:
        return known
    generator = np.random.default_rng((seed, RESAMPLING))
    everything = np.ones(len(collection.files), dtype=bool)
    ranks = ranked(form, _counts(collection, everything), generator)
    return _resampled(collection, known, form, ranks, generator)


def _counts(collection: TransferCollection, chosen: NDArray[np.bool_]) -> Counts:
    """(c,) number of chosen images of each leaf."""
    ids = collection.class_ids[chosen]
    known = ids[np.isin(ids, collection.leaf_ids)]
    return np.bincount(
        np.searchsorted(collection.leaf_ids, known), minlength=len(collection.leaf_ids)
    )


def _shots_of_leaves(
    collection: TransferCollection, situation: Situation, sizes: Counts, seed: int
) -> Counts:
    """(c,) shots of each leaf, given its size (c,) in the collection."""
    most = np.maximum(_counts(collection, collection.is_train) - 1, 1)
    generator = np.random.default_rng((seed, LABELLING))
    return shot_counts(
        situation.shot_sizes, situation.shots, sizes.astype(np.float64), most, generator
    )


def _resampled(
    collection: TransferCollection,
    rows: NDArray[np.int64],
    form: str,
    ranks: Counts,
    generator: np.random.Generator,
) -> NDArray[np.int64]:
    """Rows of the resampled collection, ascending."""
    is_there = np.zeros(len(collection.files), dtype=bool)
    is_there[rows] = True
    order = generator.permutation(len(collection.files))
    order = order[is_there[order]]
    sizes = resampled_sizes(form, _counts(collection, is_there), ranks)
    ids = collection.class_ids[order]
    chosen = [
        order[ids == leaf][:size] for leaf, size in zip(collection.leaf_ids, sizes, strict=True)
    ]
    return np.sort(np.concatenate(chosen))
