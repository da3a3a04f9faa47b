"""Whether classes can go to a place: checked while a person still drags them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING

from engine.graph.traversal import shortest_way

if TYPE_CHECKING:
    from engine.graph.category_graph import CategoryGraph, ClassId

    Place = tuple[ClassId, ClassId | None]
    """A class, and the parent that it is taken from; None for the top level."""


class Obstacle(Enum):
    """Why classes cannot go to a place."""

    NOTHING_TO_DO = auto()
    CYCLE = auto()
    ALREADY_THERE = auto()
    NAME_TAKEN = auto()
    OTHER_PARENTS = auto()


@dataclass(frozen=True)
class Refusal:
    """Why classes cannot go under a parent."""

    obstacle: Obstacle  # what is in the way
    class_id: ClassId  # the class that it is in the way of
    # Of a cycle: from the class down to the parent, both included; else empty
    path: tuple[ClassId, ...] = ()


def placement_refusal(
    graph: CategoryGraph, places: Sequence[Place], to_parent: ClassId | None, *, is_link: bool
) -> Refusal | None:
    """Check whether classes can go under a parent: the obstacle, or None.

    `engine.graph.group_edits` makes the edits.

    Args:
        places: those that are to go, at least one.
        to_parent: where; None for the top level.
        is_link: whether they stay where they are as well. At the top level nothing is linked.
    """
    is_move = not is_link or to_parent is None
    moving = [
        (class_id, parent) for class_id, parent in places if not (is_move and parent == to_parent)
    ]
    if not moving or to_parent in {class_id for class_id, _parent in places}:
        return Refusal(Obstacle.NOTHING_TO_DO, places[0][0])
    going = tuple(dict.fromkeys(class_id for class_id, _parent in moving))
    if to_parent is None:
        return _among_roots(graph, going, places) or _namesake(graph, going, None)
    there = set(graph.children(to_parent))
    if is_link and there.issuperset(going):
        return Refusal(Obstacle.ALREADY_THERE, going[0])
    new = [class_id for class_id in going if class_id not in there]
    return _under_itself(graph, new, to_parent) or _namesake(graph, new, to_parent)


def _under_itself(
    graph: CategoryGraph, going: Sequence[ClassId], to_parent: ClassId
) -> Refusal | None:
    for class_id in going:
        # Looking upwards: ancestors are few where descendants may be the whole graph.
        if graph.children(class_id) and (way := shortest_way(graph.parents, to_parent, class_id)):
            return Refusal(Obstacle.CYCLE, class_id, way[::-1])
    return None


def _among_roots(
    graph: CategoryGraph, going: Sequence[ClassId], places: Sequence[Place]
) -> Refusal | None:
    """A class leaves for the top level with all its parents, or not at all."""
    left = Counter(class_id for class_id, _parent in dict.fromkeys(places))
    more = (class_id for class_id in going if len(graph.parents(class_id)) > left[class_id])
    return next((Refusal(Obstacle.OTHER_PARENTS, class_id) for class_id in more), None)


def _namesake(
    graph: CategoryGraph, going: Sequence[ClassId], to_parent: ClassId | None
) -> Refusal | None:
    """A class of that name is there already, or comes along."""
    names: set[str] = set()
    for class_id in going:
        name = graph.name(class_id)
        there = graph.child_named(to_parent, name)
        if name in names or there not in (None, class_id):
            return Refusal(Obstacle.NAME_TAKEN, class_id)
        names.add(name)
    return None
