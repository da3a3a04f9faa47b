"""What a map shows: points with colours, prototypes with edges, and names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import final

import numpy as np

from app.map.colouring import Colouring
from app.map.labels import ClassPlace
from app.map.points import MapPoints, PaintOrder
from engine.arrays import Doubles, Integers
from engine.map.raster import Density

MANY = 150_000  # visible points from which their density is painted instead


@dataclass(frozen=True, eq=False)
class PlacedPrototypes:
    """Prototypes of classes, placed near the images most similar to them."""

    class_ids: Integers  # (p,)
    places: Doubles  # (p, 2)
    edges: Integers  # (e, 2) rows of parents and children


NO_PROTOTYPES = PlacedPrototypes(
    np.zeros(0, dtype=np.int64), np.zeros((0, 2)), np.zeros((0, 2), dtype=np.int64)
)


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
    prototypes: PlacedPrototypes = NO_PROTOTYPES
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
    def prototype_depths(self) -> Integers:
        """(p,) levels of the prototypes' classes below the coloured level."""
        depths = {place.class_id: place.depth for place in self.places}
        ids = self.prototypes.class_ids.tolist()
        return np.array([depths.get(class_id, 0) for class_id in ids], dtype=np.int64)

    @cached_property
    def name_places(self) -> Doubles:
        """(k, 2) positions of the named classes: those of their prototypes, if any."""
        ids, places = self.prototypes.class_ids.tolist(), self.prototypes.places.tolist()
        known = dict(zip(ids, places, strict=True))
        spots = [known.get(place.class_id, (place.x, place.y)) for place in self.places]
        return np.array(spots, dtype=np.float64).reshape(-1, 2)
