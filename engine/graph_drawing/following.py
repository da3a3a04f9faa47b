"""The order of each layer in a drawing that follows another: what was there stays, the new goes among its siblings."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from engine.graph.category_graph import ClassId
from engine.graph_drawing.ordering import as_listed, order_as_listed
from engine.graph_drawing.tiers import ItemKey, Tiers
from engine.graph_drawing.untangling import switched

Edges = Collection[tuple[ClassId, ClassId]]
"""(parent, child) of what is drawn."""


def kept_order(tiers: Tiers, edges: Edges, stood: Mapping[ItemKey, float], former_edges: Edges) -> list[list[int]]:
    """Order the layers as in the drawing before; what is new, or went to another parent, is put among its siblings.

    Args:
        tiers: what is drawn.
        edges: what is drawn now.
        stood: where items stood across, in the drawing before.
        former_edges: what was drawn then.

    Returns:
        The items of each layer from left to right.
    """
    listed = order_as_listed(tiers)
    stays = _staying(tiers, listed, stood, _Parents(edges, former_edges))
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
    tiers: Tiers, rows: Iterable[Sequence[int]], stood: Mapping[ItemKey, float], parents: _Parents
) -> dict[int, float]:
    """Items that keep their place in the order, and where that is; from above, since all below what moves moves too."""
    stays: dict[int, float] = {}
    for item in (item for row in rows for item in row):
        place = stood.get(tiers.keys[item])
        if place is None:
            place = _taken_over(tiers, item, stood, parents)
        if place is not None and _stays(tiers, item, stays, parents):
            stays[item] = place
    return stays


def _taken_over(tiers: Tiers, item: int, stood: Mapping[ItemKey, float], parents: _Parents) -> float | None:
    """Where a class that has come between others stands: above those that it took over."""
    if not tiers.members[item] or not tiers.below[item]:
        return None
    new = tiers.members[item][0]
    taken = [each for each in tiers.below[item] if tiers.members[each] and tiers.keys[each] in stood]
    places = [stood[tiers.keys[each]] for each in taken if parents.handed_down(new, tiers.members[each][0])]
    return sum(places) / len(places) if places else None


def _stays(tiers: Tiers, item: int, stays: Mapping[int, float], parents: _Parents) -> bool:
    above, own = tiers.above[item], tiers.members[item][:1]
    if not above:
        return parents.has_lost_all(own[0])
    for parent in (each for each in above if each in stays):
        if not (own and tiers.members[parent]):
            return True  # a bend's key names its edge: that it stood somewhere says that the edge was there
        if parents.is_kept(tiers.members[parent][0], own[0]) or parents.has_lost_all(own[0]):
            return True
    return False


def _with_new(tiers: Tiers, listed: Sequence[int], kept: list[int], upper: Sequence[int]) -> list[int]:
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
            else:  # below its parents: before the first whose parents stand further to the right
                place = next((number for number, each in enumerate(means) if each > mean), len(row))
            row.insert(place, item)
            means.insert(place, mean)
            present.add(item)
    return row


def _mean_place(tiers: Tiers, item: int, above: Mapping[int, int]) -> float:
    places = [above[parent] for parent in tiers.above[item]]
    return sum(places) / len(places) if places else -1.0
