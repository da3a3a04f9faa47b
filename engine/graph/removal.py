"""Checks of edits, and the edits by which classes are removed or merged into another one."""

from collections.abc import Collection, Container, Iterable, Iterator
from enum import Enum
from typing import Protocol

from engine.errors import CycleError, DuplicateNameError, GraphError, UnknownClassError
from engine.graph.class_attributes import ClassAttributes
from engine.graph.edits import AttributesChanged, ClassRemoved, EdgeAdded, EdgeRemoved, GraphEdit
from engine.graph.structure import TOP, ClassId, GraphStructure
from engine.graph.traversal import reachable, shortest_way
from engine.texts import Message


def check_known(structure: GraphStructure, *class_ids: ClassId) -> None:
    """Raise `UnknownClassError` for the first id that no class has."""
    for class_id in class_ids:
        if class_id not in structure.names:
            raise UnknownClassError(
                "there is no class with the number {class_id}",
                remedy="it may have been removed; check the list again",
                class_id=class_id,
            )


def check_name_is_free(
    structure: GraphStructure,
    parent_id: ClassId | None,
    name: str,
    *,
    ignoring: Iterable[ClassId] = (),
) -> None:
    """Raise `DuplicateNameError` where a sibling, or another root, has the name."""
    if set(structure.children_named(parent_id, name)) - set(ignoring):
        raise namesake_error(structure, parent_id, name)


def namesake_error(
    structure: GraphStructure, parent_id: ClassId | None, name: str
) -> DuplicateNameError:
    """The error of a name that is taken; see `check_name_is_free`."""
    place = Message("at the top level")
    if parent_id is not TOP:
        place = Message('under "{parent}"', {"parent": structure.names[parent_id]})
    return DuplicateNameError(
        'there is already a class "{name}" {place}',
        remedy="choose another name or place",
        name=name,
        place=place,
    )


def check_linked(structure: GraphStructure, parent_id: ClassId, child_id: ClassId) -> None:
    """Raise `GraphError` for an edge that is not there."""
    if not structure.edges.has(parent_id, child_id):
        child, parent = structure.names[child_id], structure.names[parent_id]
        raise GraphError('"{child}" is not directly under "{parent}"', child=child, parent=parent)


def check_no_cycle(structure: GraphStructure, parent_id: ClassId, child_id: ClassId) -> None:
    """Raise `CycleError`, with the cycle's names, for an edge to the class or an ancestor."""
    if parent_id == child_id:
        raise CycleError((structure.names[parent_id], structure.names[child_id]))
    # Upwards: ancestors are few, descendants may be the whole graph. A leaf closes no cycle.
    is_leaf = not structure.edges.children(child_id)
    if is_leaf or child_id not in reachable(structure.edges.parents, parent_id):
        return
    way_back = reversed(shortest_way(structure.parents, parent_id, child_id))
    raise CycleError(tuple(structure.names[each] for each in (parent_id, *way_back)))


def check_link(structure: GraphStructure, parent_id: ClassId, child_id: ClassId) -> None:
    """Refuse a new edge that exists, closes a cycle, or gives a class a sibling of its name."""
    check_known(structure, parent_id, child_id)
    child, parent = structure.names[child_id], structure.names[parent_id]
    if structure.edges.has(parent_id, child_id):
        raise GraphError('"{child}" is already under "{parent}"', child=child, parent=parent)
    check_no_cycle(structure, parent_id, child_id)
    check_name_is_free(structure, parent_id, child)


def check_origin(structure: GraphStructure, class_id: ClassId, from_parent: ClassId | None) -> None:
    """Raise `GraphError` where a class is not under this parent, or at the `TOP` level."""
    check_known(structure, class_id)
    if from_parent is not TOP:
        check_known(structure, from_parent)
        check_linked(structure, from_parent, class_id)
    elif structure.parents(class_id):
        raise GraphError(
            '"{name}" is not at the top level',
            remedy="give the parent to remove",
            name=structure.names[class_id],
        )


def check_can_be_root(structure: GraphStructure, class_id: ClassId) -> None:
    """Refuse a move to the top level of a class with several parents, or whose name a root has."""
    if len(structure.parents(class_id)) > 1:
        raise GraphError(
            '"{name}" cannot go to the top level while it has other parents',
            remedy="unlink it from them first",
            name=structure.names[class_id],
        )
    check_name_is_free(structure, TOP, structure.names[class_id])


class ChildrenOfRemoved(Enum):
    """What becomes of the classes below one that is removed."""

    ADOPTED = "adopted"  # they go to its parents, or to the top level where it has none
    # They lose it as a parent, so those without any other go to the top level
    TOP_LEVEL = "top level"
    REMOVED = "removed"  # they are removed, too, but for those that also have a parent that stays


class Surroundings(Protocol):
    """What must be known of a graph."""

    def parents(self, class_id: ClassId, /) -> tuple[ClassId, ...]:
        """Classes directly above."""

    def children(self, class_id: ClassId, /) -> tuple[ClassId, ...]:
        """Classes directly below."""


def classes_that_go(
    graph: Surroundings, class_ids: Iterable[ClassId], children: ChildrenOfRemoved
) -> tuple[ClassId, ...]:
    """All classes that a removal takes away, those chosen first."""
    going = dict.fromkeys(class_ids)
    if children is ChildrenOfRemoved.REMOVED:
        # A class is checked again whenever another of its parents is removed: any order will do.
        waiting = list(going)
        while waiting:
            for child_id in sorted(graph.children(waiting.pop())):
                if child_id not in going and all(each in going for each in graph.parents(child_id)):
                    going[child_id] = None
                    waiting.append(child_id)
    return tuple(going)


def adopters(
    graph: Surroundings, class_id: ClassId, going: Container[ClassId]
) -> tuple[ClassId, ...]:
    """The nearest remaining ancestors of a removed class, by ascending id; may be none."""
    above = reachable(lambda each: graph.parents(each) if each in going else (), class_id)
    return tuple(sorted(each for each in above if each not in going))


def label_heir(graph: Surroundings, class_id: ClassId, going: Container[ClassId]) -> ClassId | None:
    """The nearest remaining ancestor for labels of a removed class; None at a branching."""
    while class_id in going:
        parents = graph.parents(class_id)
        if len(parents) != 1:
            return None
        (class_id,) = parents
    return class_id


def removal_edits(
    structure: GraphStructure,
    class_ids: Collection[ClassId],
    children: ChildrenOfRemoved = ChildrenOfRemoved.ADOPTED,
) -> list[GraphEdit]:
    """Edits that remove classes.

    Raises:
        DuplicateNameError: a child has the name of one of its new siblings.
        UnknownClassError: there is no such class.
    """
    check_known(structure, *class_ids)
    going = dict.fromkeys(classes_that_go(structure, class_ids, children))
    orphans = dict.fromkeys(
        child for each in going for child in _children(structure, each) if child not in going
    )
    new = _adoptions(structure, going, orphans) if children is ChildrenOfRemoved.ADOPTED else []
    _check_new_siblings(structure, going, orphans, new)
    edits: list[GraphEdit] = [*new]
    # Each edge once: those from a removed class, and those from a remaining class to a removed one.
    edits += [EdgeRemoved(each, child) for each in going for child in _children(structure, each)]
    edits += [
        EdgeRemoved(up, each) for each in going for up in structure.parents(each) if up not in going
    ]
    names, attributes = structure.names, structure.attributes
    return [*edits, *(ClassRemoved(each, names[each], attributes.of(each)) for each in going)]


def merging_edits(
    structure: GraphStructure, class_id: ClassId, heir_id: ClassId
) -> list[GraphEdit]:
    """Edits that put `heir_id` in the place of `class_id`.

    Its children go under the heir, and the heir under its parents; what would put a class under
    itself, or repeat a way that exists already, is left out. A child that is an ancestor of the
    heir goes to the parents instead. The heir gets its name as a synonym, its synonyms, and what it
    lacks of its other attributes.

    Raises:
        GraphError: both are the same class, or the heir would have too many synonyms.
        DuplicateNameError: a class would get a sibling of its name.
        UnknownClassError: there is no such class.
    """
    check_known(structure, class_id, heir_id)
    if class_id == heir_id:
        raise GraphError(
            '"{name}" cannot be merged into itself',
            remedy="choose another class",
            name=structure.names[class_id],
        )
    cut = [EdgeRemoved(parent_id, class_id) for parent_id in structure.parents(class_id)]
    cut += [EdgeRemoved(class_id, child_id) for child_id in _children(structure, class_id)]
    new = list(dict.fromkeys(_new_edges(structure, class_id, heir_id)))
    _check_names(structure, class_id, new)
    name, own, known = (
        structure.names[class_id],
        structure.attributes.of(class_id),
        structure.attributes.of(heir_id),
    )
    named = ClassAttributes(synonyms=(name,))
    wider = known.filled_in(named).filled_in(own).cleaned(structure.names[heir_id])
    news = known.differences(wider)
    wider_edit = [AttributesChanged(heir_id, news, wider.differences(known))] if news else []
    return [*cut, *new, ClassRemoved(class_id, name, own), *wider_edit]


def _children(structure: GraphStructure, class_id: ClassId) -> list[ClassId]:
    """By id: edits are stored, and the same in every language."""
    return sorted(structure.edges.children(class_id))


def _adoptions(
    structure: GraphStructure, going: Collection[ClassId], orphans: Iterable[ClassId]
) -> list[EdgeAdded]:
    """Edges from the remaining ancestors of removed classes to the children they leave."""
    above = {each: adopters(structure, each, going) for each in going}
    new = [
        EdgeAdded(adopter, child_id)
        for child_id in orphans
        for parent_id in structure.parents(child_id)
        for adopter in above.get(parent_id, ())
        if not structure.edges.has(adopter, child_id)
    ]
    return list(dict.fromkeys(new))


def _check_new_siblings(
    structure: GraphStructure,
    going: Collection[ClassId],
    orphans: Iterable[ClassId],
    new: Iterable[EdgeAdded],
) -> None:
    """Refuse namesakes under the adopters or, for children without adopters, among the roots."""
    adopted = {edge.child_id for edge in new}
    places: list[tuple[ClassId | None, ClassId]] = [(edge.parent_id, edge.child_id) for edge in new]
    places += [
        (TOP, child_id)
        for child_id in orphans
        if child_id not in adopted and all(each in going for each in structure.parents(child_id))
    ]
    taken: set[tuple[ClassId | None, str]] = set()
    for parent_id, child_id in places:
        name = structure.names[child_id]
        has_namesake = any(each not in going for each in structure.children_named(parent_id, name))
        if has_namesake or (parent_id, name) in taken:
            raise namesake_error(structure, parent_id, name)
        taken.add((parent_id, name))


def _new_edges(
    structure: GraphStructure, class_id: ClassId, heir_id: ClassId
) -> Iterator[EdgeAdded]:
    edges, parents = structure.edges, structure.parents(class_id)
    above = reachable(
        lambda each: (other for other in edges.parents(each) if other != class_id), heir_id
    )
    below = reachable(edges.children, heir_id)
    is_led_to = False  # the heir is below the parents already, by a child that goes to them
    for child_id in _children(structure, class_id):
        if child_id in above:
            is_led_to = True
            yield from (
                EdgeAdded(each, child_id) for each in parents if not edges.has(each, child_id)
            )
        elif child_id != heir_id and not edges.has(heir_id, child_id):
            yield EdgeAdded(heir_id, child_id)
    if not is_led_to:
        yield from (
            EdgeAdded(each, heir_id) for each in parents if each not in above | below | {heir_id}
        )


def _check_names(structure: GraphStructure, class_id: ClassId, new: list[EdgeAdded]) -> None:
    """Refuse namesakes under a new parent, or among the roots without any parent."""
    for edge in new:
        name = structure.names[edge.child_id]
        check_name_is_free(structure, edge.parent_id, name, ignoring=(edge.child_id, class_id))
    placed = {edge.child_id for edge in new}
    for child_id in _children(structure, class_id):
        if child_id not in placed and structure.parents(child_id) == (class_id,):
            check_name_is_free(
                structure, TOP, structure.names[child_id], ignoring=(child_id, class_id)
            )
