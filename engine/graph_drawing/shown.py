"""Which classes of a graph are drawn, by open branches or around one class, and in which layers.

A layer has single cards, blocks of leaves under the same parents, and bends of edges that pass
through.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from engine.graph.category_graph import CategoryGraph, ClassId

MOST_AT_FIRST = 120
"""Classes that a graph is first drawn with, at most: names on about one screen can be read."""


RINGS = 2  # edges around a class in focus within which classes are drawn
Edge = tuple[ClassId, ClassId]  # (parent, child)

ItemKey = tuple[int, ...]
"""Identity of an item across drawings: (class) of a card, (0, parents...) of a block, and of a bend
its number from the top, negative, its parent, and the key of what its edge leads to."""


@dataclass(frozen=True)
class ShownClass:
    """A class that is drawn."""

    class_id: ClassId
    hidden: int  # of a collapsed branch: distinct classes below it that are not drawn; else 0
    distance: int | None  # edges between it and the class in focus; `None` without a focus


@dataclass(frozen=True)
class ShownGraph:
    """What is drawn of a graph."""

    classes: tuple[ShownClass, ...]
    """In tree order: each class before its descendants, siblings by name."""
    # Every edge of the graph between two of these classes, by child in their order
    edges: tuple[Edge, ...]


def shown_graph(
    graph: CategoryGraph,
    opened: frozenset[ClassId],
    *,
    focus: ClassId | None = None,
    is_counted: bool = True,
) -> ShownGraph:
    """The classes and edges that are drawn; without a focus every root is among them.

    Args:
        opened: the open branches: classes whose children are drawn where they are drawn themselves.
            Ids that are not in the graph, or have no children, are ignored.
        focus: with a class in focus only what is within `RINGS` edges of it is drawn: upwards all,
            downwards all that is below it, and from others only where they are open.
        is_counted: whether the classes below closed branches are counted, which takes time in a
            large graph.

    Raises:
        UnknownClassError: the class in focus is not in the graph.
    """
    distances = _open_part(graph, opened) if focus is None else _around(graph, opened, focus)
    in_order = _tree_order(graph, distances)
    classes = tuple(
        ShownClass(
            each,
            _hidden_below(graph, each, distances) if is_counted else 0,
            None if focus is None else distances[each],
        )
        for each in in_order
    )
    edges = tuple(
        (parent, each) for each in in_order for parent in graph.parents(each) if parent in distances
    )
    return ShownGraph(classes, edges)


def first_opened(
    graph: CategoryGraph,
    most: int = MOST_AT_FIRST,
    fits: Callable[[frozenset[ClassId]], bool] = lambda _opened: True,
) -> frozenset[ClassId]:
    """The branches to open when a graph is first drawn: level by level, small ones first.

    A branch stays closed where more than `most` classes would be drawn with it, or where it does
    not fit; a lone root is always open.

    Args:
        fits: whether there is room for what some open branches show.
    """
    shown, opened = set(graph.roots()), frozenset[ClassId]()
    closed = [each for each in graph.roots() if graph.children(each)]
    while closed:
        below: list[ClassId] = []
        for each in sorted(closed, key=lambda each: len(graph.children(each))):
            more = [child for child in graph.children(each) if child not in shown]
            is_crowded = len(shown) > 1 and len(shown) + len(more) > most
            if is_crowded or (len(shown) > 1 and not fits(opened | {each})):
                continue
            shown.update(more)
            opened |= {each}
            below += [child for child in more if graph.children(child)]
        closed = below
    return opened


def opened_to(
    graph: CategoryGraph, opened: frozenset[ClassId], class_id: ClassId
) -> frozenset[ClassId]:
    """The open branches with as few more as it takes until a class is drawn.

    Raises:
        UnknownClassError: there is no such class.
    """
    below: dict[ClassId, ClassId | None] = {class_id: None}
    waiting = deque([class_id])
    while waiting:
        current = waiting.popleft()
        above = graph.parents(current)
        if not above:
            return opened | set(_way_down(below, current))
        for parent in above:
            if parent not in below:
                below[parent] = current
                # Through open branches at no cost, so they come first.
                (waiting.appendleft if parent in opened else waiting.append)(parent)
    raise AssertionError("every class is below a root")


def _way_down(below: dict[ClassId, ClassId | None], top: ClassId) -> list[ClassId]:
    """The classes from a root down to the parent of the wanted class."""
    way: list[ClassId] = []
    current = top
    while (following := below[current]) is not None:
        way.append(current)
        current = following
    return way


def _open_part(graph: CategoryGraph, opened: frozenset[ClassId]) -> dict[ClassId, int]:
    """What open branches show; the numbers are their distances from a root."""
    distances = dict.fromkeys(graph.roots(), 0)
    waiting = deque(distances)
    while waiting:
        current = waiting.popleft()
        for child in graph.children(current) if current in opened else ():
            if child not in distances:
                distances[child] = distances[current] + 1
                waiting.append(child)
    return distances


def _around(graph: CategoryGraph, opened: frozenset[ClassId], focus: ClassId) -> dict[ClassId, int]:
    open_here = graph.descendants(focus) | {focus} | opened
    distances = {focus: 0}
    waiting = deque([focus])
    while waiting:
        current = waiting.popleft()
        if distances[current] == RINGS:
            continue
        for near in (
            *graph.parents(current),
            *(graph.children(current) if current in open_here else ()),
        ):
            if near not in distances:
                distances[near] = distances[current] + 1
                waiting.append(near)
    return distances


def _tree_order(graph: CategoryGraph, shown: dict[ClassId, int]) -> list[ClassId]:
    """The drawn classes as a tree lists them, each once: where it comes first."""
    tops = [each for each in shown if not any(parent in shown for parent in graph.parents(each))]
    if len(tops) > 1:
        place = {each: number for number, each in enumerate(graph.roots())}
        tops.sort(key=lambda each: (place.get(each, len(place)), each))
    in_order: dict[ClassId, None] = {}
    waiting = tops[::-1]
    while waiting:
        current = waiting.pop()
        if current not in in_order:
            in_order[current] = None
            waiting += [child for child in reversed(graph.children(current)) if child in shown]
    return list(in_order)


def _hidden_below(graph: CategoryGraph, class_id: ClassId, shown: dict[ClassId, int]) -> int:
    children = graph.children(class_id)
    if all(child in shown for child in children):
        return 0
    return sum(each not in shown for each in graph.descendants(class_id))


@dataclass(frozen=True)
class Tiers:
    """A layered drawing without positions: items in layers, and links between adjacent layers."""

    keys: tuple[ItemKey, ...]  # of each item
    members: tuple[tuple[ClassId, ...], ...]
    """Of each item, its classes: one for a card, several for a block, none for a bend."""
    tier: tuple[int, ...]  # of each item, its layer, 0 at the top
    # Of each item, the items of the layer above that it is linked to
    above: tuple[tuple[int, ...], ...]
    below: tuple[tuple[int, ...], ...]  # of each item, those of the layer below
    strands: tuple[int, ...]  # of each item, how many edges run between it and one item above
    bends: dict[tuple[int, int], tuple[int, ...]]
    """Bends, from the top down, of each pair of items that edges join across several layers."""
    item_of: dict[ClassId, int]  # of each class, its item

    @property
    def count(self) -> int:
        """Number of layers."""
        return max(self.tier, default=-1) + 1


def tiers_of(shown: ShownGraph) -> Tiers:
    """Assign classes to layers below all their parents, and group leaves of the same parents."""
    order = [each.class_id for each in shown.classes]
    parents: dict[ClassId, list[ClassId]] = {each: [] for each in order}
    children: dict[ClassId, list[ClassId]] = {each: [] for each in order}
    for parent, child in shown.edges:
        parents[child].append(parent)
        children[parent].append(child)
    groups: dict[ItemKey, list[ClassId]] = {}
    for each in order:
        # A leaf is grouped with those of its parents; a class with children is a card of its own.
        groups.setdefault((each,) if children[each] else (0, *sorted(parents[each])), []).append(
            each
        )
    return _with_bends(groups, parents, _depths(order, parents, children))


def _depths(
    order: Sequence[ClassId],
    parents: dict[ClassId, list[ClassId]],
    children: dict[ClassId, list[ClassId]],
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
    groups: dict[ItemKey, list[ClassId]],
    parents: dict[ClassId, list[ClassId]],
    depths: dict[ClassId, int],
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
                keys += [
                    (-number, parent_class, *keys[child]) for number in range(1, len(between) + 1)
                ]
                members += [()] * len(between)
                tier += between
            way = (parent, *bends.get((parent, child), ()), child)
            links += [(upper, lower, len(group)) for upper, lower in pairwise(way)]
    above, below, strands = _joined(len(members), links)
    return Tiers(tuple(keys), tuple(members), tuple(tier), above, below, strands, bends, item_of)


def _joined(
    count: int, links: list[tuple[int, int, int]]
) -> tuple[tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...], tuple[int, ...]]:
    """Of each item: those above, those below, and how many edges an upward link represents."""
    above: list[list[int]] = [[] for _ in range(count)]
    below: list[list[int]] = [[] for _ in range(count)]
    strands = [1] * count
    for upper, lower, edges in links:
        above[lower].append(upper)
        below[upper].append(lower)
        strands[lower] = edges
    return tuple(map(tuple, above)), tuple(map(tuple, below)), tuple(strands)
