"""Walks along the edges of a graph, given only its neighbour function."""

from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import accumulate, islice
from typing import TypeVar

from engine.graph.limits import MOST_PATHS, MOST_STEPS

Node = TypeVar("Node", bound=Hashable)


def reachable(neighbours: Callable[[Node], Iterable[Node]], *starts: Node) -> set[Node]:
    """Everything that edges lead to, the starts left out unless an edge leads there."""
    found: set[Node] = set()
    waiting = list(starts)
    while waiting:
        for neighbour in neighbours(waiting.pop()):
            if neighbour not in found:
                found.add(neighbour)
                waiting.append(neighbour)
    return found


def shortest_way(
    neighbours: Callable[[Node], Iterable[Node]], start: Node, end: Node
) -> tuple[Node, ...]:
    """A shortest path with both ends, the first by the order of `neighbours`; or empty."""
    came_from: dict[Node, Node] = {start: start}
    for reached in (waiting := [start]):  # grows while it is walked
        if reached == end:
            break
        for neighbour in neighbours(reached):
            if neighbour not in came_from:
                came_from[neighbour] = reached
                waiting.append(neighbour)
    else:
        return ()
    way = [end]
    while way[-1] != start:
        way.append(came_from[way[-1]])
    return tuple(reversed(way))


def longest_way(neighbours: Callable[[Node], Iterable[Node]], start: Node) -> int:
    """Edges on the longest path from a class; there must be no cycle."""
    length, reached = 0, {start}
    while reached := {neighbour for each in reached for neighbour in neighbours(each)}:
        length += 1
    return length


def ancestor_at_level(
    parents: Callable[[int], Sequence[int]],
    level_of: Callable[[int], int],
    class_id: int,
    level: int,
) -> int:
    """The ancestor of a class at a level, by first parents; or the class itself."""
    while level_of(class_id) > level:
        class_id = parents(class_id)[0]
    return class_id


def first_paths(
    parents: Callable[[int], Sequence[int]], class_id: int
) -> tuple[tuple[int, ...], ...]:
    """The first of `root_paths`: at least one, at most `MOST_PATHS` with `MOST_STEPS` classes."""
    found = tuple(islice(root_paths(parents, class_id), MOST_PATHS))
    return found[: max(1, bisect_right([*accumulate(map(len, found))], MOST_STEPS))]


def root_paths(parents: Callable[[int], Sequence[int]], class_id: int) -> Iterator[tuple[int, ...]]:
    """Generate all paths from a root to a class: a dense graph has astronomically many."""
    path, others = [class_id], [iter(parents(class_id))]
    if not parents(class_id):
        yield (class_id,)
    while path:
        above = next(others[-1], None)
        if above is None:
            path.pop()
            others.pop()
            continue
        path.append(above)
        others.append(iter(parents(above)))
        if not parents(above):
            yield tuple(reversed(path))
