"""What a map shows: points with colours, prototypes with edges, and names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from app.map.colouring import Colouring
from app.map.labels import ClassPlace
from app.map.points import MapPoints, PaintOrder
from engine.arrays import Doubles, Integers
from engine.map.raster import Density

MANY: Final = 150_000  # visible points from which their density is painted instead
FADED: Final = 0.72  # share of the background colour in unselected points while some are selected


@dataclass(frozen=True)
class PrototypeMark:
    """A class's prototype, placed near the images most similar to it."""

    class_id: int
    name: str
    x: float
    y: float


@final
@dataclass(frozen=True, eq=False)
class MapScene:
    """State of the map, immutable."""

    points: MapPoints = field(default_factory=MapPoints.none)
    colouring: Colouring | None = None
    order: PaintOrder | None = None
    density: Density | None = None  # for more than `MANY` points
    places: tuple[ClassPlace, ...] = ()  # named classes, largest first
    names: Mapping[int, str] = field(default_factory=dict)  # of these classes
    prototypes: tuple[PrototypeMark, ...] = ()
    edges: tuple[tuple[int, int], ...] = ()  # indices in `prototypes` of parents and children
    # Colours that users gave classes; None if colours do not encode classes.
    stored_colours: Mapping[int, str] | None = None

    def coloured(
        self, colouring: Colouring, places: Sequence[ClassPlace], names: Mapping[int, str]
    ) -> MapScene:
        """Replace the colours; slow, for a background thread."""
        order = PaintOrder.of(self.points, colouring.colours, colouring.ranks)
        density = Density.of(order.places, order.colours) if len(self.points) > MANY else None
        return replace(
            self,
            colouring=colouring,
            order=order,
            density=density,
            places=tuple(places),
            names=names,
        )

    @cached_property
    def levels(self) -> Mapping[int, int]:
        """Level of each named class below the coloured level."""
        return {place.class_id: place.depth for place in self.places}

    @cached_property
    def mark_places(self) -> Doubles:
        """(p, 2) positions of the prototypes."""
        return np.array([(mark.x, mark.y) for mark in self.prototypes], dtype=np.float64).reshape(
            -1, 2
        )

    @cached_property
    def marked(self) -> frozenset[int]:
        """Classes with a prototype."""
        return frozenset(mark.class_id for mark in self.prototypes)

    @cached_property
    def edge_places(self) -> Integers:
        """(e, 2) indices of parents and children in the prototypes."""
        return np.array(self.edges, dtype=np.int64).reshape(-1, 2)

    @cached_property
    def name_places(self) -> Doubles:
        """(k, 2) positions of the named classes: those of their prototypes, if any."""
        marked = {mark.class_id: mark for mark in self.prototypes}
        spots = (marked.get(place.class_id, place) for place in self.places)
        return np.array([(spot.x, spot.y) for spot in spots], dtype=np.float64).reshape(-1, 2)

    def with_prototypes(
        self, prototypes: Sequence[PrototypeMark], edges: Sequence[tuple[int, int]]
    ) -> MapScene:
        return replace(self, prototypes=tuple(prototypes), edges=tuple(edges))


def faded(colours: NDArray[np.uint32], ground: int) -> NDArray[np.uint32]:
    """Blend opaque colours (n,) with the background."""
    mixed = np.full(len(colours), 0xFF000000, dtype=np.uint32)
    for shift in (16, 8, 0):
        part = (colours >> np.uint32(shift) & np.uint32(0xFF)).astype(np.float32)
        towards = part + (float(ground >> shift & 0xFF) - part) * np.float32(FADED)
        mixed |= np.rint(towards).astype(np.uint32) << np.uint32(shift)
    return mixed
