"""JSON: reads a tree of {"name", "children"} or a list of {"id", "name", "parents"}, writes a list.

Only in a list can a class have several parents. The "id" of a class is its source id, unless it has
a "source_id", too: then "id" is only a key in the file, as in our exports, where "identity"
identifies a class in all projects.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from engine.errors import FormatError
from engine.graph.class_attributes import IN_FILES
from engine.graph.names import join_path
from engine.interchange.imported import ImportedClass, ImportedGraph, LeftOutItem, clean_name_at
from engine.interchange.tables.dialects import TablePurpose
from engine.interchange.tables.read_table import SAMPLE_ROWS, Table
from engine.interchange.tables.recognise import recognised
from engine.interchange.tables.roles import Role, column_key
from engine.interchange.taxonomies.class_tables import taxa_of
from engine.interchange.taxonomies.taxon_graph import graph_of
from engine.interchange.taxonomy_file import taxonomy_json
from engine.interchange.text_file import JsonObject, objects_in
from engine.texts import Message, marked

CLASSES = "classes"
SOURCE_ID = "source_id"
_LISTS = (CLASSES, "categories", "taxa", "results", "nodes")
"""Fields of lists of classes: ours, of COCO, and of services such as GBIF's."""
_EDGES = ("edges", "links")  # fields of the edges of nodes
_CHILDREN = ("children", "subclasses", "subcategories", "Subcategory", "childs")
_NAMES = ("name", "label", "title", "scientificName", "LabelName")
_PARENTS = frozenset(
    column_key(each) for role in (Role.PARENT_ID, Role.PARENT_NAME) for each in role.names
)
CLASS_PLACE = marked("class {number} in {source_name}")


def read(source: Path, given: Mapping[str, str] | None = None) -> ImportedGraph:
    """Read a JSON file: a tree, in which leaves may be plain names, or a list.

    The objects of a list are read as rows of a table; a parent may be an object itself. The keys
    are the ids of a list (names without ids), or the paths of a tree.
    """
    document = taxonomy_json(source)
    rows = _listed(document)
    if rows is None and isinstance(document, dict) and CLASSES in document:
        found = _kind(document[CLASSES])
        raise FormatError(
            '"{classes}" in {source_name} is not a list',
            found=found,
            classes=CLASSES,
            source_name=source.name,
        )
    left_out: list[LeftOutItem] = []
    flat = list(_flat(rows, source.name) if rows is not None else _nodes(document, source.name))
    if not flat:
        return graph_of((), source.name, left_out)
    columns = tuple(dict.fromkeys(field for row in flat for field in row))
    cells = [
        (number, [_cell(row.get(field)) for field in columns])
        for number, row in enumerate(flat, start=1)
    ]
    table = Table(source.name, columns, iter(cells), tuple(cells[:SAMPLE_ROWS]), place=CLASS_PLACE)
    layout = recognised(columns, table.sample, TablePurpose.CLASSES, given, name=source.name)
    return graph_of(list(taxa_of(table, layout, left_out)), source.name, left_out)


def _listed(document: Any) -> list[Any] | None:
    """The objects of a list, or a single object with its parents; None for a tree."""
    for name in _LISTS if isinstance(document, dict) else ():
        if isinstance(document.get(name), list):
            return _with_parents(
                document[name], next((document[each] for each in _EDGES if each in document), ())
            )
    rows = document if isinstance(document, list) else [document]
    objects = [row for row in rows if isinstance(row, dict)]
    is_tree = any(row.get(name) for row in objects for name in _CHILDREN)
    has_parents = any(column_key(name) in _PARENTS for row in objects for name in row)
    return rows if len(objects) == len(rows) and has_parents and not is_tree else None


def _with_parents(nodes: list[Any], edges: Any) -> list[Any]:
    """Add the parents to the nodes of a graph, by its edges."""
    above: dict[str, list[Any]] = {}
    for edge in objects_in({CLASSES: edges}, CLASSES):
        above.setdefault(str(edge.get("target")), []).append(edge.get("source"))
    if not above:
        return nodes
    rows = [node if isinstance(node, dict) else {"id": node} for node in nodes]
    return [
        {"name": row.get("id"), **row, "parents": above.get(str(row.get("id")), [])} for row in rows
    ]


def _flat(rows: Sequence[Any], source_name: str) -> Iterator[JsonObject]:
    """Objects of a list without duplicates, preceded by parents that are objects."""
    seen: set[tuple[str, ...]] = set()
    for number, row in enumerate(rows, start=1):
        chain, inner = [row], row
        while isinstance(inner, dict) and isinstance(inner.get("parent"), dict):
            inner = inner["parent"]
            chain.append(inner)
        for above, each in pairwise([None, *reversed(chain)]):
            if not isinstance(each, dict):
                place = Message(CLASS_PLACE, {"number": number, "source_name": source_name})
                raise FormatError("{place} is not an object", found=_kind(each), place=place)
            flat = {**each, "parent": _cell(above.get("id", above.get("name")))} if above else each
            flat = {name: value for name, value in flat.items() if not isinstance(value, dict)}
            key = tuple(_cell(flat.get(name)) for name in ("id", "name", "parent"))
            if each is row or key not in seen:
                yield flat
            seen.add(key)


def _cell(value: Any) -> str:
    """A value as a cell; items of a list are separated by bars."""
    if isinstance(value, list):
        return " | ".join(re.sub(r"([\\|])", r"\\\1", _text_of(each)) for each in value)
    return _text_of(value)


def _text_of(value: Any) -> str:
    """A value as text; of an object its id or name."""
    found = value.get("id", value.get("name")) if isinstance(value, dict) else value
    return "" if found is None else str(found)


def to_json(graph: ImportedGraph) -> str:
    """Write a graph as JSON with one class per line, for diffs."""
    parents = graph.parent_keys
    lines = ",\n".join(
        json.dumps(_row(each, parents[each.key]), ensure_ascii=False) for each in graph.classes
    )
    return f'{{"{CLASSES}": [\n{lines}\n]}}\n'


def _row(each: ImportedClass, parents: list[str]) -> JsonObject:
    """A class with a "source_id" in any case, so that "id" is only a key."""
    attributes = {attribute.name: attribute.of(each.attributes) for attribute in IN_FILES}
    return {
        "id": each.key,
        "name": each.name,
        "parents": parents,
        SOURCE_ID: None,
        **{field: value for field, value in attributes.items() if value},
        **({Role.IDENTITY.value: each.identity} if each.identity else {}),
    }


def _nodes(document: Any, source_name: str) -> Iterator[JsonObject]:
    """Flatten a tree to objects with their paths as ids."""
    seen: set[str] = set()
    for path, row in _paths(document if isinstance(document, list) else [document], source_name):
        key = join_path(path)
        if key in seen:
            raise FormatError(
                '{source_name} has the class "{key}" twice',
                remedy="merge the two or rename one",
                source_name=source_name,
                key=key,
            )
        seen.add(key)
        attributes = {each.name: row.get(each.field_in(row)) for each in IN_FILES}
        source_id = row[SOURCE_ID] if SOURCE_ID in row else row.get("id")
        ids = {"id": key, "parent_id": join_path(path[:-1]), SOURCE_ID: source_id}
        yield {"name": path[-1], **attributes, **ids}


def _paths(roots: list[Any], source_name: str) -> Iterator[tuple[tuple[str, ...], JsonObject]]:
    pending: list[tuple[tuple[str, ...], Any]] = [((), node) for node in reversed(roots)]
    while pending:
        above, node = pending.pop()
        fields = {"above": join_path(above), "source_name": source_name}
        template = (
            marked('a class under "{above}" in {source_name}')
            if above
            else marked("a top class in {source_name}")
        )
        place = Message(template, fields)
        row = {"name": node} if isinstance(node, str) else node
        if not isinstance(row, dict):
            raise FormatError(
                "{place} is not an object",
                expected='{"name": ..., "children": [...]}',
                found=_kind(node),
                place=place,
            )
        name = next((row[field] for field in _NAMES if row.get(field)), row.get("name"))
        path = (*above, clean_name_at(place, _text(name, "name", place)))
        yield path, row
        below = next((name for name in _CHILDREN if row.get(name)), _CHILDREN[0])
        pending.extend((path, child) for child in reversed(_list(row, below, place)))


def _list(row: JsonObject, name: str, place: str) -> list[Any]:
    value = row.get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise FormatError(
            '"{name}" of {place} is not a list', found=_kind(value), name=name, place=place
        )
    return value


def _text(value: Any, name: str, place: str) -> str:
    if not isinstance(value, str):
        raise FormatError(
            '"{name}" of {place} is not a text', found=_kind(value), name=name, place=place
        )
    return value


def _kind(value: Any) -> str:
    kinds = {
        dict: marked("an object"),
        list: marked("a list"),
        str: marked("a text"),
        bool: marked("true or false"),
        type(None): marked("nothing"),
    }
    return kinds.get(type(value), marked("a number"))
