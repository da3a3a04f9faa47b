"""A project's graph as a file would tell it: what every format is written from."""

from collections.abc import Mapping
from typing import Protocol

from engine.graph.category_graph import CategoryGraph, ClassId
from engine.interchange.imported import ImportedClass, ImportedGraph


class Described(Protocol):
    """What people noted about a class."""

    @property
    def note(self) -> str:
        """Some lines of text, or ""."""

    @property
    def colour(self) -> str:
        """Such as "#a0b1c2", or ""."""


def exported_graph(graph: CategoryGraph, details: Mapping[ClassId, Described] | None = None) -> ImportedGraph:
    """What there is to be written of a graph.

    Args:
        graph: the category graph.
        details: notes and colours, of classes that have any.

    Returns:
        Every class, the oldest first, and every edge; the key is the number of the class.
    """
    described = details or {}
    classes = []
    for class_id in graph.classes():
        own = described.get(class_id)
        note, colour = (own.note, own.colour) if own else ("", "")
        classes.append(ImportedClass(str(class_id), graph.name(class_id), graph.aliases(class_id), note, colour))
    return ImportedGraph(tuple(classes), tuple((str(parent), str(child)) for parent, child in graph.edges()))
