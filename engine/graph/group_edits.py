"""Edits of several classes at once. Where one of them is refused, `CategoryGraph.record` takes the others back."""

from collections.abc import Iterable, Sequence

from engine.errors import GraphError
from engine.graph.category_graph import CategoryGraph, ClassId
from engine.graph.limits import LONGEST_NAME

Move = tuple[ClassId, ClassId | None]
"""A class, and the parent that it is taken from; None for the top level."""

Edge = tuple[ClassId, ClassId]
"""Parent and child."""


def add_parent(graph: CategoryGraph, name: str, child_ids: Sequence[ClassId], from_parent: ClassId | None) -> ClassId:
    """Put a new class between a parent and some of its children; None stands for the top level.

    Returns:
        The new class's id.

    Raises:
        GraphError: a child is not under that parent, or there are none.
        DuplicateNameError: a class of that name is there already.
        UnknownClassError: there is no such class.
    """
    check_some(child_ids)
    new_id = graph.add_class(name, () if from_parent is None else (from_parent,))
    for child_id in dict.fromkeys(child_ids):
        graph.move(child_id, from_parent, new_id)
    return new_id


def move_classes(graph: CategoryGraph, moves: Sequence[Move], to_parent: ClassId | None) -> None:
    """Move classes, each from one of its parents, to another parent; None stands for the top level.

    A class that is there already is only taken from where it was. One that goes to the top level must be taken from
    all of its parents.

    Raises:
        GraphError: a class is not where it is to be moved from, or keeps a parent and so cannot go to the top level.
        CycleError: the new parent is one of the classes or lies below it.
        DuplicateNameError: a class of that name is there.
        UnknownClassError: there is no such class.
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
        CycleError: the parent is one of the classes or lies below it.
        DuplicateNameError: another child of the parent has the name.
        UnknownClassError: there is no such class.
    """
    distinct = list(dict.fromkeys(child_ids))
    for child_id in [each for each in distinct if parent_id not in graph.parents(each)] or distinct:
        graph.link(parent_id, child_id)


def unlink_classes(graph: CategoryGraph, edges: Iterable[Edge]) -> None:
    """Take classes away from parents; those without any other become roots.

    Raises:
        GraphError: two classes are not linked.
        DuplicateNameError: one would become a root and another root has its name.
        UnknownClassError: there is no such class.
    """
    for parent_id, child_id in dict.fromkeys(edges):
        graph.unlink(parent_id, child_id)


def merge_classes(graph: CategoryGraph, class_ids: Iterable[ClassId], heir_id: ClassId) -> None:
    """Put one class in the place of others, which go away; see `CategoryGraph.merge`. It may be among them."""
    going = [each for each in dict.fromkeys(class_ids) if each != heir_id] or [heir_id]
    # From below, so that no class that is about to go is left beside a namesake in between.
    for class_id in sorted(going, key=graph.level, reverse=True):
        graph.merge(class_id, heir_id)


def split_class(
    graph: CategoryGraph, class_id: ClassId, names: Iterable[str], *, as_children: bool
) -> tuple[ClassId, ...]:
    """Add classes to which a class's images can go: below it, or beside it under the same parents.

    Returns:
        The new classes' ids, one for each name.

    Raises:
        GraphError: a name cannot be one, or there is none.
        DuplicateNameError: a name is taken there.
        UnknownClassError: there is no such class.
    """
    parents = (class_id,) if as_children else graph.parents(class_id)
    new_ids = tuple(graph.add_class(name, parents) for name in names)
    check_some(new_ids)
    return new_ids


def free_name(graph: CategoryGraph, name: str, parents: Sequence[ClassId]) -> str:
    """A clean name under which a class can come under these parents, or to the top level where there are none.

    Returns:
        The name itself, or with " (2)", " (3)" ... behind it where it is taken.
    """
    places: Sequence[ClassId | None] = parents or (None,)
    number, free = 1, name
    while any(graph.child_named(place, free) is not None for place in places):
        number += 1
        suffix = f" ({number})"
        free = name[: LONGEST_NAME - len(suffix)].rstrip() + suffix
    return free


def check_some(class_ids: Sequence[ClassId]) -> None:
    """Refuse an empty choice.

    Raises:
        GraphError: it is empty.
    """
    if not class_ids:
        raise GraphError("there is no class to work on", remedy="choose at least one")
