"""Images of a fold side by side in any order of cards, and as one card until it is unfolded. No Qt."""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.collection.folding.folds import Folds
from engine.collection.folding.partitions import ALONE

Ids = NDArray[np.int64]
Positions = NDArray[np.int32]  # of cards and images: of millions several columns are kept
NEAR: Final = 64  # rows that are looked at before millions of them
NOTHING_UNFOLDED: Final = frozenset[int]()


def together(
    ranked: Positions, image_ids: Ids, folds: Folds, *, keeps_first: bool = False
) -> Positions:
    """Positions of images in order, those of a fold side by side at the place of the one that stands for all.

    Args:
        ranked: (m,) positions in order.
        image_ids: (n,) ids by position.
        keeps_first: the first one of a fold in this order stands for all, as where a person requested this order.
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
    """The images of cards in order. Their ids are looked up when needed: a column of millions takes 20 MB."""

    listed: Ids  # (n,) ids by position, ascending
    positions: Positions  # (rows,) of the images that the cards show

    def __len__(self) -> int:
        return len(self.positions)

    def is_same(self, other: ShownImages) -> bool:
        """Whether nothing was laid out anew since."""
        return self.listed is other.listed and self.positions is other.positions

    def at(self, rows: slice | NDArray[np.int64]) -> Ids:
        """Ids (k,) of the images at these rows."""
        return self.listed[self.positions[rows]]

    def rows_of(self, image_ids: Collection[int], near: int = 0) -> NDArray[np.int64]:
        """Ascending rows (k,) of the cards that show one of these images; one alone is first looked for near a row."""
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
    folds: Ids  # (m,) fold of each, `ALONE` for none
    starts: (
        Positions | None
    )  # (c,) ascending places among them of the images that cards show; None where all have one
    turns: Positions  # (m,) place of each image among those of its fold that are shown, from 0
    sizes: Positions  # (m,) how many of its fold are shown

    @staticmethod
    def of(
        shown: Positions, folds: Ids, unfolded: AbstractSet[int] = NOTHING_UNFOLDED
    ) -> FoldedCards:
        """Cards of images whose folds (m,) stand side by side."""
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
        """Cards of images of which none is in a fold: columns of one number take no memory."""
        alone = np.broadcast_to(np.int64(ALONE), len(shown))
        first, one = (np.broadcast_to(np.int32(value), len(shown)) for value in (0, 1))
        return FoldedCards(shown, alone, None, first, one)

    @property
    def positions(self) -> Positions:
        """(c,) positions of the images that the cards show."""
        return self.shown if self.starts is None else self.shown[self.starts]

    def place(self, card: int) -> int:
        """Place of the image that a card shows."""
        return card if self.starts is None else int(self.starts[card])

    def under(self, card: int) -> Positions:
        """Positions of the images that a card stands for, the one that it shows first."""
        if self.starts is None:
            return self.shown[card : card + 1]
        end = self.starts[card + 1] if card + 1 < len(self.starts) else len(self.shown)
        return self.shown[self.starts[card] : end]


NO_IMAGES: Final = ShownImages(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32))
NO_CARDS: Final = FoldedCards.of(np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64))
