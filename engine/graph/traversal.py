"""Walks along the edges of a graph, given only its neighbour function."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)


def reachable(neighbours: Callable[[Node], Iterable[Node]], start: Node) -> set[Node]:
    """Everything that edges lead to from `start`, itself left out.

    Args:
        neighbours: where one edge leads.
        start: the class to begin at, by id or key.

    Returns:
        Classes, each once however many ways lead there.
    """
    found: set[Node] = set()
    waiting = [start]
    while waiting:
        for neighbour in neighbours(waiting.pop()):
            if neighbour not in found:
                found.add(neighbour)
                waiting.append(neighbour)
    return found


def root_paths(parents: Callable[[int], Sequence[int]], class_id: int) -> Iterator[tuple[int, ...]]:
    """All ways from a root down to a class, made one at a time: a dense graph has astronomically many.

    Args:
        parents: parents of a class, in the order in which they are to be followed.
        class_id: the class at the end of each path.

    Yields:
        Class ids from a root to `class_id`, both included.
    """
    waiting: list[tuple[int, ...]] = [(class_id,)]
    while waiting:
        path = waiting.pop()
        above = parents(path[0])
        if not above:
            yield path
        waiting.extend((parent, *path) for parent in reversed(above))
