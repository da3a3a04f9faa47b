"""A class that goes away, removed or merged into another one: which edits that takes, and when it cannot be."""

from collections.abc import Iterator

from engine.errors import GraphError
from engine.graph.aliases import Aliases, clean_aliases
from engine.graph.edits import AliasesChanged, ClassRemoved, EdgeAdded, EdgeRemoved, GraphEdit
from engine.graph.structure import TOP, ClassId, GraphStructure
from engine.graph.traversal import reachable
from engine.graph.validation import check_known, check_name_is_free


def removal_edits(structure: GraphStructure, class_id: ClassId) -> list[GraphEdit]:
    """Edits that remove a class; its children go to its parents, or become roots where no parent is left.

    Raises:
        DuplicateNameError: a child has the name of one of its new siblings.
        UnknownClassError: there is no such class.
    """
    check_known(structure, class_id)
    parents, children = structure.parents(class_id), structure.children(class_id)
    for child_id in children:
        is_new_root = not parents and len(structure.parents(child_id)) == 1
        for parent_id in parents or ((TOP,) if is_new_root else ()):
            check_name_is_free(structure, parent_id, structure.names[child_id], ignoring=[child_id, class_id])
    has_edge = structure.edges.has
    edits: list[GraphEdit] = [EdgeAdded(p, c) for p in parents for c in children if not has_edge(p, c)]
    edits += [EdgeRemoved(class_id, child_id) for child_id in children]
    edits += [EdgeRemoved(parent_id, class_id) for parent_id in parents]
    return [*edits, ClassRemoved(class_id, structure.names[class_id], structure.aliases.of(class_id))]


def merging_edits(structure: GraphStructure, class_id: ClassId, heir_id: ClassId) -> list[GraphEdit]:
    """Edits that put `heir_id` in the place of `class_id`.

    Its children go under the heir, and the heir under its parents; what would put a class under itself, or repeat a way
    that leads there already, is left out. A child that the heir itself lies under goes to the parents instead. The
    heir gets its name, synonyms and source id as well, so that it is found by them.

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
        raise GraphError(f'"{structure.names[class_id]}" cannot be merged into itself', remedy="choose another class")
    cut = [EdgeRemoved(parent_id, class_id) for parent_id in structure.parents(class_id)]
    cut += [EdgeRemoved(class_id, child_id) for child_id in structure.children(class_id)]
    new = list(dict.fromkeys(_new_edges(structure, class_id, heir_id)))
    _check_names(structure, class_id, new)
    name, aliases, known = structure.names[class_id], structure.aliases.of(class_id), structure.aliases.of(heir_id)
    wider = clean_aliases(
        known.filled_in(Aliases(aliases.source_id, (name, *aliases.synonyms))), structure.names[heir_id]
    )
    named = [AliasesChanged(heir_id, wider, known)] if wider != known else []
    return [*cut, *new, ClassRemoved(class_id, name, aliases), *named]


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
