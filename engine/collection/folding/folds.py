"""Folds: images that one decision may settle, as they are duplicates or shots of one burst."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from engine.arrays import Flags, Floats, Integers, no_integers
from engine.collection.folding.partitions import ALONE, as_partition


@dataclass(frozen=True, eq=False)
class Folds:
    """The folds of n images, by ascending image id; immutable. Other images are in no fold."""

    image_ids: Integers  # (n,) int64
    groups: Integers  # (n,) int64 fold of each image, `ALONE` for none
    twins: Integers  # (n,) int64 group of duplicates of each image, or `ALONE`
    sequences: Integers  # (n,) int64 sequence of each image, or `ALONE`
    sharpness: Floats  # (n,) float32, NaN if unknown
    seconds: Integers  # (n,) int64 time of each shot, or `UNKNOWN_TIME`
    # (n,) int64 groups that are held out together: folds, and the boxes of a photo
    together: Integers

    @staticmethod
    def none() -> "Folds":
        """No folds."""
        nothing = no_integers()
        return Folds(
            nothing, nothing, nothing, nothing, nothing.astype(np.float32), nothing, nothing
        )

    def folded(self) -> "Folds":
        """Drop images that are in no group."""
        places = np.flatnonzero(self.together != ALONE)
        return Folds(*(getattr(self, each.name)[places] for each in fields(self)))

    @cached_property
    def count(self) -> int:
        return int(self.groups.max(initial=ALONE)) + 1

    @property
    def folded_images(self) -> int:
        """Number of images in folds."""
        return int(np.count_nonzero(self.groups != ALONE))

    @cached_property
    def ranks(self) -> Integers:
        """(n,) rank of each image in its fold, 0 for its representative and for images in none.

        The representative is the sharpest image if all are known, else the first by time and id.
        """
        ranks, order = np.zeros(len(self.image_ids), dtype=np.int64), self._in_folds
        place = self.groups[order]
        blur = np.where(self._is_judged[place], -self.sharpness[order], np.float32(0))
        by_rank = order[np.lexsort((self.seconds[order], blur, place))]
        ranks[by_rank] = np.arange(len(by_rank)) - np.searchsorted(
            self.groups[by_rank], self.groups[by_rank]
        )
        return ranks

    def of(self, image_ids: Integers) -> Integers:
        """(k,) the fold of each of these images, or `ALONE`."""
        return self._at(self.groups, image_ids, ALONE)

    def held_together(self, image_ids: Integers) -> Integers:
        """(k,) group of each of these images that is held out together, or `ALONE`."""
        return self._at(self.together, image_ids, ALONE)

    def holds_as(self, other: "Folds", image_ids: Integers) -> bool:
        """Whether the same ones of these images are held out together."""
        ours, theirs = self.held_together(image_ids), other.held_together(image_ids)
        return np.array_equal(as_partition(ours), as_partition(theirs))

    def ranks_of(self, image_ids: Integers) -> Integers:
        return self._at(self.ranks, image_ids, 0)

    def members(self, fold: int) -> tuple[int, ...]:
        """Ids of the images of a fold, the representative first."""
        places = np.flatnonzero(self.groups == fold)
        return tuple(self.image_ids[places[np.argsort(self.ranks[places], kind="stable")]].tolist())

    def each(self) -> Iterator[tuple[tuple[int, ...], str]]:
        """Ids of the images of each fold, the representative first, and its kind.

        The kind is "copies", "burst" or "both".
        """
        order = self._in_folds[
            np.lexsort((self.ranks[self._in_folds], self.groups[self._in_folds]))
        ]
        starts = np.flatnonzero(np.diff(self.groups[order], prepend=ALONE))
        for places in np.split(order, starts[1:]) if len(order) else ():
            kinds = (self.twins[places] != ALONE).any(), (self.sequences[places] != ALONE).any()
            yield (
                tuple(self.image_ids[places].tolist()),
                "both" if all(kinds) else "copies" if kinds[0] else "burst",
            )

    def one_of_each(self, image_ids: Integers) -> Integers:
        """Those of some images that represent a fold, or are in none."""
        return image_ids[self.ranks_of(image_ids) == 0]

    def sequence_of(self, image_id: int) -> int | None:
        place = int(np.searchsorted(self.image_ids, image_id))
        if (
            place == len(self.image_ids)
            or self.image_ids[place] != image_id
            or self.sequences[place] == ALONE
        ):
            return None
        return int(self.sequences[place])

    def in_sequences(self) -> Integers:
        """Ids of the images of all sequences, ascending."""
        return self.image_ids[self.sequences != ALONE]

    def best_of_sequences(self) -> Integers:
        """Ids of the sharpest image of each sequence, ascending; or the first one if unknown."""
        places = np.flatnonzero(self.sequences != ALONE)
        blur = np.where(
            np.isnan(self.sharpness[places]), np.float32(np.inf), -self.sharpness[places]
        )
        order = places[np.lexsort((self.seconds[places], blur, self.sequences[places]))]
        _, first = np.unique(self.sequences[order], return_index=True)
        return np.sort(self.image_ids[order[first]])

    def is_same(self, other: "Folds") -> bool:
        """Whether the groups are equal."""
        pairs = (
            (self.image_ids, other.image_ids),
            (self.groups, other.groups),
            (self.together, other.together),
        )
        return all(np.array_equal(ours, theirs) for ours, theirs in pairs)

    def is_as_sharp(self, other: "Folds") -> bool:
        """Whether the known sharpness of images in folds is equal."""
        places = np.flatnonzero(self.groups != ALONE)
        return len(self.sharpness) == len(other.sharpness) and np.array_equal(
            self.sharpness[places], other.sharpness[places], equal_nan=True
        )

    @cached_property
    def _in_folds(self) -> Integers:
        places = np.flatnonzero(self.groups != ALONE)
        return places[np.argsort(self.groups[places], kind="stable")]

    @cached_property
    def _is_judged(self) -> Flags:
        """(folds,) bool, whether the sharpness of all images of a fold is known."""
        unknown = self.groups[np.isnan(self.sharpness) & (self.groups != ALONE)]
        return np.bincount(unknown, minlength=self.count) == 0

    def _at(self, values: Integers, image_ids: Integers, otherwise: int) -> Integers:
        found = np.full(len(image_ids), otherwise, dtype=np.int64)
        if len(self.image_ids) == 0 or len(image_ids) == 0:
            return found
        if (
            len(self.image_ids) < len(image_ids) and (image_ids[1:] > image_ids[:-1]).all()
        ):  # few are quickly found
            places = np.minimum(np.searchsorted(image_ids, self.image_ids), len(image_ids) - 1)
            is_there = image_ids[places] == self.image_ids
            found[places[is_there]] = values[is_there]
            return found
        places = np.minimum(np.searchsorted(self.image_ids, image_ids), len(self.image_ids) - 1)
        return np.where(self.image_ids[places] == image_ids, values[places], otherwise)
