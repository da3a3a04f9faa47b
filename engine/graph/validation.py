"""May this edit be made? Checks on the structure that raise with what to do instead."""

from collections.abc import Iterable

from engine.errors import CycleError, DuplicateNameError, GraphError, UnknownClassError
from engine.graph.structure import TOP, ClassId, GraphStructure
from engine.graph.traversal import reachable, shortest_way


def check_known(structure: GraphStructure, *class_ids: ClassId) -> None:
    """Refuse ids that no class has.

    Raises:
        UnknownClassError: for the first such id.
    """
    for class_id in class_ids:
        if class_id not in structure.names:
            raise UnknownClassError(
                "there is no class with the number {class_id}",
                remedy="it may have been removed; check the list again",
                class_id=class_id,
            )


def check_name_is_free(
    structure: GraphStructure, parent_id: ClassId | None, name: str, *, ignoring: Iterable[ClassId] = ()
) -> None:
    """Refuse a name that a child of the parent, or a root, already has.

    Args:
        structure: the graph.
        parent_id: the future parent; `TOP` for a root.
        name: the clean name.
        ignoring: classes that may have it: the edited one, or one that is about to go.

    Raises:
        DuplicateNameError: the name is taken there.
    """
    taken = set(structure.children_named(parent_id, name)) - set(ignoring)
    if taken:
        raise namesake_error(structure, parent_id, name)


def namesake_error(structure: GraphStructure, parent_id: ClassId | None, name: str) -> DuplicateNameError:
    """What to say of a name that is taken; see `check_name_is_free`."""
    place = "at the top level" if parent_id is TOP else f'under "{structure.names[parent_id]}"'
    return DuplicateNameError(
        'there is already a class "{name}" {place}', remedy="choose another name or place", name=name, place=place
    )


def check_not_linked(structure: GraphStructure, parent_id: ClassId, child_id: ClassId) -> None:
    """Refuse an edge that is there.

    Raises:
        GraphError: the classes are linked.
    """
    if structure.edges.has(parent_id, child_id):
        raise GraphError(
            '"{child}" is already under "{parent}"', child=structure.names[child_id], parent=structure.names[parent_id]
        )


def check_linked(structure: GraphStructure, parent_id: ClassId, child_id: ClassId) -> None:
    """Refuse to work on an edge that is not there.

    Raises:
        GraphError: the classes are not linked.
    """
    if not structure.edges.has(parent_id, child_id):
        raise GraphError(
            '"{child}" is not directly under "{parent}"',
            child=structure.names[child_id],
            parent=structure.names[parent_id],
        )


def check_no_cycle(structure: GraphStructure, parent_id: ClassId, child_id: ClassId) -> None:
    """Refuse an edge from a class to itself or to one of its ancestors.

    Raises:
        CycleError: with the names along the path that would close.
    """
    if parent_id == child_id:
        raise CycleError((structure.names[parent_id], structure.names[child_id]))
    # Looking upwards: ancestors are few where descendants may be the whole graph. A class without children closes none.
    is_leaf = not structure.edges.children(child_id)
    if is_leaf or child_id not in reachable(structure.edges.parents, parent_id):
        return
    way_back = reversed(shortest_way(structure.parents, parent_id, child_id))
    raise CycleError(tuple(structure.names[each] for each in (parent_id, *way_back)))


def check_link(structure: GraphStructure, parent_id: ClassId, child_id: ClassId) -> None:
    """Refuse a new edge that cannot be: there already, closing a cycle, or with a namesake beside it.

    Raises:
        GraphError, CycleError, DuplicateNameError: it is so.
        UnknownClassError: there is no such class.
    """
    check_known(structure, parent_id, child_id)
    check_not_linked(structure, parent_id, child_id)
    check_no_cycle(structure, parent_id, child_id)
    check_name_is_free(structure, parent_id, structure.names[child_id])


def check_origin(structure: GraphStructure, class_id: ClassId, from_parent: ClassId | None) -> None:
    """Refuse to move a class from where it is not; `TOP` stands for the top level.

    Raises:
        GraphError: it is not there.
        UnknownClassError: there is no such class.
    """
    check_known(structure, class_id)
    if from_parent is not TOP:
        check_known(structure, from_parent)
        check_linked(structure, from_parent, class_id)
    elif structure.parents(class_id):
        raise GraphError(
            '"{name}" is not at the top level', remedy="say which parent it leaves", name=structure.names[class_id]
        )


def check_can_be_root(structure: GraphStructure, class_id: ClassId) -> None:
    """Refuse a move to the top level of a class with several parents, or whose name a root has.

    Raises:
        GraphError, DuplicateNameError: it is so.
    """
    if len(structure.parents(class_id)) > 1:
        raise GraphError(
            '"{name}" cannot go to the top level while it has other parents',
            remedy="unlink it from them first",
            name=structure.names[class_id],
        )
    check_name_is_free(structure, TOP, structure.names[class_id])
