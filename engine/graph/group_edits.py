"""Edits of several classes at once, and the limits that every edit of a project is checked against.

Where one of several edits is refused, `CategoryGraph.record` takes the others back. Besides the
errors that are listed, each raises those of the edits of `CategoryGraph` that it is made of.
"""

from collections.abc import Iterable, Sequence

from engine.errors import GraphError
from engine.graph.category_graph import CategoryGraph, ClassId
from engine.graph.edits import ClassAdded, EdgeAdded, GraphEdit, inverse
from engine.graph.limits import DEEPEST_LEVEL, LONGEST_NAME, MOST_CLASSES
from engine.graph.traversal import longest_way

Move = tuple[ClassId, ClassId | None]
"""A class, and the parent that it is taken from; None for the top level."""

Edge = tuple[ClassId, ClassId]  # parent and child
FEW = 32
"""New edges up to which each is looked at by itself: the levels of all classes take longer."""


def add_parent(
    graph: CategoryGraph, name: str, child_ids: Sequence[ClassId], from_parent: ClassId | None
) -> ClassId:
    """Insert a class between a parent and some of its children, and return its id; None: top level.

    Raises:
        GraphError: a child is not under that parent, or there are none.
    """
    check_some(child_ids)
    new_id = graph.add_class(name, () if from_parent is None else (from_parent,))
    for child_id in dict.fromkeys(child_ids):
        graph.move(child_id, from_parent, new_id)
    return new_id


def move_classes(graph: CategoryGraph, moves: Sequence[Move], to_parent: ClassId | None) -> None:
    """Move classes, each from one of its parents, to another parent; None is the top level.

    A class that is there already is only taken from where it was. One that goes to the top level
    must be taken from all of its parents.
    """
    distinct = list(dict.fromkeys(moves))
    last_cut = dict(distinct)
    for class_id, from_parent in distinct:
        is_there = to_parent is not None and to_parent in graph.parents(class_id)
        goes_up_later = to_parent is None and last_cut[class_id] != from_parent
        if from_parent is not None and (is_there or goes_up_later):
            if from_parent != to_parent:
                graph.unlink(from_parent, class_id)
        elif not is_there:
            graph.move(class_id, from_parent, to_parent)


def link_classes(graph: CategoryGraph, parent_id: ClassId, child_ids: Sequence[ClassId]) -> None:
    """Put classes under one more parent; those that are there already stay.

    Raises:
        GraphError: all of them are there already.
    """
    distinct = list(dict.fromkeys(child_ids))
    for child_id in [each for each in distinct if parent_id not in graph.parents(each)] or distinct:
        graph.link(parent_id, child_id)


def unlink_classes(graph: CategoryGraph, edges: Iterable[Edge]) -> None:
    """Take classes away from parents; those without any other become roots."""
    for parent_id, child_id in dict.fromkeys(edges):
        graph.unlink(parent_id, child_id)


def merge_classes(graph: CategoryGraph, class_ids: Iterable[ClassId], heir_id: ClassId) -> None:
    """Merge classes into another one, which may be among them; see `CategoryGraph.merge`."""
    going = [each for each in dict.fromkeys(class_ids) if each != heir_id] or [heir_id]
    # From below, so that no class that is about to be removed is left next to a namesake.
    for class_id in sorted(going, key=graph.level, reverse=True):
        graph.merge(class_id, heir_id)


def split_class(
    graph: CategoryGraph, class_id: ClassId, names: Iterable[str], *, as_children: bool
) -> tuple[ClassId, ...]:
    """Add classes below a class, or next to it under the same parents; return one id for each name.

    Raises:
        GraphError: a name is not valid, or there is none.
    """
    parents = (class_id,) if as_children else graph.parents(class_id)
    new_ids = tuple(graph.add_class(name, parents) for name in names)
    check_some(new_ids)
    return new_ids


def free_name(graph: CategoryGraph, name: str, parents: Sequence[ClassId]) -> str:
    """Make a clean name unique under these parents, or the top level, by " (2)", " (3)" ..."""
    places: Sequence[ClassId | None] = parents or (None,)
    number, free = 1, name
    while any(graph.child_named(place, free) is not None for place in places):
        number += 1
        suffix = f" ({number})"
        free = name[: LONGEST_NAME - len(suffix)].rstrip() + suffix
    return free


def check_some(class_ids: Sequence[ClassId]) -> None:
    """Refuse an empty choice by a `GraphError`."""
    if not class_ids:
        raise GraphError("there is no class to work on", remedy="choose at least one")


def check_growth(graph: CategoryGraph, edits: Sequence[GraphEdit]) -> None:
    """Refuse edits by which a graph exceeds its limits; what exceeded them before may stay.

    Raises:
        GraphError: there are too many classes, or one is too deep.
    """
    if len(graph) > MOST_CLASSES and any(isinstance(edit, ClassAdded) for edit in edits):
        raise GraphError(
            "there would be too many classes",
            expected="at most {limit:,}",
            found=f"{len(graph):,}",
            remedy="use only the classes that you need",
            limit=MOST_CLASSES,
        )
    links = [(edit.parent_id, edit.child_id) for edit in edits if isinstance(edit, EdgeAdded)]
    links = [edge for edge in links if edge[0] in graph and edge[1] in graph]
    depths = (
        longest_way(graph.parents, parent) + 1 + graph.height(child) for parent, child in links
    )
    if len(links) > FEW or any(depth > DEEPEST_LEVEL for depth in depths):
        _check_depth(graph, edits)


def _check_depth(graph: CategoryGraph, edits: Sequence[GraphEdit]) -> None:
    too_deep = {each for level in graph.levels()[DEEPEST_LEVEL + 1 :] for each in level}
    if not too_deep:
        return
    before = graph.copy()
    before.apply(inverse(edits))
    sank = [
        each for each in too_deep if each not in before or graph.level(each) > before.level(each)
    ]
    if sank:
        deepest = max(sank, key=graph.level)
        raise GraphError(
            "the classes would nest too deeply",
            expected="at most {deepest:,} levels below the top",
            found='"{name}" on level {level:,}',
            remedy="move them further up",
            deepest=DEEPEST_LEVEL,
            name=graph.name(deepest),
            level=graph.level(deepest),
        )
