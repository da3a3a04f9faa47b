"""The order of each layer from left to right, in a new drawing or one that follows another."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise
from math import comb

from fast_sugiyama import from_edges

from engine.graph.category_graph import ClassId
from engine.graph_drawing.shown import Edge, ItemKey, Tiers

Rows = Sequence[Sequence[int]]  # the items of each layer from left to right
MOST_SWEEPS = 12
"""Ways down or up over all layers; the best order is found within the first few."""
VAIN_SWEEPS = 4  # so many without any gain are the last
MOST_PASSES = 20
"""Passes in which neighbours change places; each but the last makes fewer edges cross."""
MOST_LINKS = 1000
"""Links that the library orders, at most: what takes it a tenth of a second."""

Edges = Collection[Edge]  # (parent, child) of what is drawn


def count_crossings(tiers: Tiers, rows: Rows) -> int:
    """Count the pairs of crossing edges for this order of items, including those into one block."""
    inside = sum(
        comb(len(members), 2) * comb(len(above), 2)
        for members, above in zip(tiers.members, tiers.above, strict=True)
    )
    return crossings_between(tiers, rows) + inside


def crossings_between(tiers: Tiers, rows: Rows) -> int:
    """The same without those into one block, which do not depend on the order."""
    return sum(_between(tiers, upper, lower) for upper, lower in pairwise(rows))


def _between(tiers: Tiers, upper: Sequence[int], lower: Sequence[int]) -> int:
    """Inversions between two layers, weighted by the edges of a link, by a Fenwick tree."""
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


def untangled(tiers: Tiers, rows: Rows) -> list[list[int]]:
    """Reorder layers by barycentres and switches until no more edges uncross."""
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
    """Swap neighbours while that removes crossings, except for items that `keep` their order."""
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
    above = (
        tiers.strands[left]
        * tiers.strands[right]
        * _inverted(tiers.above[left], tiers.above[right], place)
    )
    if not (tiers.below[left] and tiers.below[right]):
        return above
    below = sum(
        tiers.strands[one]
        * tiers.strands[other]
        * ((place[one] > place[other]) - (place[one] < place[other]))
        for one in tiers.below[left]
        for other in tiers.below[right]
    )
    return above + below


def _inverted(lefts: Sequence[int], rights: Sequence[int], place: dict[int, int]) -> int:
    return sum(
        (place[one] > place[other]) - (place[one] < place[other])
        for one in lefts
        for other in rights
    )


def _towards_means(tiers: Tiers, rows: Rows, *, downwards: bool) -> list[list[int]]:
    """Sort each layer by the mean position of linked items; those without links stay."""
    sweeping = [list(row) for row in rows]
    place = {item: number for row in rows for number, item in enumerate(row)}
    near = tiers.above if downwards else tiers.below
    for tier in range(1, len(rows)) if downwards else range(len(rows) - 2, -1, -1):
        row = sweeping[tier]
        means = {
            item: sum(place[each] for each in near[item]) / len(near[item])
            for item in row
            if near[item]
        }
        in_order = iter(sorted(means, key=means.__getitem__))
        sweeping[tier] = [next(in_order) if item in means else item for item in row]
        place.update((item, number) for number, item in enumerate(sweeping[tier]))
    return sweeping


def fresh_order(tiers: Tiers) -> list[list[int]]:
    """Order the layers of a new drawing: as listed, which is without a crossing for trees.

    Else the better of that order and the library's, both untangled.
    """
    listed = order_as_listed(tiers)
    if not crossings_between(tiers, listed):
        return listed
    candidates = [untangled(tiers, listed)]
    if sum(map(len, tiers.above)) <= MOST_LINKS:
        candidates.append(untangled(tiers, order_by_library(tiers)))
    return min(candidates, key=lambda rows: crossings_between(tiers, rows))


def order_as_listed(tiers: Tiers) -> list[list[int]]:
    """Items in depth-first order; blocks come after their sibling cards."""
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
    """The order by fast-sugiyama: barycentres and transposing, for each connected part."""
    links = [(parent, item) for item, above in enumerate(tiers.above) for parent in above]
    alone = [
        [item] for item, above in enumerate(tiers.above) if not above and not tiers.below[item]
    ]
    laid = [
        [(int(item), float(x)) for item, (x, _y) in placed]
        for placed, *_ in (from_edges(links) if links else ())
    ]
    across = {item: x for part in laid for item, x in part}
    parts = [[item for item, _x in part] for part in laid]
    rows: list[list[int]] = [[] for _ in range(tiers.count)]
    for part in sorted([*parts, *alone], key=min):
        for item in sorted(part, key=lambda each: (across.get(each, 0.0), each)):
            rows[tiers.tier[item]].append(item)
    return rows


def kept_order(
    tiers: Tiers, edges: Edges, previous_x: Mapping[ItemKey, float], former_edges: Edges
) -> list[list[int]]:
    """Order the layers as in the previous drawing; new or moved items go among their siblings.

    Args:
        edges: what is drawn now.
        stood: horizontal position of items in the previous drawing.
        former_edges: what was drawn then.
    """
    listed = order_as_listed(tiers)
    stays = _staying(tiers, listed, previous_x, _Parents(edges, former_edges))
    rows: list[list[int]] = []
    for row in listed:
        kept = sorted((item for item in row if item in stays), key=stays.__getitem__)
        rows.append(_with_new(tiers, row, kept, rows[-1] if rows else ()))
    return switched(tiers, rows, stays.keys())


class _Parents:
    """Who was whose parent, and who is."""

    def __init__(self, edges: Edges, former_edges: Edges) -> None:
        self._now = _by_child(edges)
        self._then = _by_child(former_edges)
        self._present = {class_id for edge in edges for class_id in edge}

    def has_lost_all(self, child: ClassId) -> bool:
        """Whether no parent that a class had is drawn any more; so it is for a root."""
        return self._present.isdisjoint(self._then.get(child, ()))

    def is_kept(self, parent: ClassId, child: ClassId) -> bool:
        """Whether a class had this parent, or has come between it and one that it had."""
        then = self._then.get(child, set())
        return parent in then or not then.isdisjoint(self._now.get(parent, ()))

    def handed_down(self, parent: ClassId, child: ClassId) -> bool:
        """Whether a new class has taken a child over from one of its own parents."""
        return not self._now.get(parent, set()).isdisjoint(self._then.get(child, ()))


def _by_child(edges: Edges) -> dict[ClassId, set[ClassId]]:
    parents: dict[ClassId, set[ClassId]] = {}
    for parent, child in edges:
        parents.setdefault(child, set()).add(parent)
    return parents


def _staying(
    tiers: Tiers,
    rows: Iterable[Sequence[int]],
    previous_x: Mapping[ItemKey, float],
    parents: _Parents,
) -> dict[int, float]:
    """Items that keep their order, with positions, top down, as all below a moved one moves."""
    stays: dict[int, float] = {}
    for item in (item for row in rows for item in row):
        place = previous_x.get(tiers.keys[item])
        if place is None:
            place = _taken_over(tiers, item, previous_x, parents)
        if place is not None and _stays(tiers, item, stays, parents):
            stays[item] = place
    return stays


def _taken_over(
    tiers: Tiers, item: int, previous_x: Mapping[ItemKey, float], parents: _Parents
) -> float | None:
    """Position of a class inserted between others: the mean of the children it took."""
    if not tiers.members[item] or not tiers.below[item]:
        return None
    new = tiers.members[item][0]
    taken = [
        each for each in tiers.below[item] if tiers.members[each] and tiers.keys[each] in previous_x
    ]
    places = [
        previous_x[tiers.keys[each]]
        for each in taken
        if parents.handed_down(new, tiers.members[each][0])
    ]
    return sum(places) / len(places) if places else None


def _stays(tiers: Tiers, item: int, stays: Mapping[int, float], parents: _Parents) -> bool:
    above, own = tiers.above[item], tiers.members[item][:1]
    if not above:
        return parents.has_lost_all(own[0])
    for parent in (each for each in above if each in stays):
        if not (own and tiers.members[parent]):
            return True  # a bend's key names its edge, so the edge was there before
        if parents.is_kept(tiers.members[parent][0], own[0]) or parents.has_lost_all(own[0]):
            return True
    return False


def _with_new(
    tiers: Tiers, listed: Sequence[int], kept: list[int], upper: Sequence[int]
) -> list[int]:
    """Put the items of a layer that do not stay among those that do."""
    row, present = kept, set(kept)
    above = {item: number for number, item in enumerate(upper)}
    means = [_mean_place(tiers, item, above) for item in row]
    families: dict[int | None, list[int]] = {}
    for item in listed:
        families.setdefault(next(iter(tiers.above[item]), None), []).append(item)
    for siblings in families.values():
        in_order = as_listed(tiers, siblings)
        for at, item in enumerate(in_order):
            if item in present:
                continue
            mean = _mean_place(tiers, item, above)
            right = next((each for each in in_order if each in present), None)
            if at:  # all before it are there already
                place = row.index(in_order[at - 1]) + 1
            elif right is not None:
                place = row.index(right)
            else:  # below its parents: before the first whose parents are further right
                place = next((number for number, each in enumerate(means) if each > mean), len(row))
            row.insert(place, item)
            means.insert(place, mean)
            present.add(item)
    return row


def _mean_place(tiers: Tiers, item: int, above: Mapping[int, int]) -> float:
    places = [above[parent] for parent in tiers.above[item]]
    return sum(places) / len(places) if places else -1.0
