"""Layout of a drawn graph, layer by layer, parents above their children.

Across, the sum of squared widths of all links is minimised, with items of a layer in order and at
their distances. Within one layer that has an exact solution, isotonic regression; layers are
settled in turn until nothing moves. That gives the optimum, since the whole is convex and each
condition concerns one layer only.
"""

import math
import statistics
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Integers
from engine.graph.category_graph import ClassId
from engine.graph_drawing.ordering import count_crossings, fresh_order, kept_order
from engine.graph_drawing.shown import Edge, ItemKey, ShownGraph, Tiers, tiers_of


@dataclass(frozen=True)
class CardSize:
    """How large a card is drawn, and how far cards keep from one another, in scene units."""

    width: float  # of a card
    height: float  # of a card
    gap_across: float  # between neighbours of one layer, and between the rows of a block
    gap_along: float  # between one layer and the next, where the edges run


MOST_ROUNDS = 24  # rounds over all layers; drawings of some hundred classes settle in fewer
STILL = 0.5  # scene units: when no item moves further in a round, the layout has converged
STILL_SHARE = 1e-4  # the same as a share of a wide drawing's width
STRAIGHT = 8.0  # how much more a link between two bends weighs: long edges run straight
WHERE_IT_IS = 1e-3  # weight of the present place: an item without any neighbour stays
WIDEST = 2.5  # aspect ratio of a drawing without a known view, at most
KEPT_FROM = 1.0
"""While it stays wider than this, leaves are stacked as high as in the drawing before."""
KEPT_TO = 4.0  # and while it stays narrower than this

Places = NDArray[np.float64]  # (I,) the centre of each item across, in scene units
Point = tuple[float, float]
"""Across from left to right and along from top to bottom, in scene units."""
Route = tuple[Point, ...]  # points from a parent's lower middle to a child's upper middle


@dataclass(frozen=True)
class Placed:
    """Positions of all cards, items and layers."""

    places: Mapping[ClassId, Point]  # the centre of each class's card
    across: tuple[float, ...]  # the centre of each item
    tops: tuple[float, ...]  # where each layer begins
    bottoms: tuple[float, ...]  # where each layer ends, its highest block included

    def moved_across(self, way: float) -> "Placed":
        """All of it further to the right."""
        places = {class_id: (x + way, y) for class_id, (x, y) in self.places.items()}
        return replace(self, places=places, across=tuple(x + way for x in self.across))


def routes_of(
    tiers: Tiers, edges: Iterable[Edge], placed: Placed, card: CardSize
) -> dict[Edge, Route]:
    """The route of each edge (parent, child)."""
    return {
        edge: _without_repeats(
            [*_leaving(tiers, edge, placed, card), *_arriving(tiers, edge[1], placed, card)]
        )
        for edge in edges
    }


def _leaving(tiers: Tiers, edge: Edge, placed: Placed, card: CardSize) -> Iterable[Point]:
    """Out of the parent, down to where its layer ends, and through the layers between."""
    parent, child = (tiers.item_of[each] for each in edge)
    x, y = placed.places[edge[0]]
    yield x, y + card.height / 2
    yield x, placed.bottoms[tiers.tier[parent]]
    for bend in tiers.bends.get((parent, child), ()):
        yield placed.across[bend], placed.tops[tiers.tier[bend]]
        yield placed.across[bend], placed.bottoms[tiers.tier[bend]]


def _arriving(tiers: Tiers, child: ClassId, placed: Placed, card: CardSize) -> Iterable[Point]:
    """Into the child: from above, or down the gap at the left of its column in a block."""
    x, y = placed.places[child]
    top = placed.tops[tiers.tier[tiers.item_of[child]]]
    upper = y - card.height / 2
    if upper > top:
        gap = x - (card.width + card.gap_across) / 2
        yield gap, top
        yield gap, upper - card.gap_across / 2
    yield x, upper


def _without_repeats(points: Iterable[Point]) -> Route:
    route: list[Point] = []
    for point in points:
        if not route or point != route[-1]:
            route.append(point)
    return tuple(route)


@dataclass(frozen=True)
class _Layer:
    """A layer from left to right."""

    items: Integers  # (R,) its items
    offsets: Places  # (R,) positions at minimal distances, from the first item on
    above: "_Links"  # links to the layer above; see `_Links`
    below: "_Links"  # links to the layer below


@dataclass(frozen=True)
class _Links:
    """(L,) links of a layer in one direction: place in the layer, item at the other end, weight."""

    places: Integers
    others: Integers
    weights: Places


def spread(
    tiers: Tiers, rows: Sequence[Sequence[int]], widths: Sequence[float], gap: float
) -> Places:
    """The centre (I,) of each item across, at least `gap` from its neighbours in the layer."""
    layers = [_layer(tiers, row, widths, gap) for row in rows]
    across = np.zeros(len(tiers.members))
    for layer in layers:
        across[layer.items] = layer.offsets
    upwards = layers[::-1]
    for layer in upwards:
        _settle(layer, (layer.below,), across)
    for number in range(MOST_ROUNDS):
        before = across.copy()
        for layer in upwards if number % 2 else layers:
            _settle(layer, (layer.above, layer.below), across)
        moved = np.abs(across - before).max(initial=0.0)
        if moved < max(STILL, STILL_SHARE * (across.max(initial=0.0) - across.min(initial=0.0))):
            break
    # At last each parent goes to the middle above its children, where its neighbours leave room.
    for layer in upwards:
        _settle(layer, (layer.below,), across)
    return across


def _layer(tiers: Tiers, row: Sequence[int], widths: Sequence[float], gap: float) -> _Layer:
    steps = [0.0]
    for left, right in pairwise(row):
        is_family = bool(set(tiers.above[left]) & set(tiers.above[right])) or not tiers.above[left]
        steps.append((widths[left] + widths[right]) / 2 + (gap if is_family else 2 * gap))
    above, below = _links(tiers, row, tiers.above), _links(tiers, row, tiers.below)
    return _Layer(np.array(row, dtype=np.int64), np.cumsum(steps[: len(row)]), above, below)


def _links(tiers: Tiers, row: Sequence[int], near: Sequence[Sequence[int]]) -> _Links:
    ends = [(place, item, other) for place, item in enumerate(row) for other in near[item]]
    return _Links(
        np.array([place for place, _item, _other in ends], dtype=np.int64),
        np.array([other for _place, _item, other in ends], dtype=np.int64),
        np.array(
            [
                1.0 if tiers.members[item] or tiers.members[other] else STRAIGHT
                for _place, item, other in ends
            ]
        ),
    )


def _settle(layer: _Layer, directions: Sequence[_Links], across: Places) -> None:
    """Move a layer's items as near as possible to their links, preserving order and distances."""
    count = len(layer.items)
    weights = np.full(count, WHERE_IT_IS)
    totals = across[layer.items] * WHERE_IT_IS
    for links in directions:
        weights += np.bincount(links.places, links.weights, count)
        totals += np.bincount(links.places, links.weights * across[links.others], count)
    across[layer.items] = _ascending(totals / weights - layer.offsets, weights) + layer.offsets


def _ascending(wanted: Places, weights: Places) -> Places:
    """Isotonic regression: the ascending numbers nearest by weighted squares (PAVA)."""
    if np.all(wanted[1:] >= wanted[:-1]):
        return wanted
    groups: list[tuple[float, float, int]] = []
    for each, own_weight in zip(wanted.tolist(), weights.tolist(), strict=True):
        mean, weight, count = each, own_weight, 1
        while groups and groups[-1][0] > mean:
            other_mean, other_weight, other_count = groups.pop()
            mean = (mean * weight + other_mean * other_weight) / (weight + other_weight)
            weight, count = weight + other_weight, count + other_count
        groups.append((mean, weight, count))
    return np.repeat(
        [mean for mean, _weight, _count in groups], [count for _mean, _weight, count in groups]
    )


@dataclass(frozen=True)
class Layout:
    """A drawing of a graph."""

    places: Mapping[ClassId, Point]  # the centre of each class's card
    routes: Mapping[Edge, Route]
    """Of each edge (parent, child), from the lower middle of the parent's card to the upper middle
    of the child's, around all others."""
    # Left, top, width and height around all cards and routes
    bounds: tuple[float, float, float, float]
    crossings: int  # pairs of edges that cross
    stack: int = 1  # leaves in a column of a block, at most
    previous_x: Mapping[ItemKey, float] = field(default_factory=dict, repr=False)
    """Horizontal position of each card, block and bend, for the next drawing."""


def lay_out(
    shown: ShownGraph, card: CardSize, *, before: Layout | None = None, shape: float | None = None
) -> Layout:
    """Lay out a graph, close to the previous drawing; cards do not overlap, edges cross no card.

    Args:
        shape: width over height of the view that it is to fit best; without one it is at most
            `WIDEST`.
    """
    tiers = tiers_of(shown)
    stack = _stack(tiers, card, before, shape)
    rows = (
        kept_order(tiers, shown.edges, before.previous_x, before.routes.keys())
        if before
        else fresh_order(tiers)
    )
    widths = [_width(len(members), stack, card) for members in tiers.members]
    across = spread(tiers, rows, widths, card.gap_across)
    placed = _placed(tiers, across.tolist(), stack, card)
    if before:
        placed = placed.moved_across(_way_back(placed.places, before.places))
    routes = routes_of(tiers, shown.edges, placed, card)
    bounds, crossings = _bounds(placed.places, routes, card), count_crossings(tiers, rows)
    previous_x = dict(zip(tiers.keys, placed.across, strict=True))
    return Layout(placed.places, routes, bounds, crossings, stack, previous_x)


def _way_back(places: Mapping[ClassId, Point], before: Mapping[ClassId, Point]) -> float:
    """Horizontal shift by which most of a drawing keeps its position: the median move, undone."""
    moves = [
        before[class_id][0] - place[0] for class_id, place in places.items() if class_id in before
    ]
    return statistics.median_low(moves) if moves else 0.0


def _width(classes: int, stack: int, card: CardSize) -> float:
    """How wide an item is; a bend needs no room of its own."""
    columns = math.ceil(classes / stack)
    return columns * (card.width + card.gap_across) - card.gap_across if columns else 0.0


def _height(classes: int, stack: int, card: CardSize) -> float:
    rows = min(classes, stack)
    return rows * (card.height + card.gap_across) - card.gap_across if rows else 0.0


def _stack(tiers: Tiers, card: CardSize, before: Layout | None, shape: float | None) -> int:
    """Rows of leaf blocks: no more than a sensible width needs, unchanged if possible."""
    if before and KEPT_FROM <= _wide(tiers, before.stack, card) <= KEPT_TO:
        return before.stack
    widest, tallest = shape or WIDEST, max(map(len, tiers.members), default=1)
    # Higher stacks make a drawing narrower and higher: bisect for the first that will do.
    enough = bisect_left(
        range(tallest), -widest, lo=1, hi=tallest, key=lambda stack: -_wide(tiers, stack, card)
    )
    if shape is None or enough == 1:
        return enough

    def room(stack: int) -> float:
        """How high a view of the shape must be to show it."""
        width, height = _size(tiers, stack, card)
        return max(width / shape, height)

    return min(enough - 1, enough, key=room)


def _wide(tiers: Tiers, stack: int, card: CardSize) -> float:
    width, height = _size(tiers, stack, card)
    return width / height if height else 0.0


def _size(tiers: Tiers, stack: int, card: CardSize) -> tuple[float, float]:
    """Estimated width and height: each item is as wide as all that hangs below it."""
    widths = [_width(len(members), stack, card) for members in tiers.members]
    hanging = [0.0] * len(widths)
    heights = [0.0] * tiers.count
    total = 0.0
    for item in sorted(range(len(widths)), key=tiers.tier.__getitem__, reverse=True):
        wide = max(widths[item] + card.gap_across, hanging[item])
        heights[tiers.tier[item]] = max(
            heights[tiers.tier[item]], _height(len(tiers.members[item]), stack, card)
        )
        if tiers.above[item]:
            hanging[tiers.above[item][0]] += wide
        else:
            total += wide
    return total, sum(heights) + card.gap_along * tiers.count


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
    places: Mapping[ClassId, Point], routes: Mapping[Edge, Route], card: CardSize
) -> tuple[float, float, float, float]:
    if not places:
        return 0.0, 0.0, 0.0, 0.0
    passed = [x for route in routes.values() for x, _y in route]
    left = min([*passed, *(x - card.width / 2 for x, _y in places.values())])
    right = max([*passed, *(x + card.width / 2 for x, _y in places.values())])
    top = min(y for _x, y in places.values()) - card.height / 2
    bottom = max(y for _x, y in places.values()) + card.height / 2
    return left, top, right - left, bottom - top
