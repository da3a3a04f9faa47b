"""Classes that go away, removed or merged into another one: which edits that takes, and when it cannot be."""

from collections.abc import Collection, Container, Iterable, Iterator
from enum import Enum
from typing import Protocol

from engine.errors import GraphError
from engine.graph.class_attributes import ClassAttributes
from engine.graph.edits import AttributesChanged, ClassRemoved, EdgeAdded, EdgeRemoved, GraphEdit
from engine.graph.structure import TOP, ClassId, GraphStructure
from engine.graph.traversal import reachable
from engine.graph.validation import check_known, check_name_is_free, namesake_error


class ChildrenOfRemoved(Enum):
    """What becomes of the classes below one that is removed."""

    ADOPTED = "adopted"
    """They go to its parents, or to the top level where it has none."""
    TOP_LEVEL = "top level"
    """They lose it as a parent, so those without any other go to the top level."""
    REMOVED = "removed"
    """They go with it, but for those that also lie under a class that stays."""


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
        # A class is looked at again whenever one more of its parents goes, so the order does not matter.
        waiting = list(going)
        while waiting:
            for child_id in graph.children(waiting.pop()):
                if child_id not in going and all(each in going for each in graph.parents(child_id)):
                    going[child_id] = None
                    waiting.append(child_id)
    return tuple(going)


def adopters(graph: Surroundings, class_id: ClassId, going: Container[ClassId]) -> tuple[ClassId, ...]:
    """The nearest classes that stay above one that goes, ascending ids; none where only such as go are above."""
    above = reachable(lambda each: graph.parents(each) if each in going else (), class_id)
    return tuple(sorted(each for each in above if each not in going))


def label_heir(graph: Surroundings, class_id: ClassId, going: Container[ClassId]) -> ClassId | None:
    """Who gets the labels of a class that goes: the nearest class above that stays.

    Returns:
        None where there is none, or where a class on the way has several parents.
    """
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

    Args:
        structure: the graph.
        class_ids: the classes that go away.
        children: what becomes of those below them.

    Raises:
        DuplicateNameError: a child has the name of one of its new siblings.
        UnknownClassError: there is no such class.
    """
    check_known(structure, *class_ids)
    going = dict.fromkeys(classes_that_go(structure, class_ids, children))
    orphans = dict.fromkeys(child for each in going for child in structure.children(each) if child not in going)
    new = _adoptions(structure, going, orphans) if children is ChildrenOfRemoved.ADOPTED else []
    _check_new_siblings(structure, going, orphans, new)
    edits: list[GraphEdit] = [*new]
    # Each edge once: those from a class that goes, and those from a class that stays to one that goes.
    edits += [EdgeRemoved(each, child) for each in going for child in structure.children(each)]
    edits += [EdgeRemoved(up, each) for each in going for up in structure.parents(each) if up not in going]
    names, attributes = structure.names, structure.attributes
    return [*edits, *(ClassRemoved(each, names[each], attributes.of(each)) for each in going)]


def merging_edits(structure: GraphStructure, class_id: ClassId, heir_id: ClassId) -> list[GraphEdit]:
    """Edits that put `heir_id` in the place of `class_id`.

    Its children go under the heir, and the heir under its parents; what would put a class under itself, or repeat a way
    that leads there already, is left out. A child that the heir itself lies under goes to the parents instead. The
    heir gets its name as a synonym, its synonyms, and what it lacks of its other attributes.

    Args:
        structure: the graph.
        class_id: the class that goes away.
        heir_id: the class that stays.

    Raises:
        GraphError: both are the same class, or the heir would have too many synonyms.
        DuplicateNameError: a class would come beside another one of its name.
        UnknownClassError: there is no such class.
    """
    check_known(structure, class_id, heir_id)
    if class_id == heir_id:
        raise GraphError(
            '"{name}" cannot be merged into itself', remedy="choose another class", name=structure.names[class_id]
        )
    cut = [EdgeRemoved(parent_id, class_id) for parent_id in structure.parents(class_id)]
    cut += [EdgeRemoved(class_id, child_id) for child_id in structure.children(class_id)]
    new = list(dict.fromkeys(_new_edges(structure, class_id, heir_id)))
    _check_names(structure, class_id, new)
    name, own, known = structure.names[class_id], structure.attributes.of(class_id), structure.attributes.of(heir_id)
    named = ClassAttributes(synonyms=(name,))
    wider = known.filled_in(named).filled_in(own).cleaned(structure.names[heir_id])
    news = known.differences(wider)
    wider_edit = [AttributesChanged(heir_id, news, wider.differences(known))] if news else []
    return [*cut, *new, ClassRemoved(class_id, name, own), *wider_edit]


def _adoptions(structure: GraphStructure, going: Collection[ClassId], orphans: Iterable[ClassId]) -> list[EdgeAdded]:
    """Edges from the classes that stay above those that go to the children that these leave behind."""
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
    structure: GraphStructure, going: Collection[ClassId], orphans: Iterable[ClassId], new: Iterable[EdgeAdded]
) -> None:
    """Refuse namesakes under the adopters or, for children that nobody adopts, among the roots."""
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


def _new_edges(structure: GraphStructure, class_id: ClassId, heir_id: ClassId) -> Iterator[EdgeAdded]:
    edges, parents = structure.edges, structure.parents(class_id)
    above = reachable(lambda each: (other for other in edges.parents(each) if other != class_id), heir_id)
    below = reachable(edges.children, heir_id)
    is_led_to = False  # the heir is below the parents already, by a child that goes to them
    for child_id in structure.children(class_id):
        if child_id in above:
            is_led_to = True
            yield from (EdgeAdded(each, child_id) for each in parents if not edges.has(each, child_id))
        elif child_id != heir_id and not edges.has(heir_id, child_id):
            yield EdgeAdded(heir_id, child_id)
    if not is_led_to:
        yield from (EdgeAdded(each, heir_id) for each in parents if each not in above | below | {heir_id})


def _check_names(structure: GraphStructure, class_id: ClassId, new: list[EdgeAdded]) -> None:
    """Refuse namesakes under a new parent, or among the roots where a class loses its only parent and gets no other."""
    for edge in new:
        name = structure.names[edge.child_id]
        check_name_is_free(structure, edge.parent_id, name, ignoring=(edge.child_id, class_id))
    placed = {edge.child_id for edge in new}
    for child_id in structure.children(class_id):
        if child_id not in placed and structure.parents(child_id) == (class_id,):
            check_name_is_free(structure, TOP, structure.names[child_id], ignoring=(child_id, class_id))
