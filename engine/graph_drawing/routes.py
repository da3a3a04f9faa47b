"""How edges run: between the layers, past cards that stand higher or lower, and down the gaps of a block."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from engine.graph.category_graph import ClassId
from engine.graph_drawing.card_size import CardSize
from engine.graph_drawing.tiers import Tiers

Route = tuple[tuple[float, float], ...]
"""Points from a parent's lower middle to a child's upper middle."""


@dataclass(frozen=True)
class Placed:
    """Where everything stands."""

    places: Mapping[ClassId, tuple[float, float]]  # the centre of each class's card
    across: tuple[float, ...]  # the centre of each item
    tops: tuple[float, ...]  # where each layer begins
    bottoms: tuple[float, ...]  # where each layer ends, its highest block included

    def moved_across(self, way: float) -> "Placed":
        """All of it further to the right."""
        places = {class_id: (x + way, y) for class_id, (x, y) in self.places.items()}
        return replace(self, places=places, across=tuple(x + way for x in self.across))


def routes_of(
    tiers: Tiers, edges: Iterable[tuple[ClassId, ClassId]], placed: Placed, card: CardSize
) -> dict[tuple[ClassId, ClassId], Route]:
    """The route of each edge (parent, child)."""
    return {
        edge: _without_repeats([*_leaving(tiers, edge, placed, card), *_arriving(tiers, edge[1], placed, card)])
        for edge in edges
    }


def _leaving(
    tiers: Tiers, edge: tuple[ClassId, ClassId], placed: Placed, card: CardSize
) -> Iterable[tuple[float, float]]:
    """Out of the parent, down to where its layer ends, and through the layers between."""
    parent, child = (tiers.item_of[each] for each in edge)
    x, y = placed.places[edge[0]]
    yield x, y + card.height / 2
    yield x, placed.bottoms[tiers.tier[parent]]
    for bend in tiers.bends.get((parent, child), ()):
        yield placed.across[bend], placed.tops[tiers.tier[bend]]
        yield placed.across[bend], placed.bottoms[tiers.tier[bend]]


def _arriving(tiers: Tiers, child: ClassId, placed: Placed, card: CardSize) -> Iterable[tuple[float, float]]:
    """Into the child: from above, or down the gap at the left of its column in a block."""
    x, y = placed.places[child]
    top = placed.tops[tiers.tier[tiers.item_of[child]]]
    upper = y - card.height / 2
    if upper > top:
        gap = x - (card.width + card.gap_across) / 2
        yield gap, top
        yield gap, upper - card.gap_across / 2
    yield x, upper


def _without_repeats(points: Iterable[tuple[float, float]]) -> Route:
    route: list[tuple[float, float]] = []
    for point in points:
        if not route or point != route[-1]:
            route.append(point)
    return tuple(route)
