"""Layers of a drawing: single cards, blocks of leaves under the same parents, and bends of edges that pass through."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from engine.graph.category_graph import ClassId
from engine.graph_drawing.shown import ShownGraph

ItemKey = tuple[int, ...]
"""What an item is, from one drawing to the next: (class) of a card, (0, parents...) of a block, and of a bend its
number from the top, negative, its parent, and the key of what its edge leads to."""


@dataclass(frozen=True)
class Tiers:
    """A layered drawing before anything has a place: items, each in a layer, and links between neighbouring layers."""

    keys: tuple[ItemKey, ...]  # of each item
    members: tuple[tuple[ClassId, ...], ...]
    """Of each item, its classes: one for a card, several for a block, none for a bend."""
    tier: tuple[int, ...]  # of each item, its layer, 0 at the top
    above: tuple[tuple[int, ...], ...]  # of each item, the items of the layer above that it is linked to
    below: tuple[tuple[int, ...], ...]  # of each item, those of the layer below
    strands: tuple[int, ...]  # of each item, how many edges run between it and one item above
    bends: dict[tuple[int, int], tuple[int, ...]]
    """Of each pair of items that edges join across several layers, the bends between them from the top down."""
    item_of: dict[ClassId, int]  # of each class, its item

    @property
    def count(self) -> int:
        """Number of layers."""
        return max(self.tier, default=-1) + 1


def tiers_of(shown: ShownGraph) -> Tiers:
    """Put classes into layers, each one below all its parents, and leaves of the same parents into blocks."""
    order = [each.class_id for each in shown.classes]
    parents: dict[ClassId, list[ClassId]] = {each: [] for each in order}
    children: dict[ClassId, list[ClassId]] = {each: [] for each in order}
    for parent, child in shown.edges:
        parents[child].append(parent)
        children[parent].append(child)
    groups: dict[ItemKey, list[ClassId]] = {}
    for each in order:
        # A leaf stands with those of its parents; what has children stands alone.
        groups.setdefault((each,) if children[each] else (0, *sorted(parents[each])), []).append(each)
    return _with_bends(groups, parents, _depths(order, parents, children))


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
    groups: dict[ItemKey, list[ClassId]], parents: dict[ClassId, list[ClassId]], depths: dict[ClassId, int]
) -> Tiers:
    keys, members = list(groups), [tuple(group) for group in groups.values()]
    item_of = {each: item for item, group in enumerate(members) for each in group}
    tier = [depths[group[0]] for group in members]
    links: list[tuple[int, int, int]] = []
    bends: dict[tuple[int, int], tuple[int, ...]] = {}
    for child, group in enumerate(tuple(members)):
        for parent_class in parents[group[0]]:
            parent = item_of[parent_class]
            between = range(tier[parent] + 1, tier[child])
            if between:
                bends[parent, child] = tuple(range(len(members), len(members) + len(between)))
                keys += [(-number, parent_class, *keys[child]) for number in range(1, len(between) + 1)]
                members += [()] * len(between)
                tier += between
            links += _chain((parent, *bends.get((parent, child), ()), child), len(group))
    above, below, strands = _joined(len(members), links)
    return Tiers(tuple(keys), tuple(members), tuple(tier), above, below, strands, bends, item_of)


def _joined(
    count: int, links: list[tuple[int, int, int]]
) -> tuple[tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...], tuple[int, ...]]:
    """Of each item: those above, those below, and how many edges a link upwards stands for."""
    above: list[list[int]] = [[] for _ in range(count)]
    below: list[list[int]] = [[] for _ in range(count)]
    strands = [1] * count
    for upper, lower, edges in links:
        above[lower].append(upper)
        below[upper].append(lower)
        strands[lower] = edges
    return tuple(map(tuple, above)), tuple(map(tuple, below)), tuple(strands)


def _chain(way: tuple[int, ...], count: int) -> Iterator[tuple[int, int, int]]:
    return ((upper, lower, count) for upper, lower in pairwise(way))
