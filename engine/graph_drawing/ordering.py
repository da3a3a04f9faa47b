"""The order of each layer from left to right, in a drawing that nobody has seen yet."""

from collections.abc import Collection
from typing import Final

from fast_sugiyama import from_edges

from engine.graph_drawing.crossings import crossings_between
from engine.graph_drawing.tiers import Tiers
from engine.graph_drawing.untangling import untangled

MOST_LINKS: Final = 1000
"""Links that the library is asked to order, at most: what takes it a tenth of a second."""


def fresh_order(tiers: Tiers) -> list[list[int]]:
    """Order the layers of a drawing that nobody has seen yet.

    Trees come out as they are listed, siblings by name and without a crossing. Where classes with several parents make
    edges cross, fewer cross when that order or the library's is untangled: the better of both is taken.

    Returns:
        The items of each layer from left to right.
    """
    listed = order_as_listed(tiers)
    if not crossings_between(tiers, listed):
        return listed
    candidates = [untangled(tiers, listed)]
    if sum(map(len, tiers.above)) <= MOST_LINKS:
        candidates.append(untangled(tiers, order_by_library(tiers)))
    return min(candidates, key=lambda rows: crossings_between(tiers, rows))


def order_as_listed(tiers: Tiers) -> list[list[int]]:
    """Items as a walk down the tree meets them; blocks come after the cards beside them."""
    met: dict[int, None] = {}
    waiting = [item for item, above in reversed(list(enumerate(tiers.above))) if not above]
    while waiting:
        item = waiting.pop()
        if item not in met:
            met[item] = None
            waiting += reversed(as_listed(tiers, tiers.below[item]))
    rows: list[list[int]] = [[] for _ in range(tiers.count)]
    for item in met:
        rows[tiers.tier[item]].append(item)
    return rows


def as_listed(tiers: Tiers, siblings: Collection[int]) -> list[int]:
    """Items under one parent by name, blocks last."""
    return sorted(siblings, key=lambda each: (len(tiers.members[each]) > 1, each))


def order_by_library(tiers: Tiers) -> list[list[int]]:
    """The order in which fast-sugiyama puts them: barycentres and transposing, each connected part by itself."""
    links = [(parent, item) for item, above in enumerate(tiers.above) for parent in above]
    alone = [[item] for item, above in enumerate(tiers.above) if not above and not tiers.below[item]]
    laid = [[(int(item), float(x)) for item, (x, _y) in placed] for placed, *_ in (from_edges(links) if links else ())]
    across = {item: x for part in laid for item, x in part}
    parts = [[item for item, _x in part] for part in laid]
    rows: list[list[int]] = [[] for _ in range(tiers.count)]
    for part in sorted([*parts, *alone], key=min):
        for item in sorted(part, key=lambda each: (across.get(each, 0.0), each)):
            rows[tiers.tier[item]].append(item)
    return rows
