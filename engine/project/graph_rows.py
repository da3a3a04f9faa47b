"""The category graph's rows: loading it whole, and writing the edits that were made to it."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from engine.errors import UnknownClassError
from engine.graph.aliases import Aliases
from engine.graph.category_graph import CategoryGraph
from engine.graph.edits import (
    AliasesChanged,
    ClassAdded,
    ClassRemoved,
    ClassRenamed,
    EdgeAdded,
    EdgeRemoved,
    GraphEdit,
)
from engine.graph.group_edits import check_some
from engine.project.change import aliases_in
from engine.project.connection import Connection, Row
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
    if all(isinstance(edit, ClassAdded | EdgeAdded | AliasesChanged) for edit in edits):
        # An import: classes first, then edges, is an equally good order and a hundred times fewer statements.
        added = [edit for edit in edits if isinstance(edit, ClassAdded)]
        step.insert(CLASS, [_class_row(edit.class_id, edit.name, edit.aliases) for edit in added])
        step.insert(EDGE, [(edit.parent_id, edit.child_id) for edit in edits if isinstance(edit, EdgeAdded)])
        step.put(CLASS, [_with_aliases(step, edit) for edit in edits if isinstance(edit, AliasesChanged)])
        return
    for kind, group in groupby(edits, key=type):
        if kind is EdgeRemoved:
            step.delete(EDGE, [(edit.parent_id, edit.child_id) for edit in group if isinstance(edit, EdgeRemoved)])
        elif kind is ClassRemoved:
            step.delete(CLASS, [(edit.class_id,) for edit in group if isinstance(edit, ClassRemoved)])
        else:
            for edit in group:
                _store_edit(step, edit)


def class_name(connection: Connection, class_id: ClassId) -> str:
    """Name of a class, without loading the graph.

    Raises:
        UnknownClassError: there is no such class.
    """
    name = connection.value("SELECT name FROM class WHERE class_id = ?", (int(class_id),))
    if name is None:
        raise UnknownClassError("there is no such class", found=str(class_id), remedy="it may have been removed")
    return str(name)


def class_names(connection: Connection, class_ids: Sequence[ClassId]) -> list[str]:
    """Names of distinct classes.

    Raises:
        GraphError: there are none.
        UnknownClassError: there is no such class.
    """
    check_some(class_ids)
    return [class_name(connection, class_id) for class_id in dict.fromkeys(class_ids)]


def _stored_edits(connection: Connection) -> Iterator[GraphEdit]:
    for row in connection.rows(f"SELECT {', '.join(CLASS.columns)} FROM class ORDER BY class_id"):  # noqa: S608 (our names)
        yield ClassAdded(row[0], row[1], aliases_in(row))
    for parent_id, child_id in connection.rows("SELECT parent_id, child_id FROM edge ORDER BY parent_id, child_id"):
        yield EdgeAdded(parent_id, child_id)


def _store_edit(step: OpenStep, edit: GraphEdit) -> None:
    match edit:
        case ClassAdded(class_id, name, aliases):
            step.insert(CLASS, [_class_row(class_id, name, aliases)])
        case ClassRenamed(class_id, name):
            step.put(CLASS, [(class_id, name, *_stored_class(step, class_id)[2:])])
        case AliasesChanged():
            step.put(CLASS, [_with_aliases(step, edit)])
        case EdgeAdded(parent_id, child_id):
            step.put(EDGE, [(parent_id, child_id)])


def _stored_class(step: OpenStep, class_id: ClassId) -> Row:
    row = step.connection.row(CLASS.select, (class_id,))
    assert row is not None, "the graph knows the class, so the file does"
    return row


def _with_aliases(step: OpenStep, edit: AliasesChanged) -> Row:
    return _class_row(edit.class_id, _stored_class(step, edit.class_id)[1], edit.aliases)


def _class_row(class_id: ClassId, name: str, aliases: Aliases) -> Row:
    return class_id, name, aliases.source_id, "\n".join(aliases.synonyms)
