"""Which classes of a graph are drawn: those whose branches are open, or those around one class."""

from collections import deque
from dataclasses import dataclass
from typing import Final

from engine.graph.category_graph import CategoryGraph, ClassId

MOST_AT_FIRST: Final = 120
"""Classes that a graph is first drawn with, at most: about what fits a screen with names that can be read."""


Edge = tuple[ClassId, ClassId]
"""(parent, child)."""


@dataclass(frozen=True)
class ShownClass:
    """A class that is drawn."""

    class_id: ClassId
    hidden: int  # of a closed branch, drawn as one card: distinct classes below it that are not drawn; else 0
    distance: int | None  # edges between it and the class in focus; `None` without a focus


@dataclass(frozen=True)
class ShownGraph:
    """What is drawn of a graph."""

    classes: tuple[ShownClass, ...]
    """In the order of the tree: each class before what lies below it, siblings in natural order of names."""
    edges: tuple[Edge, ...]
    """(parent, child), every edge of the graph between two of these classes, by child in their order."""


def shown_graph(
    graph: CategoryGraph, opened: frozenset[ClassId], *, focus: ClassId | None = None, rings: int = 2
) -> ShownGraph:
    """The classes and edges that are drawn; without a focus every root is among them.

    Args:
        opened: the open branches: classes whose children are drawn where they are drawn themselves. Ids that are not
            in the graph, or have no children, are ignored.
        focus: with a class in focus only what lies within `rings` edges of it is drawn: upwards all, downwards all that
            is below it, and from others only where they are open.

    Raises:
        UnknownClassError: the class in focus is not in the graph.
    """
    distances = _open_part(graph, opened) if focus is None else _around(graph, opened, focus, rings)
    in_order = _tree_order(graph, distances)
    classes = tuple(
        ShownClass(each, _hidden_below(graph, each, distances), None if focus is None else distances[each])
        for each in in_order
    )
    edges = tuple((parent, each) for each in in_order for parent in graph.parents(each) if parent in distances)
    return ShownGraph(classes, edges)


def first_opened(graph: CategoryGraph, most: int = MOST_AT_FIRST) -> frozenset[ClassId]:
    """The branches to open when a graph is first drawn: level by level while at most `most` classes are drawn.

    More roots than that stand closed; a lone root is always open.
    """
    shown = set(graph.roots())
    opened: set[ClassId] = set()
    edge_of_shown = [each for each in graph.roots() if graph.children(each)]
    while edge_of_shown:
        below = {child for each in edge_of_shown for child in graph.children(each)} - shown
        if len(shown) + len(below) > most and len(shown) > 1:
            break
        shown |= below
        opened.update(edge_of_shown)
        edge_of_shown = [each for each in below if graph.children(each)]
    return frozenset(opened)


def opened_to(graph: CategoryGraph, opened: frozenset[ClassId], class_id: ClassId) -> frozenset[ClassId]:
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
    raise AssertionError("every class lies below a root")


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


def _around(graph: CategoryGraph, opened: frozenset[ClassId], focus: ClassId, rings: int) -> dict[ClassId, int]:
    open_here = graph.descendants(focus) | {focus} | opened
    distances = {focus: 0}
    waiting = deque([focus])
    while waiting:
        current = waiting.popleft()
        if distances[current] == rings:
            continue
        for near in (*graph.parents(current), *(graph.children(current) if current in open_here else ())):
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
