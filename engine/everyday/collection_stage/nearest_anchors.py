"""The nearest anchors of all images of a collection, as labels make more anchors."""

from dataclasses import dataclass
from typing import Final, final

import numpy as np

from engine.everyday.blocks import Integers
from engine.everyday.collection_stage.neighbours import Nearest

MOST_NEWER: Final = 0.25
"""Share of the images whose nearest anchors may lie beside the table; of more all are put into another table."""


@final
@dataclass(frozen=True)
class NearestAnchors:
    """The nearest anchors of n images.

    A label makes one anchor more, which is among the nearest of one image in hundreds. The others' stay where they are,
    in a table of 48 bytes an image that may be mapped from a file.
    """

    table: Nearest  # (n, k)
    newer_rows: Integers  # (c,) ascending rows whose nearest anchors are those of `newer`
    newer: Nearest  # (c, k)

    @staticmethod
    def of(table: Nearest) -> "NearestAnchors":
        """Those of a table, and no others."""
        return NearestAnchors(table, np.zeros(0, dtype=np.int64), Nearest.none(0))

    def rows(self, chosen: Integers | slice) -> Nearest:
        """Those of k images, at rows or in a slice without steps; not to be written to."""
        part = self.table.rows(chosen)
        if len(self.newer_rows) == 0:
            return part
        if isinstance(chosen, slice):
            start, stop, _step = chosen.indices(len(self.table.cosines))
            first, last = np.searchsorted(self.newer_rows, (start, stop)).tolist()
            which = np.arange(first, last)
            places = self.newer_rows[which] - start
        else:
            which = np.minimum(np.searchsorted(self.newer_rows, chosen), len(self.newer_rows) - 1)
            places = np.flatnonzero(self.newer_rows[which] == chosen)
            which = which[places]
        if len(which) == 0:
            return part
        found = Nearest(part.positions.copy(), part.cosines.copy())
        found.positions[places], found.cosines[places] = (
            self.newer.positions[which],
            self.newer.cosines[which],
        )
        return found

    def whole(self) -> Nearest:
        """Those of all images; not to be written to."""
        return self.rows(slice(None))

    def with_newer(self, rows: Integers, nearest: Nearest) -> "NearestAnchors":
        """The same where images at these rows (c,), ascending, have others."""
        is_left = ~np.isin(self.newer_rows, rows, assume_unique=True)
        all_rows = np.concatenate([self.newer_rows[is_left], rows])
        order = np.argsort(all_rows)
        newer = Nearest(
            np.concatenate([self.newer.positions[is_left], nearest.positions])[order],
            np.concatenate([self.newer.cosines[is_left], nearest.cosines])[order],
        )
        found = NearestAnchors(self.table, all_rows[order], newer)
        is_many = len(all_rows) > MOST_NEWER * len(self.table.cosines)
        return NearestAnchors.of(found.whole()) if is_many else found
