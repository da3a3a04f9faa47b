"""Folds in the order of cards: adjacent images, shown as one card until unfolded. No Qt."""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Integers, no_integers
from engine.collection.folding.folds import Folds
from engine.collection.folding.partitions import ALONE

Ids = NDArray[np.int64]
Positions = NDArray[np.int32]  # 32 bits, as there are several columns for millions of images
NEAR = 64  # rows searched before all of them
NOTHING_UNFOLDED = frozenset[int]()


def together(
    ranked: Positions, image_ids: Ids, folds: Folds, *, keeps_first: bool = False
) -> Positions:
    """Move the images of a fold next to its representative.

    Args:
        ranked: (m,) positions in order.
        image_ids: (n,) ids by position.
        keeps_first: whether the first image of a fold represents it, as for an explicitly requested
            order.

    Returns:
        (m,) positions in order.
    """
    ids = image_ids[ranked]
    groups = folds.of(ids)
    is_folded = groups != ALONE
    if not is_folded.any():
        return ranked
    places = np.arange(len(ranked), dtype=np.int64)
    ranks = places if keeps_first else folds.ranks_of(ids)
    folded = np.flatnonzero(is_folded)
    order = folded[np.lexsort((ranks[folded], groups[folded]))]
    begins = np.flatnonzero(np.diff(groups[order], prepend=ALONE))
    sizes = np.diff(np.append(begins, len(order)))
    key = places.copy()
    key[order] = np.repeat(order[begins], sizes)
    turn = np.zeros(len(ranked), dtype=np.int64)
    turn[order] = np.arange(len(order)) - np.repeat(begins, sizes)
    return ranked[np.lexsort((turn, key))]


@dataclass(frozen=True)
class ShownImages:
    """The images of cards in order; ids are looked up on demand to save memory."""

    listed: Ids  # (n,) ids by position, ascending
    positions: Positions  # (rows,) positions of the shown images

    def __len__(self) -> int:
        return len(self.positions)

    def is_same(self, other: ShownImages) -> bool:
        """Whether both are the same arrangement."""
        return self.listed is other.listed and self.positions is other.positions

    def at(self, rows: slice | Integers) -> Ids:
        """Ids (k,) of the images at some rows."""
        return self.listed[self.positions[rows]]

    def rows_of(self, image_ids: Collection[int], near: int = 0) -> Integers:
        """Ascending rows (k,) of images; a single one is first searched near a row."""
        wanted = np.unique(np.fromiter(image_ids, dtype=np.int64, count=len(image_ids)))
        places = np.searchsorted(self.listed, wanted)
        is_there = places < len(self.listed)
        wanted, places = wanted[is_there], places[is_there]
        places = places[self.listed[places] == wanted]
        if len(places) != 1:
            return np.flatnonzero(np.isin(self.positions, places))
        start = max(0, near - NEAR)
        rows = start + np.flatnonzero(self.positions[start : near + NEAR] == places[0])
        return rows if len(rows) else np.flatnonzero(self.positions == places[0])


@dataclass(frozen=True)
class FoldedCards:
    """The cards of m images in order."""

    shown: Positions  # (m,) positions of the images
    folds: Ids  # (m,) fold of each image, `ALONE` for none
    # (c,) ascending indices of the images that cards show; None if all have a card.
    starts: Positions | None
    turns: Positions  # (m,) index of each image within the shown images of its fold
    sizes: Positions  # (m,) number of shown images in the fold

    @staticmethod
    def of(
        shown: Positions, folds: Ids, unfolded: AbstractSet[int] = NOTHING_UNFOLDED
    ) -> FoldedCards:
        """Cards of images whose folds (m,) are adjacent."""
        count = len(shown)
        is_first = np.ones(count, dtype=bool)
        is_first[1:] = (folds[1:] != folds[:-1]) | (folds[1:] == ALONE)
        begins = np.flatnonzero(is_first)
        lengths = np.diff(np.append(begins, count)).astype(np.int32)
        turns = np.arange(count, dtype=np.int32) - np.repeat(begins.astype(np.int32), lengths)
        is_card = is_first
        if unfolded:
            is_card = is_first | np.isin(folds, np.fromiter(unfolded, dtype=np.int64))
        return FoldedCards(
            shown,
            folds,
            np.flatnonzero(is_card).astype(np.int32),
            turns,
            np.repeat(lengths, lengths),
        )

    @staticmethod
    def of_single(shown: Positions) -> FoldedCards:
        """Cards of images without folds; constant columns take no memory."""
        alone = np.broadcast_to(np.int64(ALONE), len(shown))
        first, one = (np.broadcast_to(np.int32(value), len(shown)) for value in (0, 1))
        return FoldedCards(shown, alone, None, first, one)

    @property
    def positions(self) -> Positions:
        """(c,) positions of the images that the cards show."""
        return self.shown if self.starts is None else self.shown[self.starts]

    def place(self, card: int) -> int:
        """Index of the image that a card shows."""
        return card if self.starts is None else int(self.starts[card])

    def under(self, card: int) -> Positions:
        """Positions of the images of a card, the shown one first."""
        if self.starts is None:
            return self.shown[card : card + 1]
        end = self.starts[card + 1] if card + 1 < len(self.starts) else len(self.shown)
        return self.shown[self.starts[card] : end]


NO_IMAGES = ShownImages(no_integers(), np.zeros(0, dtype=np.int32))
NO_CARDS = FoldedCards.of(np.zeros(0, dtype=np.int32), no_integers())
