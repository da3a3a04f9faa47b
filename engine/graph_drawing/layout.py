"""Where each class of a drawn graph stands, and how its edges run: layer by layer, parents above their children."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from engine.graph.category_graph import ClassId
from engine.graph_drawing.card_size import CardSize
from engine.graph_drawing.crossings import count_crossings
from engine.graph_drawing.ordering import fresh_order
from engine.graph_drawing.routes import Placed, routes_of
from engine.graph_drawing.shown import ShownGraph
from engine.graph_drawing.spreading import spread
from engine.graph_drawing.tiers import Tiers, tiers_of

Point = tuple[float, float]
"""Across from left to right and along from top to bottom, in scene units."""
WIDEST: Final = 2.5
"""A drawing becomes at most so many times as wide as it is high, as far as stacking leaves can help."""


@dataclass(frozen=True)
class Layout:
    """A drawing of a graph.

    Attributes:
        places: the centre of each class's card.
        routes: of each edge (parent, child), from the lower middle of the parent's card to the upper middle of the
            child's, around all others.
        bounds: left, top, width and height around all cards and routes.
        crossings: pairs of edges that cross.
        stack: leaves that stand one above the other in a block, at most.
    """

    places: Mapping[ClassId, Point]
    routes: Mapping[tuple[ClassId, ClassId], tuple[Point, ...]]
    bounds: tuple[float, float, float, float]
    crossings: int
    stack: int


def lay_out(shown: ShownGraph, card: CardSize, *, before: Layout | None = None) -> Layout:
    """Lay a graph out.

    Args:
        shown: its classes and edges.
        card: how large cards are.
        before: the drawing that was there, for one that differs little from it.

    Returns:
        The drawing; no two cards overlap, and no edge runs over a card.
    """
    tiers = tiers_of(shown)
    stack = _stack(tiers, card)
    rows = fresh_order(tiers)
    widths = [_width(len(members), stack, card) for members in tiers.members]
    across = spread(tiers, rows, widths, card.gap_across, _stood(tiers, before) if before else {})
    placed = _placed(tiers, across, stack, card)
    routes = routes_of(tiers, shown.edges, placed, card)
    return Layout(placed.places, routes, _bounds(placed.places, routes, card), count_crossings(tiers, rows), stack)


def _stood(tiers: Tiers, before: Layout) -> dict[int, float]:
    """Where single cards stood before."""
    alone = ((item, members[0]) for item, members in enumerate(tiers.members) if len(members) == 1)
    return {item: before.places[class_id][0] for item, class_id in alone if class_id in before.places}


def _width(classes: int, stack: int, card: CardSize) -> float:
    """How wide an item is; a bend needs no room of its own."""
    columns = math.ceil(classes / stack)
    return columns * (card.width + card.gap_across) - card.gap_across if columns else 0.0


def _height(classes: int, stack: int, card: CardSize) -> float:
    rows = min(classes, stack)
    return rows * (card.height + card.gap_across) - card.gap_across if rows else 0.0


def _stack(tiers: Tiers, card: CardSize) -> int:
    """How high leaves are stacked: no higher than it takes to keep the drawing from growing wide."""
    tallest = max((len(members) for members in tiers.members), default=1)
    rows = tiers.rows()
    stack = 1
    while stack < tallest and _wide(tiers, rows, stack, card) > WIDEST:
        stack += 1
    return stack


def _wide(tiers: Tiers, rows: Sequence[Sequence[int]], stack: int, card: CardSize) -> float:
    """Width over height, roughly: before anything stands anywhere."""
    sizes = [[len(tiers.members[item]) for item in row] for row in rows]
    width = max(sum(_width(size, stack, card) + card.gap_across for size in row) for row in sizes)
    height = sum(max(_height(size, stack, card) for size in row) + card.gap_along for row in sizes)
    return width / height


def _placed(tiers: Tiers, across: Sequence[float], stack: int, card: CardSize) -> Placed:
    heights = [0.0] * tiers.count
    for item, members in enumerate(tiers.members):
        tier = tiers.tier[item]
        heights[tier] = max(heights[tier], _height(len(members), stack, card))
    tops = [sum(heights[:tier]) + tier * card.gap_along for tier in range(tiers.count)]
    places: dict[ClassId, Point] = {}
    for item, members in enumerate(tiers.members):
        left = across[item] - _width(len(members), stack, card) / 2
        for number, class_id in enumerate(members):
            column, row = divmod(number, stack)
            x = left + card.width / 2 + column * (card.width + card.gap_across)
            y = tops[tiers.tier[item]] + card.height / 2 + row * (card.height + card.gap_across)
            places[class_id] = (x, y)
    bottoms = [top + height for top, height in zip(tops, heights, strict=True)]
    return Placed(places, tuple(across), tuple(tops), tuple(bottoms))


def _bounds(
    places: Mapping[ClassId, Point], routes: Mapping[tuple[ClassId, ClassId], tuple[Point, ...]], card: CardSize
) -> tuple[float, float, float, float]:
    if not places:
        return 0.0, 0.0, 0.0, 0.0
    passed = [x for route in routes.values() for x, _y in route]
    left = min([*passed, *(x - card.width / 2 for x, _y in places.values())])
    right = max([*passed, *(x + card.width / 2 for x, _y in places.values())])
    top = min(y for _x, y in places.values()) - card.height / 2
    bottom = max(y for _x, y in places.values()) + card.height / 2
    return left, top, right - left, bottom - top
