"""Where each class of a drawn graph stands, and how its edges run: layer by layer, parents above their children."""

import math
import statistics
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from engine.graph.category_graph import ClassId
from engine.graph_drawing.card_size import CardSize
from engine.graph_drawing.crossings import count_crossings
from engine.graph_drawing.following import kept_order
from engine.graph_drawing.ordering import fresh_order
from engine.graph_drawing.routes import Placed, routes_of
from engine.graph_drawing.shown import ShownGraph
from engine.graph_drawing.spreading import spread
from engine.graph_drawing.tiers import ItemKey, Tiers, tiers_of

Point = tuple[float, float]
"""Across from left to right and along from top to bottom, in scene units."""
WIDEST: Final = 2.5
"""A drawing becomes at most so many times as wide as it is high, as far as stacking leaves can help."""
KEPT_FROM: Final = 1.0
"""While it stays wider than this, leaves are stacked as high as in the drawing before."""
KEPT_TO: Final = 4.0
"""And while it stays narrower than this."""


@dataclass(frozen=True)
class Layout:
    """A drawing of a graph."""

    places: Mapping[ClassId, Point]  # the centre of each class's card
    routes: Mapping[tuple[ClassId, ClassId], tuple[Point, ...]]
    """Of each edge (parent, child), from the lower middle of the parent's card to the upper middle of the child's,
    around all others."""
    bounds: tuple[float, float, float, float]  # left, top, width and height around all cards and routes
    crossings: int  # pairs of edges that cross
    stack: int = 1  # leaves that stand one above the other in a block, at most
    stood: Mapping[ItemKey, float] = field(default_factory=dict, repr=False)
    """Where each card, block and bend stands across, for the drawing after this one."""


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
    stack = _stack(tiers, card, before)
    rows = kept_order(tiers, shown.edges, before.stood, before.routes.keys()) if before else fresh_order(tiers)
    widths = [_width(len(members), stack, card) for members in tiers.members]
    across = spread(tiers, rows, widths, card.gap_across)
    placed = _placed(tiers, across.tolist(), stack, card)
    if before:
        placed = placed.moved_across(_way_back(placed.places, before.places))
    routes = routes_of(tiers, shown.edges, placed, card)
    return Layout(
        placed.places,
        routes,
        _bounds(placed.places, routes, card),
        count_crossings(tiers, rows),
        stack,
        dict(zip(tiers.keys, placed.across, strict=True)),
    )


def _way_back(places: Mapping[ClassId, Point], before: Mapping[ClassId, Point]) -> float:
    """How far across to move a whole drawing so that most of it stands where it stood: the median move, undone."""
    moves = [before[class_id][0] - place[0] for class_id, place in places.items() if class_id in before]
    return statistics.median_low(moves) if moves else 0.0


def _width(classes: int, stack: int, card: CardSize) -> float:
    """How wide an item is; a bend needs no room of its own."""
    columns = math.ceil(classes / stack)
    return columns * (card.width + card.gap_across) - card.gap_across if columns else 0.0


def _height(classes: int, stack: int, card: CardSize) -> float:
    rows = min(classes, stack)
    return rows * (card.height + card.gap_across) - card.gap_across if rows else 0.0


def _stack(tiers: Tiers, card: CardSize, before: Layout | None) -> int:
    """How high leaves are stacked: no higher than keeps the drawing from growing wide; as before if possible."""
    if before and KEPT_FROM <= _wide(tiers, before.stack, card) <= KEPT_TO:
        return before.stack
    tallest = max(map(len, tiers.members), default=1)
    # The higher the stacks, the narrower and the higher is the drawing: the first that will do is found by halving.
    return bisect_left(range(tallest), -WIDEST, lo=1, hi=tallest, key=lambda stack: -_wide(tiers, stack, card))


def _wide(tiers: Tiers, stack: int, card: CardSize) -> float:
    """Width over height, roughly, before anything stands anywhere: each item is as wide as all that hangs below it."""
    widths = [_width(len(members), stack, card) for members in tiers.members]
    hanging = [0.0] * len(widths)
    heights = [0.0] * tiers.count
    total = 0.0
    for item in sorted(range(len(widths)), key=tiers.tier.__getitem__, reverse=True):
        wide = max(widths[item] + card.gap_across, hanging[item])
        heights[tiers.tier[item]] = max(heights[tiers.tier[item]], _height(len(tiers.members[item]), stack, card))
        if tiers.above[item]:
            hanging[tiers.above[item][0]] += wide
        else:
            total += wide
    height = sum(heights) + card.gap_along * tiers.count
    return total / height if height else 0.0


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
