"""Fewer crossings: items go to the mean of what they are linked to, and neighbours change places where that helps."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from engine.graph_drawing.crossings import Rows, crossings_between
from engine.graph_drawing.tiers import Tiers

MOST_SWEEPS: Final = 12
"""Ways down or up over all layers; the best order is found within the first few."""
VAIN_SWEEPS: Final = 4
"""So many without any gain are the last."""
MOST_PASSES: Final = 20
"""Passes in which neighbours change places; each but the last makes fewer edges cross."""


def untangled(tiers: Tiers, rows: Rows) -> list[list[int]]:
    """Reorder layers until no more edges uncross.

    Args:
        tiers: what is drawn.
        rows: the items of each layer from left to right, to begin with.

    Returns:
        An order in which no more edges cross than in `rows`.
    """
    best = current = [list(row) for row in rows]
    fewest, found_in = crossings_between(tiers, best), 0
    for number in range(MOST_SWEEPS):
        if not fewest or number - found_in > VAIN_SWEEPS:
            break
        current = _towards_means(tiers, current, downwards=number % 2 == 1)
        crossings = crossings_between(tiers, current)
        if crossings < fewest:
            best, fewest, found_in = current, crossings, number
    return switched(tiers, best)


def switched(tiers: Tiers, rows: Rows, keep: AbstractSet[int] = frozenset()) -> list[list[int]]:
    """Let neighbours change places while edges uncross by it.

    Args:
        tiers: what is drawn.
        rows: the items of each layer from left to right.
        keep: items that keep their order among themselves.
    """
    switching = [list(row) for row in rows]
    place = {item: number for row in rows for number, item in enumerate(row)}
    for _ in range(MOST_PASSES):
        if not sum(_switch_in(tiers, row, place, keep) for row in switching):
            break
    return switching


def _switch_in(tiers: Tiers, row: list[int], place: dict[int, int], keep: AbstractSet[int]) -> int:
    """One pass over a layer; the number of switches."""
    switches = 0
    for number in range(len(row) - 1):
        left, right = row[number], row[number + 1]
        if (left in keep and right in keep) or _uncrossed(tiers, left, right, place) <= 0:
            continue
        row[number], row[number + 1] = right, left
        place[left], place[right] = number + 1, number
        switches += 1
    return switches


def _uncrossed(tiers: Tiers, left: int, right: int, place: dict[int, int]) -> int:
    """How many crossings fewer there are when two neighbours change places."""
    above = tiers.strands[left] * tiers.strands[right] * _inverted(tiers.above[left], tiers.above[right], place)
    if not (tiers.below[left] and tiers.below[right]):
        return above
    below = sum(
        tiers.strands[one] * tiers.strands[other] * ((place[one] > place[other]) - (place[one] < place[other]))
        for one in tiers.below[left]
        for other in tiers.below[right]
    )
    return above + below


def _inverted(lefts: Sequence[int], rights: Sequence[int], place: dict[int, int]) -> int:
    return sum((place[one] > place[other]) - (place[one] < place[other]) for one in lefts for other in rights)


def _towards_means(tiers: Tiers, rows: Rows, *, downwards: bool) -> list[list[int]]:
    """Sort each layer by the mean place of what its items are linked to; what has no links there stays where it is."""
    sweeping = [list(row) for row in rows]
    place = {item: number for row in rows for number, item in enumerate(row)}
    near = tiers.above if downwards else tiers.below
    for tier in range(1, len(rows)) if downwards else range(len(rows) - 2, -1, -1):
        row = sweeping[tier]
        means = {item: sum(place[each] for each in near[item]) / len(near[item]) for item in row if near[item]}
        in_order = iter(sorted(means, key=means.__getitem__))
        sweeping[tier] = [next(in_order) if item in means else item for item in row]
        place.update((item, number) for number, item in enumerate(sweeping[tier]))
    return sweeping
