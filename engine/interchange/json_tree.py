"""JSON in two forms: a tree of {"name", "children"}, or {"classes": [{"id", "name", "parents"}]}; export of the second.

Only in the second can a class have several parents, so that is what is written. A class's "id" is kept as its source
id, unless "source_id" stands beside it: then "id" only numbers the classes of the file, as in our own exports, where
"identity" tells each class from all others.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from engine.errors import FormatError
from engine.graph.class_attributes import IN_FILES, ClassAttributes
from engine.graph.identities import NO_IDENTITY, identity_in
from engine.graph.names import join_path
from engine.interchange.imported import Edge, ImportedClass, ImportedGraph, attributes_at, checked, clean_name_at
from engine.interchange.taxonomy_file import json_document, taxonomy_text
from engine.texts import Message, marked

CLASSES: Final = "classes"
SOURCE_ID: Final = "source_id"
IDENTITY: Final = "identity"


def read(source: Path) -> ImportedGraph:
    """Read a JSON file in either form; in a tree, a child without children may be just its name.

    The keys are the ids in the list (names where no id is given), paths in a tree.
    """
    document = json_document(taxonomy_text(source), source.name)
    if isinstance(document, dict) and CLASSES in document:
        return _from_list(document[CLASSES], source.name)
    return _from_tree(document, source.name)


def written(graph: ImportedGraph) -> str:
    """A graph as JSON text, one class to a line, so that versions can be compared line by line."""
    parents = graph.parent_keys
    lines = ",\n".join(json.dumps(_row(each, parents[each.key]), ensure_ascii=False) for each in graph.classes)
    return f'{{"{CLASSES}": [\n{lines}\n]}}\n'


def _row(each: ImportedClass, parents: list[str]) -> dict[str, Any]:
    """A class; "source_id" stands there in any case, so that "id" is only its number in the file."""
    attributes = {attribute.name: attribute.of(each.attributes) for attribute in IN_FILES}
    return {
        "id": each.key,
        "name": each.name,
        "parents": parents,
        SOURCE_ID: None,
        **{field: value for field, value in attributes.items() if value},
        **({IDENTITY: each.identity} if each.identity else {}),
    }


def _from_list(rows: Any, source_name: str) -> ImportedGraph:
    if not isinstance(rows, list):
        raise FormatError(
            '"{classes}" in {source_name} is not a list', found=_kind(rows), classes=CLASSES, source_name=source_name
        )
    classes: dict[str, ImportedClass] = {}
    parents: dict[str, list[str]] = {}
    for number, row in enumerate(rows, start=1):
        place = Message("class {number} in {source_name}", {"number": number, "source_name": source_name})
        if not isinstance(row, dict):
            raise FormatError("{place} is not an object", found=_kind(row), place=place)
        name = clean_name_at(place, _text(row.get("name"), "name", place))
        key = _key(row["id"], "id", place) if "id" in row else name
        if key in classes:
            raise FormatError(
                "{place} has the id of an earlier class", found=f'"{key}"', remedy="give it its own id", place=place
            )
        identity = row.get(IDENTITY)
        known = identity_in(identity) if isinstance(identity, str) else NO_IDENTITY
        classes[key] = ImportedClass(key, name, _attributes(row, name, place), known)
        parents[key] = [_key(each, "parents", place) for each in _list(row, "parents", place)]
    for key, above in parents.items():
        if missing := next((each for each in above if each not in classes), None):
            raise FormatError(
                '{place} has the parent "{key}", which is no class there',
                remedy="add that class",
                place=_at(classes[key].name, source_name),
                key=missing,
            )
    edges = dict.fromkeys((parent, key) for key, above in parents.items() for parent in above)
    return checked(classes.values(), edges, source_name)


def _from_tree(document: Any, source_name: str) -> ImportedGraph:
    classes: dict[str, ImportedClass] = {}
    edges: list[Edge] = []
    for path, row in _paths(document if isinstance(document, list) else [document], source_name):
        key = join_path(path)
        if key in classes:
            raise FormatError(
                '{source_name} has the class "{key}" twice',
                remedy="join the two or rename one",
                source_name=source_name,
                key=key,
            )
        classes[key] = ImportedClass(key, path[-1], _attributes(row, path[-1], _at(key, source_name)))
        if len(path) > 1:
            edges.append((join_path(path[:-1]), key))
    return checked(classes.values(), edges, source_name)


def _paths(roots: list[Any], source_name: str) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    waiting: list[tuple[tuple[str, ...], Any]] = [((), node) for node in reversed(roots)]
    while waiting:
        above, node = waiting.pop()
        fields = {"above": join_path(above), "source_name": source_name}
        template = (
            marked('a class under "{above}" in {source_name}') if above else marked("a top class in {source_name}")
        )
        place = Message(template, fields)
        row = {"name": node} if isinstance(node, str) else node
        if not isinstance(row, dict):
            raise FormatError(
                "{place} is not an object", expected='{"name": ..., "children": [...]}', found=_kind(node), place=place
            )
        path = (*above, clean_name_at(place, _text(row.get("name"), "name", place)))
        yield path, row
        waiting.extend((path, child) for child in reversed(_list(row, "children", place)))


def _at(name: str, source_name: str) -> Message:
    return Message('"{name}" in {source_name}', {"name": name, "source_name": source_name})


def _attributes(row: dict[str, Any], name: str, place: str) -> ClassAttributes:
    values: dict[str, str | tuple[str, ...]] = {}
    for each in IN_FILES:
        field = each.field_in(row)
        if isinstance(each.default, tuple):
            values[each.name] = tuple(_text(part, field, place) for part in _list(row, field, place))
        elif each.name != SOURCE_ID:
            values[each.name] = _text(row.get(field) or "", field, place)
    field = SOURCE_ID if SOURCE_ID in row else "id"
    if row.get(field) is not None:
        values[SOURCE_ID] = _key(row[field], field, place)
    return attributes_at(place, name, **values)


def _list(row: dict[str, Any], name: str, place: str) -> list[Any]:
    value = row.get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise FormatError('"{name}" of {place} is not a list', found=_kind(value), name=name, place=place)
    return value


def _text(value: Any, name: str, place: str) -> str:
    if not isinstance(value, str):
        raise FormatError('"{name}" of {place} is not a text', found=_kind(value), name=name, place=place)
    return value


def _key(value: Any, name: str, place: str) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise FormatError(
            '"{name}" of {place} is no id',
            expected="a text or a whole number",
            found=_kind(value),
            name=name,
            place=place,
        )
    return str(value)


def _kind(value: Any) -> str:
    kinds = {
        dict: marked("an object"), list: marked("a list"), str: marked("a text"), bool: marked("true or false"),
        type(None): marked("nothing"),
    }  # fmt: skip
    return kinds.get(type(value), marked("a number"))
