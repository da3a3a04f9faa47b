"""What stands in each layer of a drawing: single cards, blocks of leaves, and bends of edges that pass through.

A block holds the leaves that lie under the same parents: stacked, so that two thousand of them stay near.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from engine.graph.category_graph import ClassId
from engine.graph_drawing.shown import ShownGraph


@dataclass(frozen=True)
class Tiers:
    """A layered drawing before anything has a place: items, each in a layer, and links between neighbouring layers.

    Attributes:
        members: of each item, its classes: one for a card, several for a block, none for a bend.
        tier: of each item, its layer, 0 at the top.
        above: of each item, the items of the layer above that it is linked to.
        below: of each item, those of the layer below.
        strands: of each item, how many edges run between it and one item above.
        bends: of each pair of items that edges join across several layers, the bends between them from the top down.
        item_of: of each class, its item.
    """

    members: tuple[tuple[ClassId, ...], ...]
    tier: tuple[int, ...]
    above: tuple[tuple[int, ...], ...]
    below: tuple[tuple[int, ...], ...]
    strands: tuple[int, ...]
    bends: dict[tuple[int, int], tuple[int, ...]]
    item_of: dict[ClassId, int]

    @property
    def count(self) -> int:
        """Number of layers."""
        return max(self.tier, default=-1) + 1

    def rows(self) -> list[list[int]]:
        """Items of each layer, by number."""
        rows: list[list[int]] = [[] for _ in range(self.count)]
        for item, tier in enumerate(self.tier):
            rows[tier].append(item)
        return rows


def tiers_of(shown: ShownGraph) -> Tiers:
    """Put classes into layers, each one below all its parents, and leaves of the same parents into blocks."""
    order = [each.class_id for each in shown.classes]
    parents: dict[ClassId, list[ClassId]] = {each: [] for each in order}
    children: dict[ClassId, list[ClassId]] = {each: [] for each in order}
    for parent, child in shown.edges:
        parents[child].append(parent)
        children[parent].append(child)
    groups: dict[tuple[ClassId, ...], list[ClassId]] = {}
    for each in order:
        # A leaf stands with those of its parents; what has children stands alone.
        groups.setdefault((each,) if children[each] else (0, *sorted(parents[each])), []).append(each)
    return _with_bends(list(groups.values()), parents, _depths(order, parents, children))


def _depths(
    order: Sequence[ClassId], parents: dict[ClassId, list[ClassId]], children: dict[ClassId, list[ClassId]]
) -> dict[ClassId, int]:
    """Longest path from the top among what is drawn."""
    missing = {each: len(parents[each]) for each in order}
    depths = dict.fromkeys(order, 0)
    ready = [each for each in order if not missing[each]]
    while ready:
        settled = ready.pop()
        for child in children[settled]:
            depths[child] = max(depths[child], depths[settled] + 1)
            missing[child] -= 1
            if not missing[child]:
                ready.append(child)
    return depths


def _with_bends(
    groups: list[list[ClassId]], parents: dict[ClassId, list[ClassId]], depths: dict[ClassId, int]
) -> Tiers:
    members = [tuple(group) for group in groups]
    item_of = {each: item for item, group in enumerate(groups) for each in group}
    tier = [depths[group[0]] for group in groups]
    links: list[tuple[int, int, int]] = []
    bends: dict[tuple[int, int], tuple[int, ...]] = {}
    for child, group in enumerate(groups):
        for parent in (item_of[each] for each in parents[group[0]]):
            between = range(tier[parent] + 1, tier[child])
            if between:
                bends[parent, child] = tuple(range(len(members), len(members) + len(between)))
                members += [()] * len(between)
                tier += between
            links += _chain((parent, *bends.get((parent, child), ()), child), len(group))
    above: list[list[int]] = [[] for _ in members]
    below: list[list[int]] = [[] for _ in members]
    strands = [1] * len(members)
    for upper, lower, count in links:
        above[lower].append(upper)
        below[upper].append(lower)
        strands[lower] = count
    return Tiers(
        tuple(members),
        tuple(tier),
        tuple(map(tuple, above)),
        tuple(map(tuple, below)),
        tuple(strands),
        bends,
        item_of,
    )


def _chain(way: tuple[int, ...], count: int) -> Iterator[tuple[int, int, int]]:
    return ((upper, lower, count) for upper, lower in pairwise(way))
