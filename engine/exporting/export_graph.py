"""Atomic export of the category graph in the formats of other programs, or as a drawing."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from engine.collection.outputs import WRITTEN_BY, check_file
from engine.errors import InputError, UsageError
from engine.full_disk import writing
from engine.graph.category_graph import CategoryGraph, ClassId
from engine.graph_drawing.layout import lay_out
from engine.graph_drawing.shown import first_opened, shown_graph
from engine.graph_drawing.svg import DARK, LIGHT, SVG_CARD, dot_text, svg_text
from engine.interchange import csv_edges, json_tree
from engine.interchange.imported import exported_graph
from engine.interchange.taxonomies import checklist_archive, graphml, skos
from engine.new_file import clear_abandoned_drafts, output_file
from engine.project import Project
from engine.texts import enumerated

AUTO = "auto"
MOST_DRAWN = 20_000  # classes of a drawing; deepest branches of larger graphs are closed

Weights = Mapping[tuple[ClassId, ClassId], float]
"""Attention weight in [0, 1] by edge (parent, child)."""


@dataclass(frozen=True)
class GraphToWrite:
    """Snapshot of the graph to export."""

    graph: CategoryGraph
    weights: Weights = field(default_factory=dict)  # for drawings


@dataclass(frozen=True)
class GraphExportFormat:
    """An export format of category graphs."""

    description: str
    suffix: str
    content: Callable[[GraphToWrite], bytes]
    comes_back: bool = True  # lossless: an import gives the same graph


@dataclass(frozen=True)
class WrittenGraph:
    """Result of an export."""

    classes: int
    edges: int
    format_name: str


def drawing(content: GraphToWrite, *, is_dark: bool = False) -> bytes:
    """Draw the graph as SVG; the deepest branches of a very large one are closed."""
    shown = shown_graph(content.graph, first_opened(content.graph, MOST_DRAWN))
    colours = DARK if is_dark else LIGHT
    text = svg_text(
        content.graph, shown, lay_out(shown, SVG_CARD), colours=colours, weights=content.weights
    )
    return f"<!-- {WRITTEN_BY} -->\n{text}".encode()


GRAPH_FORMATS: Mapping[str, GraphExportFormat] = {
    "json": GraphExportFormat(
        "JSON: one class to a line, everything that is known of it",
        ".json",
        lambda content: json_tree.to_json(exported_graph(content.graph)).encode(),
    ),
    "csv": GraphExportFormat(
        "CSV: a table of children and parents, for spreadsheets",
        ".csv",
        lambda content: csv_edges.to_csv(exported_graph(content.graph)).encode(),
    ),
    "graphml": GraphExportFormat(
        "GraphML: for Gephi, yEd, Cytoscape and igraph",
        ".graphml",
        lambda content: graphml.to_graphml(exported_graph(content.graph)),
    ),
    "skos": GraphExportFormat(
        "SKOS: a thesaurus in Turtle",
        ".ttl",
        lambda content: f"# {WRITTEN_BY}\n{skos.to_turtle(exported_graph(content.graph))}".encode(),
    ),
    "darwin-core": GraphExportFormat(
        "Darwin Core: a checklist with names in languages, for GBIF and museums",
        ".zip",
        lambda content: checklist_archive.to_archive(
            exported_graph(content.graph), about=WRITTEN_BY
        ),
    ),
    "dot": GraphExportFormat(
        "DOT: for Graphviz",
        ".dot",
        lambda content: (
            f"// {WRITTEN_BY}\n{dot_text(content.graph, weights=content.weights)}".encode()
        ),
        comes_back=False,
    ),
    "svg": GraphExportFormat(
        "SVG: a drawing, for papers and slides", ".svg", drawing, comes_back=False
    ),
}
"""By name."""


def export_graph(
    project: Project,
    out: Path,
    format_name: str = AUTO,
    *,
    is_dark: bool = False,
    is_overwriting: bool = False,
) -> WrittenGraph:
    """Write a project's graph into a file.

    Args:
        out: an earlier export in this format is replaced.
        format_name: a key of `GRAPH_FORMATS`, or "auto" for that of the suffix.
        is_overwriting: also replace another file.

    Raises:
        UsageError: there is no such format, or none with the suffix.
        TakenError: another file exists.
        InputError: there are no classes, or the file is the project or one of its images.
        StorageError: it cannot be written.
    """
    name = format_of(out) if format_name == AUTO else format_name
    if name not in GRAPH_FORMATS:
        raise UsageError(
            'there is no graph format "{name}"',
            expected="one of {formats}",
            remedy="choose one",
            name=name,
            formats=enumerated(GRAPH_FORMATS),
        )
    content, written = (
        graph_to_write(project, out, name, is_overwriting=is_overwriting),
        GRAPH_FORMATS[name].content,
    )
    write_graph(out, drawing(content, is_dark=is_dark) if written is drawing else written(content))
    return WrittenGraph(len(content.graph), content.graph.edge_count, name)


def graph_to_write(
    project: Project,
    out: Path,
    kind: str,
    weights: Weights | None = None,
    *,
    is_overwriting: bool = False,
) -> GraphToWrite:
    """Copy the graph of a project; the kind is a key of `GRAPH_FORMATS`, or "png".

    Raises:
        TakenError: another file exists.
        InputError: there are no classes, or the file is the project or one of its images.
    """
    if not len(project.classes.graph):
        raise InputError("there are no classes to export", remedy="add or import classes first")
    check_file(out, f"graph-{kind}", project=project, is_overwriting=is_overwriting)
    return GraphToWrite(project.classes.graph.copy(), weights or {})


def write_graph(out: Path, content: bytes) -> None:
    """Write a file atomically.

    Raises:
        StorageError: it cannot be written.
    """
    with writing(out, "the graph cannot be written", "choose another folder"):
        clear_abandoned_drafts(out.parent)  # of exports that were killed
        with output_file(out) as file:
            file.write(content)


def format_of(out: Path) -> str:
    """The format by a file's suffix.

    Raises:
        UsageError: no format has it.
    """
    for name, each in GRAPH_FORMATS.items():
        if out.suffix.casefold() == each.suffix:
            return name
    raise UsageError(
        'the suffix of "{file}" is not that of a graph format',
        expected=enumerated(each.suffix for each in GRAPH_FORMATS.values()),
        remedy="give the file such a suffix, or choose one of {formats}",
        file=out.name,
        formats=enumerated(GRAPH_FORMATS),
    )
