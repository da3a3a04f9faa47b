"""Taking an imported graph into a category graph: same path, same class, so importing twice adds nothing.

A class that is there already takes over the attributes that it lacks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from engine.errors import CycleError
from engine.graph.category_graph import CategoryGraph, ClassId
from engine.graph.edits import AttributesChanged
from engine.interchange.imported import ImportedClass, ImportedGraph, find_cycle, parents_first


@dataclass(frozen=True)
class MergeResult:
    """What a merge did."""

    classes_added: int  # number of new classes
    edges_added: int  # number of new edges
    aliases_added: int = 0  # number of classes from before that got further attributes
    class_ids: Mapping[str, ClassId] = field(default_factory=dict)
    """For each imported key its class in the graph, new or not."""


def merge_into(graph: CategoryGraph, imported: ImportedGraph) -> MergeResult:
    """Add the classes and edges that are not there yet; all of them, or none if it fails.

    An imported class is the class of that name under one of its parents. Where several parents have different classes
    of that name, the first parent's is taken and the others are left as they are.

    Args:
        graph: is changed.
        imported: stays as it is.

    Returns:
        What was added.

    Raises:
        CycleError: together with the edges of the graph the new ones would close a cycle.
    """
    ordered = parents_first(imported)
    if len(ordered) < len(imported.classes):
        raise _cycle_error(imported)
    classes_before, edges_before = len(graph), graph.edge_count
    classes = {each.key: each for each in imported.classes}
    parent_keys = imported.parent_keys()
    ids: dict[str, ClassId] = {}
    with graph.record() as edits:
        for key in ordered:
            parents = tuple(dict.fromkeys(ids[parent] for parent in parent_keys[key]))
            ids[key] = _merge_class(graph, classes[key], parents)
        filled_in = {edit.class_id for edit in edits if isinstance(edit, AttributesChanged)}
    return MergeResult(len(graph) - classes_before, graph.edge_count - edges_before, len(filled_in), ids)


def _merge_class(graph: CategoryGraph, imported: ImportedClass, parents: Sequence[ClassId]) -> ClassId:
    known = [graph.child_named(parent, imported.name) for parent in parents or (None,)]
    class_id = next((each for each in known if each is not None), None)
    if class_id is None:
        return graph.add_class(imported.name, parents, attributes=imported.attributes)
    if imported.attributes:
        graph.set_attributes(class_id, graph.attributes(class_id).filled_in(imported.attributes))
    for parent, child in zip(parents, known, strict=False):
        if child is None:
            graph.link(parent, class_id)
    return class_id


def _cycle_error(imported: ImportedGraph) -> CycleError:
    names = {each.key: each.name for each in imported.classes}
    return CycleError(tuple(names[key] for key in find_cycle(imported.edges)))
