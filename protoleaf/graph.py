"""A category graph from a networkx graph, pairs of parent and child, or a file."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from engine.errors import FormatError
from engine.graph.category_graph import CategoryGraph
from engine.graph.names import clean_name
from engine.interchange.imported import ImportedClass, ImportedGraph
from engine.interchange.versions.plan import merge_into

if TYPE_CHECKING:
    from networkx import DiGraph

    Edges: TypeAlias = DiGraph[Hashable] | Iterable[tuple[Hashable, Hashable]]
    GraphSource: TypeAlias = CategoryGraph | Edges | str | PathLike[str]


def category_graph(source: GraphSource) -> CategoryGraph:
    """Make a category graph.

    >>> graph = category_graph([("animal", "cat"), ("animal", "dog"), ("pet", "cat")])
    >>> [graph.name(class_id) for class_id in graph.roots()]
    ['animal', 'pet']

    Args:
        source: pairs (parent, child); a `networkx.DiGraph` with edges from parent to child; the
            path of a file that `protoleaf import-graph` reads (table, JSON, OBO, SKOS, Darwin
            Core, ...) or of nested folders; or a category graph, which is returned as it is. `str`
            of a node names its class.

    Raises:
        CycleError: a class would be its own ancestor.
        FormatError: the file has no known format, or an edge is not a pair.
        InputError: a name cannot be used.
        StorageError: the file cannot be read.
    """
    if isinstance(source, CategoryGraph):
        return source
    graph = CategoryGraph()
    if isinstance(source, str | PathLike):
        from engine.interchange.detect import read_graph

        merge_into(graph, read_graph(Path(source)))
    else:
        merge_into(graph, _imported(source))
    return graph


def _imported(source: Edges) -> ImportedGraph:
    edges = list(dict.fromkeys(map(_pair, getattr(source, "edges", source))))
    nodes = map(str, getattr(source, "nodes", ()))
    names = dict.fromkeys([*nodes, *(name for edge in edges for name in edge)])
    return ImportedGraph(
        tuple(ImportedClass(name, clean_name(name)) for name in names), tuple(edges)
    )


def _pair(edge: object) -> tuple[str, str]:
    parts = tuple(edge) if isinstance(edge, Iterable) and not isinstance(edge, str) else ()
    match parts:
        case parent, child:
            return str(parent), str(child)
    raise FormatError("an edge is not a pair", expected="(parent, child)", found=repr(edge))
