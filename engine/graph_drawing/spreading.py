"""Places across: items of a layer keep their order and distance, and stand as near as they can to those linked to them.

What is minimised is the sum of squared widths of all links, beside the squared moves of items that stood somewhere
before. Within one layer that has an exact solution (neighbours that would overlap stand as one group: isotonic
regression); going from layer to layer until nothing moves gives the best of the whole drawing, since it is convex and
each condition concerns one layer only.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final

from engine.graph_drawing.tiers import Tiers

MOST_ROUNDS: Final = 24
"""Rounds over all layers; drawings of some hundred classes settle in fewer."""
STILL: Final = 0.5
"""Scene units: when no item moves further in a round, the drawing stands."""
STRAIGHT: Final = 8.0
"""How much more a link between two bends weighs: long edges run straight."""
STAY: Final = 4.0
"""How much where an item stood weighs, beside one link."""
WHERE_IT_IS: Final = 1e-3
"""Weight of the present place: an item without any neighbour stays."""


def spread(
    tiers: Tiers, rows: Sequence[Sequence[int]], widths: Sequence[float], gap: float, stood: Mapping[int, float]
) -> list[float]:
    """Give each item its centre across.

    Args:
        tiers: what is drawn.
        rows: the items of each layer from left to right.
        widths: of the items.
        gap: least distance between neighbours of a layer.
        stood: where items stood before that should stay.

    Returns:
        The centre of each item.
    """
    apart = [_apart(tiers, row, widths, gap) for row in rows]
    across = [0.0] * len(tiers.members)
    for row, steps in zip(rows, apart, strict=True):
        at = 0.0
        for item, step in zip(row, steps, strict=True):
            at += step
            across[item] = at
    upwards = list(zip(rows, apart, strict=True))[::-1]
    for row, steps in upwards:
        _settle(row, steps, [_pull(across, item, tiers.below, tiers, stood) for item in row], across)
    for number in range(MOST_ROUNDS):
        before = across.copy()
        for row, steps in upwards if number % 2 else upwards[::-1]:
            _settle(row, steps, [_pull_of_both(across, item, tiers, stood) for item in row], across)
        if max((abs(now - then) for now, then in zip(across, before, strict=True)), default=0.0) < STILL:
            break
    # At last each parent goes to the middle above its children, where its neighbours leave room: that is what is seen.
    for row, steps in upwards:
        _settle(row, steps, [_pull(across, item, tiers.below, tiers, stood) for item in row], across)
    return across


def _apart(tiers: Tiers, row: Sequence[int], widths: Sequence[float], gap: float) -> list[float]:
    """Least distances between the centres of neighbours; families keep two gaps apart."""
    steps = [0.0]
    for left, right in pairwise(row):
        is_family = bool(set(tiers.above[left]) & set(tiers.above[right])) or not tiers.above[left]
        steps.append((widths[left] + widths[right]) / 2 + (gap if is_family else 2 * gap))
    return steps


def _pull_of_both(across: Sequence[float], item: int, tiers: Tiers, stood: Mapping[int, float]) -> tuple[float, float]:
    up, up_weight = _pull(across, item, tiers.above, tiers, stood)
    down, down_weight = _pull(across, item, tiers.below, tiers, {})
    weight = up_weight + down_weight
    return (up * up_weight + down * down_weight) / weight, weight


def _pull(
    across: Sequence[float], item: int, near: Sequence[Sequence[int]], tiers: Tiers, stood: Mapping[int, float]
) -> tuple[float, float]:
    """Where an item is drawn to, and how strongly."""
    weight, total = WHERE_IT_IS, across[item] * WHERE_IT_IS
    is_bend = not tiers.members[item]
    for other in near[item]:
        strength = STRAIGHT if is_bend and not tiers.members[other] else 1.0
        weight += strength
        total += strength * across[other]
    if item in stood:
        weight += STAY
        total += STAY * stood[item]
    return total / weight, weight


def _settle(
    row: Sequence[int], steps: Sequence[float], pulls: Sequence[tuple[float, float]], across: list[float]
) -> None:
    """Put a layer's items as near as possible to where they are drawn to, in order and at their distances."""
    groups: list[tuple[float, float, int]] = []
    at = 0.0
    offsets = []
    for step, (target, weight) in zip(steps, pulls, strict=True):
        at += step
        offsets.append(at)
        mean, total, count = target - at, weight, 1
        while groups and groups[-1][0] > mean:
            other_mean, other_total, other_count = groups.pop()
            mean = (mean * total + other_mean * other_total) / (total + other_total)
            total, count = total + other_total, count + other_count
        groups.append((mean, total, count))
    means = (mean for mean, _total, count in groups for _ in range(count))
    for item, offset, mean in zip(row, offsets, means, strict=True):
        across[item] = mean + offset
