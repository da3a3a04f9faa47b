"""The part of an imported graph that somebody wants: below one class, or around some classes."""

from collections.abc import Collection
from typing import final

from engine.graph.category_graph import CategoryGraph
from engine.graph.edits import ClassAdded, EdgeAdded
from engine.graph.traversal import reachable
from engine.interchange.imported import ImportedGraph


def restricted(imported: ImportedGraph, *, under: str | None = None, only: Collection[str] = ()) -> ImportedGraph:
    """Keep a part of an imported graph.

    Args:
        imported: the whole, checked.
        under: a key, name, path or synonym: only that class and what is below it.
        only: likewise: only these classes and what is above them, within `under` if both are given.

    Returns:
        The part, in the order of the whole; the whole when neither is given.

    Raises:
        UnknownClassError: a text fits no class.
        AmbiguousClassError: a text fits several.
    """
    if under is None and not only:
        return imported
    lookup = _Lookup(imported)
    kept = {each.key for each in imported.classes}
    if under is not None:
        kept = _with_all(lookup.children, {lookup.find(under)})
    if only:
        kept &= _with_all(lookup.parents, {lookup.find(text) for text in only})
    return ImportedGraph(
        tuple(each for each in imported.classes if each.key in kept),
        tuple(edge for edge in imported.edges if edge[0] in kept and edge[1] in kept),
    )


def _with_all(neighbours: dict[str, list[str]], keys: set[str]) -> set[str]:
    return keys | reachable(neighbours.__getitem__, *keys)


@final
class _Lookup:
    """Finds imported classes by all that they are called, and their neighbours."""

    def __init__(self, imported: ImportedGraph) -> None:
        self._imported = imported
        self._graph: CategoryGraph | None = None
        self._key_of: dict[int, str] = {}
        self.parents = imported.parent_keys()
        self.children: dict[str, list[str]] = {key: [] for key in self.parents}
        for parent, child in imported.edges:
            self.children[parent].append(child)

    def find(self, text: str) -> str:
        """The key of the class whose key, name, path or else synonym this is."""
        if text in self.parents:
            return text
        found = self._graph_of_names().find(text)
        return self._key_of[found]

    def _graph_of_names(self) -> CategoryGraph:
        """Names and paths are looked up as in a project; keys, the usual case for big sources, need no graph."""
        if self._graph is None:
            self._key_of = dict(enumerate(self.parents, start=1))
            id_of = {key: class_id for class_id, key in self._key_of.items()}
            self._graph = CategoryGraph()
            self._graph.apply(
                ClassAdded(id_of[each.key], each.name, each.attributes) for each in self._imported.classes
            )
            self._graph.apply(EdgeAdded(id_of[parent], id_of[child]) for parent, child in self._imported.edges)
        return self._graph
