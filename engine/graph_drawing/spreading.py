"""Places across: items of a layer keep their order and distance, and stand as near as they can to those linked to them.

What is minimised is the sum of squared widths of all links. Within one layer that has an exact solution: neighbours
that would overlap stand as one group (isotonic regression). Going from layer to layer until nothing moves gives the
best of the whole drawing, since it is convex and each condition concerns one layer only.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.graph_drawing.tiers import Tiers

MOST_ROUNDS: Final = 24
"""Rounds over all layers; drawings of some hundred classes settle in fewer."""
STILL: Final = 0.5
"""Scene units: when no item moves further in a round, the drawing stands."""
STILL_SHARE: Final = 1e-4
"""The same as a share of a wide drawing's width."""
STRAIGHT: Final = 8.0
"""How much more a link between two bends weighs: long edges run straight."""
WHERE_IT_IS: Final = 1e-3
"""Weight of the present place: an item without any neighbour stays."""

Places = NDArray[np.float64]
"""(I,) the centre of each item across, in scene units."""


@dataclass(frozen=True)
class _Layer:
    """A layer from left to right."""

    items: NDArray[np.int64]  # (R,) its items
    offsets: Places  # (R,) where they would stand if they stood as near as they may, from the first one on
    above: "_Links"  # links to the layer above; see `_Links`
    below: "_Links"  # links to the layer below


@dataclass(frozen=True)
class _Links:
    """(L,) links of a layer in one direction: the place in the layer, the item at the other end, and the weight."""

    places: NDArray[np.int64]
    others: NDArray[np.int64]
    weights: Places


def spread(tiers: Tiers, rows: Sequence[Sequence[int]], widths: Sequence[float], gap: float) -> Places:
    """Give each item its centre across.

    Args:
        tiers: what is drawn.
        rows: the items of each layer from left to right.
        widths: of the items.
        gap: least distance between neighbours of a layer.

    Returns:
        (I,) the centre of each item.
    """
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
    # At last each parent goes to the middle above its children, where its neighbours leave room: that is what is seen.
    for layer in upwards:
        _settle(layer, (layer.below,), across)
    return across


def _layer(tiers: Tiers, row: Sequence[int], widths: Sequence[float], gap: float) -> _Layer:
    steps = [0.0]
    for left, right in pairwise(row):
        is_family = bool(set(tiers.above[left]) & set(tiers.above[right])) or not tiers.above[left]
        steps.append((widths[left] + widths[right]) / 2 + (gap if is_family else 2 * gap))
    return _Layer(
        np.array(row, dtype=np.int64),
        np.cumsum(steps[: len(row)]),
        _links(tiers, row, tiers.above),
        _links(tiers, row, tiers.below),
    )


def _links(tiers: Tiers, row: Sequence[int], near: Sequence[Sequence[int]]) -> _Links:
    ends = [(place, item, other) for place, item in enumerate(row) for other in near[item]]
    return _Links(
        np.array([place for place, _item, _other in ends], dtype=np.int64),
        np.array([other for _place, _item, other in ends], dtype=np.int64),
        np.array([1.0 if tiers.members[item] or tiers.members[other] else STRAIGHT for _place, item, other in ends]),
    )


def _settle(layer: _Layer, directions: Sequence[_Links], across: Places) -> None:
    """Put a layer's items as near as possible to where they are drawn to, in order and at their distances."""
    count = len(layer.items)
    weights = np.full(count, WHERE_IT_IS)
    totals = across[layer.items] * WHERE_IT_IS
    for links in directions:
        weights += np.bincount(links.places, links.weights, count)
        totals += np.bincount(links.places, links.weights * across[links.others], count)
    across[layer.items] = _ascending(totals / weights - layer.offsets, weights) + layer.offsets


def _ascending(wanted: Places, weights: Places) -> Places:
    """The ascending numbers nearest to some others by weighted squares (pool adjacent violators)."""
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
    return np.repeat([mean for mean, _weight, _count in groups], [count for _mean, _weight, count in groups])
