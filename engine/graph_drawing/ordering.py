"""The order of each layer from left to right: as the tree lists the classes, or as crossings ask for."""

from collections.abc import Sequence
from typing import Final

from fast_sugiyama import from_edges

from engine.graph_drawing.crossings import count_crossings
from engine.graph_drawing.tiers import Tiers

MOST_LINKS: Final = 1000
"""Links that the library is asked to order, at most: what takes it some hundredths of a second."""


def fresh_order(tiers: Tiers) -> list[list[int]]:
    """Order the layers of a drawing that nobody has seen yet.

    Trees come out as they are listed, siblings by name and without a crossing; where classes with several parents make
    edges cross, the library's order is taken if fewer cross in it.

    Returns:
        The items of each layer from left to right.
    """
    listed = order_as_listed(tiers)
    crossings = count_crossings(tiers, listed)
    if not crossings or sum(map(len, tiers.above)) > MOST_LINKS:
        return listed
    by_library = order_by_library(tiers)
    return by_library if count_crossings(tiers, by_library) < crossings else listed


def order_as_listed(tiers: Tiers) -> list[list[int]]:
    """Items as a walk down the tree meets them; blocks come after the cards beside them."""
    met: dict[int, None] = {}
    waiting = [item for item, above in reversed(list(enumerate(tiers.above))) if not above]
    while waiting:
        item = waiting.pop()
        if item not in met:
            met[item] = None
            waiting += sorted(tiers.below[item], key=lambda each: (len(tiers.members[each]) > 1, each), reverse=True)
    rows: list[list[int]] = [[] for _ in range(tiers.count)]
    for item in met:
        rows[tiers.tier[item]].append(item)
    return rows


def order_by_library(tiers: Tiers) -> list[list[int]]:
    """The order in which fast-sugiyama puts them: barycentres and transposing, each connected part by itself."""
    links = [(parent, item) for item, above in enumerate(tiers.above) for parent in above]
    alone = [[item] for item, above in enumerate(tiers.above) if not above and not tiers.below[item]]
    laid = [[(int(item), float(x)) for item, (x, _y) in placed] for placed, *_ in (from_edges(links) if links else ())]
    across = {item: x for part in laid for item, x in part}
    parts = [[item for item, _x in part] for part in laid]
    return _beside_one_another(tiers, [*parts, *alone], across)


def _beside_one_another(tiers: Tiers, parts: Sequence[list[int]], across: dict[int, float]) -> list[list[int]]:
    rows: list[list[int]] = [[] for _ in range(tiers.count)]
    for part in sorted(parts, key=min):
        for item in sorted(part, key=lambda each: (across.get(each, 0.0), each)):
            rows[tiers.tier[item]].append(item)
    return rows
