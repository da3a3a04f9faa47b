"""GraphML (Gephi, yEd, Cytoscape, igraph): nodes are classes, edges lead from parent to child.

If a file does not state which end of an edge is the parent, it is guessed: a taxonomy has fewer
roots than leaves.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from lxml import etree

from engine.errors import FormatError
from engine.graph.class_attributes import IN_FILES
from engine.graph.identities import identity_in
from engine.interchange.imported import (
    Edge,
    ImportedClass,
    ImportedGraph,
    attributes_at,
    clean_name_at,
    disambiguated,
)
from engine.interchange.taxonomy_file import taxonomy_tree
from engine.interchange.xml_files import Element, xml_text
from engine.texts import line_of

NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
NAMES = ("label", "name", "shared name")
"""Attributes with the name of a node, in order; the fallback is its id."""
DIRECTION = "edges"  # attribute of the graph: direction of its edges
DOWN = "from parent to child"
IDENTITY = "identity"
_FIELDS = ("label", *(each.name for each in IN_FILES), IDENTITY)
_YED_NAME = "NodeLabel"
_RELATIONS = ("relation", "interaction", "label", "type")  # attributes of an edge
_UP_RELATIONS = frozenset(
    {"is_a", "isa", "subclassof", "subclass of", "broader", "parent", "child_of"}
)


@dataclass(frozen=True)
class _Node:
    place: str  # for messages
    fields: Mapping[str, str]


_Link = tuple[str, str, str]  # source, target and relation of an edge


def read(source: Path) -> ImportedGraph:
    """Read a directed graph; the keys are the nodes' ids."""
    root = taxonomy_tree(source).getroot()
    graph = next(_children(root, "graph"), None)
    if _tag(root) != "graphml" or graph is None:
        raise FormatError(
            "{source} is not GraphML",
            expected="<graphml> with a <graph> in it",
            found=f"<{_tag(root)}>",
            source=source.name,
        )
    _check_directed(graph, source.name)
    meaning = {key.get("id"): key.get("attr.name", "").casefold() for key in _children(root, "key")}
    nodes = _nodes(graph, meaning, source.name)
    edges = _directed(list(_edges(graph, nodes, meaning, source.name)), _fields(graph, meaning))
    names = {}
    for key, node in nodes.items():
        name = next((node.fields[field] for field in NAMES if node.fields.get(field)), key)
        names[key] = clean_name_at(node.place, name)
    return disambiguated(names, edges, source.name, lambda key, name: _class(key, nodes[key], name))


def to_graphml(graph: ImportedGraph) -> bytes:
    """Write a graph as GraphML."""
    root = etree.Element(f"{{{NAMESPACE}}}graphml", nsmap={None: NAMESPACE})
    for scope, name in (("graph", DIRECTION), *(("node", field) for field in _FIELDS)):
        etree.SubElement(
            root,
            f"{{{NAMESPACE}}}key",
            {"id": name, "for": scope, "attr.name": name, "attr.type": "string"},
        )
    drawn = etree.SubElement(root, f"{{{NAMESPACE}}}graph", id="classes", edgedefault="directed")
    _add_data(drawn, DIRECTION, DOWN)
    for each in graph.classes:
        node = etree.SubElement(drawn, f"{{{NAMESPACE}}}node", id=f"c{each.key}")
        _add_data(node, "label", each.name)
        for attribute in IN_FILES:
            value = attribute.of(each.attributes)
            _add_data(
                node,
                attribute.name,
                json.dumps(value, ensure_ascii=False) if isinstance(value, tuple) else value,
            )
        _add_data(node, IDENTITY, each.identity)
    for parent, child in graph.edges:
        etree.SubElement(drawn, f"{{{NAMESPACE}}}edge", source=f"c{parent}", target=f"c{child}")
    return bytes(etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True))


def _add_data(parent: Element, field: str, text: str) -> None:
    if text:
        etree.SubElement(parent, f"{{{NAMESPACE}}}data", key=field).text = xml_text(text)


def _tag(element: Element) -> str:
    """The tag without its namespace; "" for a comment or an instruction."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _children(element: Element, tag: str) -> Iterator[Element]:
    return (child for child in element if _tag(child) == tag)


def _check_directed(graph: Element, source_name: str) -> None:
    lines = [
        edge.sourceline for edge in _children(graph, "edge") if edge.get("directed") == "false"
    ]
    if graph.get("edgedefault") == "undirected" or lines:
        place = line_of(lines[0], source_name) if lines else source_name
        raise FormatError(
            "{place} has edges without a direction",
            expected='edgedefault="directed"',
            remedy="save it as a directed graph",
            place=place,
        )


def _fields(element: Element, meaning: Mapping[str, str]) -> dict[str, str]:
    """Data of a node, an edge or the graph, by attribute."""
    fields: dict[str, str] = {}
    for data in _children(element, "data"):
        shown = [each.text or "" for each in data.iter() if _tag(each) == _YED_NAME]
        name = NAMES[0] if shown else meaning.get(data.get("key"), "")
        fields.setdefault(name, (shown[0] if shown else data.text or "").strip())
    return fields


def _nodes(graph: Element, meaning: Mapping[str, str], source_name: str) -> dict[str, _Node]:
    nodes: dict[str, _Node] = {}
    for element in _children(graph, "node"):
        key, place = element.get("id"), line_of(element.sourceline, source_name)
        if not key:
            raise FormatError("{place} has a node without an id", place=place)
        if key in nodes:
            raise FormatError(
                "{place} has the same id as an earlier node",
                found=key,
                remedy="give it its own id",
                place=place,
            )
        if next(_children(element, "graph"), None) is not None:
            raise FormatError(
                "{place} has a graph within a node",
                remedy="open the groups, and save it again",
                place=place,
            )
        nodes[key] = _Node(place, _fields(element, meaning))
    return nodes


def _edges(
    graph: Element, nodes: Mapping[str, _Node], meaning: Mapping[str, str], source_name: str
) -> Iterator[_Link]:
    for element in _children(graph, "edge"):
        ends = [element.get("source", ""), element.get("target", "")]
        for end in ends:
            if end not in nodes:
                place = line_of(element.sourceline, source_name)
                raise FormatError(
                    '{place} has an edge to "{end}", which is not a node there',
                    remedy="add that node",
                    place=place,
                    end=end,
                )
        fields = _fields(element, meaning)
        relation = next((fields[name] for name in _RELATIONS if fields.get(name)), "")
        yield ends[0], ends[1], relation.casefold()


def _directed(links: list[_Link], attributes: Mapping[str, str]) -> tuple[Edge, ...]:
    starts, ends, relations = ({link[at] for link in links} for at in range(3))
    if attributes.get(DIRECTION) == DOWN:
        leads_up = False
    elif relations and relations <= _UP_RELATIONS:
        leads_up = True
    else:
        leads_up = len(starts - ends) > len(ends - starts)
    pairs = ((end, start) if leads_up else (start, end) for start, end, _ in links)
    return tuple(dict.fromkeys(pairs))


def _class(key: str, node: _Node, name: str) -> ImportedClass:
    values: dict[str, str | tuple[str, ...]] = {}
    for each in IN_FILES:
        text = node.fields.get(each.field_in(node.fields), "")
        values[each.name] = _synonyms(text) if isinstance(each.default, tuple) else text
    attributes = attributes_at(node.place, name, **values)
    return ImportedClass(key, name, attributes, identity_in(node.fields.get(IDENTITY, "")))


def _synonyms(text: str) -> tuple[str, ...]:
    """Parse our list of synonyms; another program's text is one synonym."""
    try:
        found = json.loads(text) if text.startswith("[") else [text]
    except (ValueError, RecursionError):
        found = [text]
    return tuple(each for each in found if isinstance(each, str)) if isinstance(found, list) else ()
