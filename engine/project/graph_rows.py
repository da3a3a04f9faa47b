"""The category graph's rows: loading it whole, and writing the edits that were made to it."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from engine.errors import UnknownClassError
from engine.graph.category_graph import CategoryGraph
from engine.graph.class_attributes import ATTRIBUTES, NO_ATTRIBUTES, ClassAttributes
from engine.graph.edits import (
    AttributesChanged,
    ClassAdded,
    ClassRemoved,
    ClassRenamed,
    EdgeAdded,
    EdgeRemoved,
    GraphEdit,
)
from engine.graph.group_edits import check_some
from engine.project.connection import Connection
from engine.project.records import ClassId
from engine.project.schema import CLASS, CLASS_DETAIL, CLASS_POLICY, EDGE
from engine.project.step import OpenStep

_COLUMNS = ", ".join(
    f"{each.table}.{each.name}"
    if each.default is None
    else f"COALESCE({each.table}.{each.name}, {each.stored(each.default)!r})"
    for each in ATTRIBUTES
)
_CLASSES = (
    "SELECT class_id, name, identity, "  # noqa: S608
    f"{_COLUMNS} FROM class LEFT JOIN class_detail USING (class_id)"
    " LEFT JOIN class_policy USING (class_id) ORDER BY class_id"
)
_NOTHING_STORED = [each.stored(each.default) for each in ATTRIBUTES]
_LOADED = [
    (place, each.stored(each.default), each.default, each.loaded)
    for place, each in enumerate(ATTRIBUTES)
    if each.default in ((), False)
]
"""Attributes stored in another form: column, both defaults, and the conversion."""


def load_graph(connection: Connection) -> CategoryGraph:
    """Read all classes and edges."""
    graph = CategoryGraph()
    graph.apply(_stored_edits(connection))
    last_id = connection.value("SELECT seq FROM sqlite_sequence WHERE name = 'class'")
    graph.reserve_ids(last_id or 0)
    return graph


def store_edits(step: OpenStep, edits: Sequence[GraphEdit]) -> None:
    """Write the edits of the graph, in the order they were made."""
    if all(isinstance(edit, ClassAdded | EdgeAdded | AttributesChanged) for edit in edits):
        # An import: all classes, then all edges; an equally good order with fewer statements.
        _insert_classes(step, [edit for edit in edits if isinstance(edit, ClassAdded)])
        step.insert(
            EDGE, [(edit.parent_id, edit.child_id) for edit in edits if isinstance(edit, EdgeAdded)]
        )
        _change_attributes(step, [edit for edit in edits if isinstance(edit, AttributesChanged)])
        return
    for kind, group in groupby(edits, key=type):
        if kind is EdgeRemoved:
            step.delete(
                EDGE,
                [
                    (edit.parent_id, edit.child_id)
                    for edit in group
                    if isinstance(edit, EdgeRemoved)
                ],
            )
        elif kind is ClassRemoved:
            removed = [edit for edit in group if isinstance(edit, ClassRemoved)]
            described = [(edit.class_id,) for edit in removed if edit.attributes]
            for table in (CLASS_POLICY, CLASS_DETAIL):
                step.delete(table, described)
            step.delete(CLASS, [(edit.class_id,) for edit in removed])
        elif kind is AttributesChanged:
            _change_attributes(
                step, [edit for edit in group if isinstance(edit, AttributesChanged)]
            )
        else:
            for edit in group:
                _store_edit(step, edit)


def class_name(connection: Connection, class_id: ClassId) -> str:
    """Name of a class, without loading the graph; raises `UnknownClassError` if missing."""
    name = connection.value("SELECT name FROM class WHERE class_id = ?", (int(class_id),))
    if name is None:
        raise UnknownClassError(
            "there is no such class", found=str(class_id), remedy="it may have been removed"
        )
    return str(name)


def class_names(connection: Connection, class_ids: Sequence[ClassId]) -> list[str]:
    """Names of distinct classes, as `class_name`; raises `GraphError` where there are none."""
    check_some(class_ids)
    return [class_name(connection, class_id) for class_id in dict.fromkeys(class_ids)]


def _stored_edits(connection: Connection) -> Iterator[GraphEdit]:
    for class_id, name, identity, *stored in connection.rows(_CLASSES):
        # The hot spot with 82,000 classes, so values that need no conversion are not touched.
        if stored == _NOTHING_STORED:
            yield ClassAdded(class_id, name, NO_ATTRIBUTES, identity)
            continue
        for place, plain, default, loaded in _LOADED:
            stored[place] = default if stored[place] == plain else loaded(stored[place])
        yield ClassAdded(class_id, name, ClassAttributes(*stored), identity)
    for parent_id, child_id in connection.rows(
        "SELECT parent_id, child_id FROM edge ORDER BY parent_id, child_id"
    ):
        yield EdgeAdded(parent_id, child_id)


def _store_edit(step: OpenStep, edit: GraphEdit) -> None:
    match edit:
        case ClassAdded():
            _insert_classes(step, [edit])
        case ClassRenamed(class_id, name):
            row = step.connection.row(CLASS.select, (class_id,))
            assert row is not None, "the graph knows the class, so the file does"
            step.put(CLASS, [(class_id, name, *row[2:])])
        case EdgeAdded(parent_id, child_id):
            step.put(EDGE, [(parent_id, child_id)])


def _insert_classes(step: OpenStep, added: Sequence[ClassAdded]) -> None:
    rows = [
        (each.class_id, each.name, *CLASS.stored(each.attributes), each.identity) for each in added
    ]
    step.insert(CLASS, rows)
    described = [edit for edit in added if edit.attributes]
    for table in (CLASS_DETAIL, CLASS_POLICY):
        rows = [(edit.class_id, *table.stored(edit.attributes)) for edit in described]
        step.insert(table, [row for row in rows if row[1:] != table.defaults])


def _change_attributes(step: OpenStep, edits: Sequence[AttributesChanged]) -> None:
    """Write other values; rows of defaults alone are deleted."""
    values_of: dict[ClassId, dict[str, Any]] = {}
    for edit in edits:
        values_of.setdefault(edit.class_id, {}).update(edit.values)
    for table in (CLASS, CLASS_DETAIL, CLASS_POLICY):
        touched = {
            each: values
            for each, values in values_of.items()
            if not values.keys().isdisjoint(table.attributes)
        }
        select = table.select
        rows = [
            table.with_attributes(step.connection.row(select, (class_id,)), class_id, values)
            for class_id, values in touched.items()
        ]
        empty = {
            row[:1] for row in rows if row[1:] == table.defaults
        }  # never one of a class, which has a name
        step.put(table, [row for row in rows if row[:1] not in empty])
        step.delete(table, empty)
