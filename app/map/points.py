"""The points of a map as arrays: queries by rectangle, radius and polygon, and paint order."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

from app.canvas.camera import Rect
from engine.arrays import Flags, Floats, Integers, no_integers, rows_of

if TYPE_CHECKING:
    from engine.map.image_map import ImageMap


MARGIN = 4.0  # units of the plane around all points
FADED = 0.72  # share of the background colour in unselected points while some are selected


@final
@dataclass(frozen=True, eq=False)
class MapPoints:
    """Images (n,) with coordinates (n, 2) in the plane, in ascending image id."""

    image_ids: Integers
    places: Floats

    @staticmethod
    def none() -> MapPoints:
        return MapPoints(no_integers(), np.zeros((0, 2), dtype=np.float32))

    @staticmethod
    def of(made: ImageMap, hidden: Collection[int] = ()) -> MapPoints:
        """The points of a map without hidden images."""
        if not hidden:
            return MapPoints(made.image_ids, made.places)
        is_shown = ~np.isin(made.image_ids, np.fromiter(hidden, dtype=np.int64, count=len(hidden)))
        return MapPoints(made.image_ids[is_shown], made.places[is_shown])

    def __len__(self) -> int:
        return len(self.image_ids)

    @cached_property
    def bounds(self) -> Rect:
        """Bounding box of all points, with a margin."""
        if not len(self):
            return -50.0, -50.0, 50.0, 50.0
        (left, top), (right, bottom) = (
            self.places.min(axis=0).tolist(),
            self.places.max(axis=0).tolist(),
        )
        return left - MARGIN, top - MARGIN, right + MARGIN, bottom + MARGIN

    def rows_of(self, image_ids: Integers) -> Integers:
        """Rows of the images that are on the map."""
        rows, is_there = rows_of(image_ids, self.image_ids)
        return rows[is_there]

    def within(self, box: Rect) -> Flags:
        """Mask (n,) of the points in a box."""
        x, y = self.places[:, 0], self.places[:, 1]
        return (x >= box[0]) & (x <= box[2]) & (y >= box[1]) & (y <= box[3])

    def nearest(self, x: float, y: float, reach: float) -> int | None:
        """Row of the nearest point within a radius; None if there is none."""
        box = (x - reach, y - reach, x + reach, y + reach)
        rows = np.flatnonzero(self.within(box))
        if not len(rows):
            return None
        squares = ((self.places[rows] - np.array((x, y), dtype=np.float32)) ** 2).sum(axis=1)
        best = int(squares.argmin())
        return int(rows[best]) if squares[best] <= reach * reach else None

    def enclosed(self, outline: Sequence[tuple[float, float]]) -> Flags:
        """Mask (n,) of the points in a polygon, by the even-odd rule."""
        found = np.zeros(len(self), dtype=bool)
        if len(outline) < 3 or not len(self):  # noqa: PLR2004 (two corners enclose nothing)
            return found
        corners = np.array(outline, dtype=np.float32)
        low, high = corners.min(axis=0), corners.max(axis=0)
        rows = np.flatnonzero(
            self.within((float(low[0]), float(low[1]), float(high[0]), float(high[1])))
        )
        x, y = self.places[rows, 0], self.places[rows, 1]
        is_in = np.zeros(len(rows), dtype=bool)
        for (x1, y1), (x2, y2) in zip(
            corners.tolist(), [*corners[1:].tolist(), corners[0].tolist()], strict=True
        ):
            if y1 != y2:
                crosses = (y1 > y) != (y2 > y)
                is_in ^= crosses & (x < (x2 - x1) * (y - y1) / (y2 - y1) + x1)
        found[rows] = is_in
        return found


@final
@dataclass(frozen=True, eq=False)
class PaintOrder:
    """Points in paint order, lowest rank first."""

    rows: Integers  # (n,) rows of the points
    places: Floats  # (n, 2) in this order
    colours: NDArray[np.uint32]  # (n,) in this order

    @cached_property
    def place_of(self) -> Integers:
        """(n,) position of each row in this order."""
        found = np.empty(len(self.rows), dtype=np.int64)
        found[self.rows] = np.arange(len(self.rows))
        return found

    @lru_cache(maxsize=1)  # noqa: B019 (holds one order)
    def faded(self, ground: int) -> NDArray[np.uint32]:
        """Colours (n,) blended with the background."""
        mixed = np.full(len(self.colours), 0xFF000000, dtype=np.uint32)
        for shift in (16, 8, 0):
            part = (self.colours >> np.uint32(shift) & np.uint32(0xFF)).astype(np.float32)
            towards = part + (float(ground >> shift & 0xFF) - part) * np.float32(FADED)
            mixed |= np.rint(towards).astype(np.uint32) << np.uint32(shift)
        return mixed

    @classmethod
    def of(
        cls, points: MapPoints, colours: NDArray[np.uint32], ranks: NDArray[np.uint8]
    ) -> PaintOrder:
        """Order by rank (n,), highest on top; shuffled within a rank to favour no class."""
        shuffled = np.random.default_rng(0).permutation(len(points))
        rows = shuffled[np.argsort(ranks[shuffled], kind="stable")]
        return cls(rows, points.places[rows], colours[rows])
