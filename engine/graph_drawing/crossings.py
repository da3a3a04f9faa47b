"""How many edges of a layered drawing cross, counted pair by pair."""

from collections.abc import Sequence
from itertools import pairwise

from engine.graph_drawing.tiers import Tiers

Rows = Sequence[Sequence[int]]
"""The items of each layer from left to right."""


def count_crossings(tiers: Tiers, rows: Rows) -> int:
    """Count the pairs of edges that cross when the items stand in this order.

    Edges into one block cross among themselves only where they come from several parents: those from two parents
    change order for each pair of its classes, as they would in a row.
    """
    return crossings_between(tiers, rows) + sum(_inside(tiers, item) for item in range(len(tiers.members)))


def crossings_between(tiers: Tiers, rows: Rows) -> int:
    """The same without those into one block, which no order of the layers changes."""
    return sum(_between(tiers, upper, lower) for upper, lower in pairwise(rows))


def _inside(tiers: Tiers, item: int) -> int:
    classes, parents = len(tiers.members[item]), len(tiers.above[item])
    return classes * (classes - 1) // 2 * (parents * (parents - 1) // 2)


def _between(tiers: Tiers, upper: Sequence[int], lower: Sequence[int]) -> int:
    """Edges that change order between two layers: inversions, weighted by how many edges a link stands for."""
    place = {item: number for number, item in enumerate(upper)}
    sums = [0] * (len(upper) + 1)
    passed = crossings = 0
    for item in lower:
        strands = tiers.strands[item]
        ends = sorted(place[parent] for parent in tiers.above[item])
        for end in ends:
            crossings += strands * (passed - _sum_to(sums, end + 1))
        for end in ends:
            _add(sums, end + 1, strands)
        passed += strands * len(ends)
    return crossings


def _sum_to(sums: list[int], place: int) -> int:
    total = 0
    while place:
        total += sums[place]
        place &= place - 1
    return total


def _add(sums: list[int], place: int, amount: int) -> None:
    while place < len(sums):
        sums[place] += amount
        place += place & -place
