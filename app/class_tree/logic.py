"""What the class tree shows, without Qt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from app.texts import short_path
from engine.graph.edits import ClassAdded, ClassRemoved, ClassRenamed, EdgeAdded, EdgeRemoved, GraphEdit

if TYPE_CHECKING:  # the window shows first
    from engine.graph.category_graph import CategoryGraph, ClassId

OTHER_PARENTS_NAMED: Final = 3


def classes_with_shots(graph: CategoryGraph, shot_counts: Mapping[ClassId, int]) -> frozenset[ClassId]:
    """Classes that have a shot of their own or below them; all others only know what their ancestors propagate."""
    waiting = [class_id for class_id, count in shot_counts.items() if count and class_id in graph]
    reached = set(waiting)
    while waiting:
        for parent_id in graph.parents(waiting.pop()):
            if parent_id not in reached:
                reached.add(parent_id)
                waiting.append(parent_id)
    return frozenset(reached)


def other_parents(graph: CategoryGraph, class_id: ClassId, parent_id: ClassId | None) -> str:
    """Names of the parents that a class also stands under, as paths; empty when this is its only place."""
    others = [other for other in graph.parents(class_id) if other != parent_id]
    named = ", ".join(short_path(map(graph.name, graph.paths(other)[0])) for other in others[:OTHER_PARENTS_NAMED])
    more = len(others) - OTHER_PARENTS_NAMED
    return f"{named} +{more}" if more > 0 else named


@dataclass(frozen=True)
class TouchedClasses:
    """What edits mean for a tree."""

    parents: frozenset[ClassId]  # classes whose list of children may differ now
    looks: frozenset[ClassId]  # classes whose row may look different
    roots: frozenset[ClassId]  # classes that may have become a root, or ceased to be one


def touched_by(graph: CategoryGraph, edits: Iterable[GraphEdit]) -> TouchedClasses:
    """Which rows of a tree edits may change; the graph is already as it is after them."""
    parents: set[ClassId] = set()
    looks: set[ClassId] = set()
    roots: set[ClassId] = set()
    for edit in edits:
        if isinstance(edit, ClassAdded | ClassRemoved):
            roots.add(edit.class_id)
        elif isinstance(edit, ClassRenamed):
            looks.add(edit.class_id)
            if edit.class_id in graph:  # it may stand elsewhere among its siblings now
                parents.update(graph.parents(edit.class_id))
                roots.add(edit.class_id)
        elif isinstance(edit, EdgeAdded | EdgeRemoved):
            parents.add(edit.parent_id)
            looks.update((edit.parent_id, edit.child_id))
            roots.add(edit.child_id)
    return TouchedClasses(frozenset(parents), frozenset(looks), frozenset(roots))
