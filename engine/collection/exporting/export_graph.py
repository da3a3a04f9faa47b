"""Write a project's category graph in the format of another program: whole, or not at all."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine.collection.exporting.export import check_overwrites_nothing
from engine.errors import InputError, UsageError
from engine.full_disk import writing
from engine.graph_drawing.dot import dot_text
from engine.graph_drawing.layout import lay_out
from engine.graph_drawing.shown import first_opened, shown_graph
from engine.graph_drawing.svg import DARK, LIGHT, SVG_CARD, svg_text
from engine.interchange import csv_edges, json_tree
from engine.interchange.taxonomies import graphml, skos
from engine.interchange.taxonomies.outgoing import told
from engine.new_file import clear_abandoned_drafts, output_file
from engine.project import Project

AUTO: Final = "auto"
MOST_DRAWN: Final = 20_000
"""Classes of a drawing; of a larger graph the deepest branches are closed, each with the number of classes in it."""


@dataclass(frozen=True)
class GraphExportFormat:
    """A format that a category graph can be written in.

    Attributes:
        description: for a person, in a few words.
        suffix: of its files.
        content: what is written of a project; the flag says whether a drawing is dark.
        comes_back: whether an import of it gives the same graph again.
    """

    description: str
    suffix: str
    content: Callable[[Project, bool], bytes]
    comes_back: bool = True


@dataclass(frozen=True)
class WrittenGraph:
    """What was written: how many classes and edges, and in which format."""

    classes: int
    edges: int
    format_name: str


def _json(project: Project, _is_dark: bool) -> bytes:
    return json_tree.written(told(project.graph, project.details())).encode()


def _csv(project: Project, _is_dark: bool) -> bytes:
    return csv_edges.written(told(project.graph, project.details())).encode()


def _graphml(project: Project, _is_dark: bool) -> bytes:
    return graphml.written(told(project.graph, project.details()))


def _skos(project: Project, _is_dark: bool) -> bytes:
    return skos.written(told(project.graph, project.details())).encode()


def _dot(project: Project, _is_dark: bool) -> bytes:
    return dot_text(project.graph).encode()


def _svg(project: Project, is_dark: bool) -> bytes:
    graph = project.graph
    shown = shown_graph(graph, first_opened(graph, MOST_DRAWN))
    return svg_text(graph, shown, lay_out(shown, SVG_CARD), colours=DARK if is_dark else LIGHT).encode()


GRAPH_FORMATS: Final[Mapping[str, GraphExportFormat]] = {
    "json": GraphExportFormat("JSON: one class to a line, everything that is known of it", ".json", _json),
    "csv": GraphExportFormat("CSV: a table of children and parents, for spreadsheets", ".csv", _csv),
    "graphml": GraphExportFormat("GraphML: for Gephi, yEd, Cytoscape and igraph", ".graphml", _graphml),
    "skos": GraphExportFormat("SKOS: a thesaurus in Turtle", ".ttl", _skos),
    "dot": GraphExportFormat("DOT: for Graphviz", ".dot", _dot, comes_back=False),
    "svg": GraphExportFormat("SVG: a drawing, for papers and slides", ".svg", _svg, comes_back=False),
}
"""By name."""


def export_graph(project: Project, out: Path, format_name: str = AUTO, *, is_dark: bool = False) -> WrittenGraph:
    """Write the graph into a file.

    Args:
        project: may be open for reading only.
        out: the file; one that is there is replaced.
        format_name: a key of `GRAPH_FORMATS`, or "auto" to go by the file's suffix.
        is_dark: whether a drawing has dark colours.

    Raises:
        UsageError: there is no such format, or the suffix tells none.
        InputError: there are no classes, or the file is the project.
        StorageError: it cannot be written.
    """
    name = format_of(out) if format_name == AUTO else format_name
    if name not in GRAPH_FORMATS:
        raise UsageError(f'there is no graph format "{name}"', expected=f"one of {_names()}", remedy="choose one")
    if not len(project.graph):
        raise InputError("there are no classes to export", remedy="add or import classes first")
    check_overwrites_nothing(project, out)
    content = GRAPH_FORMATS[name].content(project, is_dark)
    with writing(out, "the graph cannot be written", "choose another folder"):
        clear_abandoned_drafts(out.parent)  # of exports that were killed
        with output_file(out) as file:
            file.write(content)
    return WrittenGraph(len(project.graph), project.graph.edge_count, name)


def format_of(out: Path) -> str:
    """The format that a file's suffix stands for.

    Raises:
        UsageError: it stands for none.
    """
    for name, each in GRAPH_FORMATS.items():
        if out.suffix.casefold() == each.suffix:
            return name
    raise UsageError(
        f'the suffix of "{out.name}" tells no graph format',
        expected=", ".join(each.suffix for each in GRAPH_FORMATS.values()),
        remedy=f"give the file such a name, or choose one of {_names()}",
    )


def _names() -> str:
    return ", ".join(GRAPH_FORMATS)
