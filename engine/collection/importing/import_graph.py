"""Bring a taxonomy into a project."""

from dataclasses import dataclass, replace
from pathlib import Path

from engine.graph.category_graph import CategoryGraph
from engine.interchange.detect import read_graph
from engine.interchange.merge import MergeResult, merge_into
from engine.project import BackupReason, Change, Project
from engine.project.action_texts import imported_text


@dataclass(frozen=True)
class GraphImport:
    """What came of it; see `MergeResult`."""

    change: Change
    classes_added: int
    edges_added: int
    aliases_added: int = 0


def import_graph(
    project: Project, source: Path, *, graph_format: str = "auto", under: str | None = None
) -> GraphImport:
    """Merge the classes and edges of `source` into the project's graph, as one undoable step.

    Args:
        project: open for writing.
        source: file or folder.
        graph_format: one of `engine.interchange.detect.FORMATS`, or "auto".
        under: take only this class of the source and what is below it.

    Raises:
        FormatError, GraphError, StorageError: the source cannot be used; the project is as it was.
    """
    imported = read_graph(source, graph_format, under=under)
    results: list[MergeResult] = []

    def merge(graph: CategoryGraph) -> None:
        results.append(merge_into(graph, imported))

    notice = project.back_up_before(BackupReason.MERGE) if len(project.graph) else ""
    with project.one_step("") as step:
        project.import_graph(merge, f"Imported {source.name}")
        (result,) = results
        step.text = imported_text(source.name, result.classes_added, result.edges_added, result.aliases_added)
    change = replace(step.change, notice=notice)
    return GraphImport(change, result.classes_added, result.edges_added, result.aliases_added)
