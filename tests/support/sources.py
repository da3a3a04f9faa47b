"""Taxonomies as read from files, in one line of code, and their next versions."""

from collections.abc import Mapping, Sequence

from engine.graph.category_graph import CategoryGraph
from engine.graph.class_attributes import ClassAttributes
from engine.interchange.imported import ImportedClass, ImportedGraph
from engine.interchange.versions.plan import merge_into
from engine.interchange.versions.source_version import SourceVersion, version_of


def source_of(
    parents_of: Mapping[str, Sequence[str]],
    *,
    ids: Mapping[str, str] | None = None,
    synonyms: Mapping[str, Sequence[str]] | None = None,
) -> ImportedGraph:
    """A source: {"Animal": [], "Bird": ["Animal"]}. "Bird/Other" is a key of the name "Other"."""
    ids, synonyms = ids or {}, synonyms or {}
    classes = [
        ImportedClass(
            key,
            key.rsplit("/", 1)[-1],
            ClassAttributes(ids.get(key, ""), tuple(synonyms.get(key, ()))),
        )
        for key in parents_of
    ]
    return ImportedGraph(
        tuple(classes), tuple((top, key) for key, parents in parents_of.items() for top in parents)
    )


def imported_project(
    source: ImportedGraph, name: str = "v1.csv"
) -> tuple[CategoryGraph, SourceVersion]:
    """A graph with an imported source, and the stored source."""
    graph = CategoryGraph()
    return graph, version_of(name, source, merge_into(graph, source))
