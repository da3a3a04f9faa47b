"""The category graph's rows: loading it whole, and writing the edits that were made to it."""

from collections.abc import Iterator, Sequence

from engine.errors import UnknownClassError
from engine.graph.category_graph import CategoryGraph
from engine.graph.edits import ClassAdded, ClassRemoved, ClassRenamed, EdgeAdded, EdgeRemoved, GraphEdit
from engine.project.connection import Connection
from engine.project.records import ClassId
from engine.project.schema import CLASS, EDGE
from engine.project.step import OpenStep


def load_graph(connection: Connection) -> CategoryGraph:
    """Read all classes and edges."""
    graph = CategoryGraph()
    graph.apply(_stored_edits(connection))
    last_id = connection.value("SELECT seq FROM sqlite_sequence WHERE name = 'class'")
    graph.reserve_ids(last_id or 0)
    return graph


def store_edits(step: OpenStep, edits: Sequence[GraphEdit]) -> None:
    """Write the edits that the graph has made.

    Args:
        step: the open step.
        edits: in the order they were made.
    """
    if all(isinstance(edit, ClassAdded | EdgeAdded) for edit in edits):
        # An import: classes first, then edges, is an equally good order and a hundred times fewer statements.
        step.insert(CLASS, [(edit.class_id, edit.name) for edit in edits if isinstance(edit, ClassAdded)])
        step.insert(EDGE, [(edit.parent_id, edit.child_id) for edit in edits if isinstance(edit, EdgeAdded)])
        return
    for edit in edits:
        _store_edit(step, edit)


def class_name(connection: Connection, class_id: ClassId) -> str:
    """Name of a class, without loading the graph.

    Raises:
        UnknownClassError: there is no such class.
    """
    name = connection.value("SELECT name FROM class WHERE class_id = ?", (class_id,))
    if name is None:
        raise UnknownClassError("there is no such class", found=str(class_id), remedy="it may have been removed")
    return str(name)


def _stored_edits(connection: Connection) -> Iterator[GraphEdit]:
    for class_id, name in connection.rows("SELECT class_id, name FROM class ORDER BY class_id"):
        yield ClassAdded(class_id, name)
    for parent_id, child_id in connection.rows("SELECT parent_id, child_id FROM edge ORDER BY parent_id, child_id"):
        yield EdgeAdded(parent_id, child_id)


def _store_edit(step: OpenStep, edit: GraphEdit) -> None:
    match edit:
        case ClassAdded(class_id, name) | ClassRenamed(class_id, name):
            step.put(CLASS, [(class_id, name)])
        case ClassRemoved(class_id):
            step.delete(CLASS, [(class_id,)])
        case EdgeAdded(parent_id, child_id):
            step.put(EDGE, [(parent_id, child_id)])
        case EdgeRemoved(parent_id, child_id):
            step.delete(EDGE, [(parent_id, child_id)])
