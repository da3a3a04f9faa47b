"""Commands by which taxonomies and their next versions come into a project, and its graph leaves for other programs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from engine.cli.options import ProjectPath
from engine.cli.output import AsJson, Overwrite, counted, list_text, say
from engine.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from engine.collection.importing.import_graph import GraphImport, GraphPreview
    from engine.interchange.versions.report import ImportReport, ReportKind, ReportLine


def import_graph(
    project: ProjectPath,
    source: Annotated[
        Path, typer.Argument(metavar="SOURCE", help="Folder or file with classes; docs/guide lists the formats.")
    ],
    *,
    graph_format: Annotated[str, typer.Option("--format", help="Format; detected by default.")] = "auto",
    under: Annotated[str | None, typer.Option(help="Only this class of the source and its descendants.")] = None,
    is_preview: Annotated[
        bool, typer.Option("--preview", help="Only say what would happen; nothing is written.")
    ] = False,
    updates: Annotated[
        bool,
        typer.Option(
            "--update", help="Take over what a new version of the source renamed, moved and merged; your edits stay."
        ),
    ] = False,
    removes_gone: Annotated[
        bool,
        typer.Option("--remove-gone", help="With --update: remove classes without labels that the source has no more."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Merge a taxonomy into the project's graph, or a later version of one."""
    from engine.collection.importing.import_graph import import_graph as run
    from engine.collection.importing.import_graph import preview_import
    from engine.interchange.detect import read_graph
    from engine.project import Project

    if removes_gone and not updates:
        raise UsageError("--remove-gone goes with --update", remedy="add --update, or leave --remove-gone out")
    if is_preview:
        with Project.open(project, for_writing=False) as opened:
            imported = read_graph(source, graph_format, under=under)
            preview = preview_import(opened, imported, source.name, updates=updates)
        say(_preview_text(preview), _preview_fields(preview), as_json=as_json)
        return
    with Project.open(project) as opened:
        done = run(opened, source, graph_format=graph_format, under=under, updates=updates, removes_gone=removes_gone)
        total = len(opened.classes.graph)
    say(_done_text(done, total), _done_fields(done, total), as_json=as_json)


def _preview_text(preview: "GraphPreview") -> str:
    report = preview.report
    levels = f"{counted(len(report.levels), 'level')} ({', '.join(f'{count:,}' for count in report.levels)})"
    found = f"{counted(report.classes, 'class', 'classes')}, {counted(report.edges, 'edge')}, {levels}"
    hint = ""
    if not report.is_update and preview.is_alike:
        was = "An earlier version of it was imported" if preview.is_known else "Many of its classes are here"
        hint = f"\n{was}: --update takes over what it renamed, moved and merged since."
    return f"{report.source} has {found}. Nothing was written.\n{_summary(report)}{_lists_text(report)}{hint}"


def _preview_fields(preview: "GraphPreview") -> "Mapping[str, Any]":
    return {
        **preview.report.plain(), "preview": True, "is_known": preview.is_known, "changes": preview.changes,
        "noted": preview.noted,
    }  # fmt: skip


def _done_text(done: "GraphImport", total: int) -> str:
    known = counted(done.aliases_added, "known class", "known classes")
    completed = f"completed the ids and synonyms of {known}; " if done.aliases_added else ""
    added = f"Added {counted(done.classes_added, 'class', 'classes')} and {counted(done.edges_added, 'edge')}"
    whole = f"the graph has {counted(total, 'class', 'classes')}."
    if done.report is None:
        return f"{added}; {completed}{whole}"
    removed = f"; removed {counted(done.classes_removed, 'class', 'classes')}" if done.classes_removed else ""
    stayed = list_text("Could not be merged or removed", done.stayed)
    return f"{_summary(done.report)}{removed}; {whole}{_lists_text(done.report)}{stayed}"


def _done_fields(done: "GraphImport", total: int) -> "Mapping[str, Any]":
    fields = {
        "classes_added": done.classes_added, "edges_added": done.edges_added, "aliases_added": done.aliases_added,
        "classes": total,
    }  # fmt: skip
    if done.report is None:
        return fields
    return {**fields, **done.report.plain(), "classes_removed": done.classes_removed, "stayed": list(done.stayed)}


def _summary(report: "ImportReport") -> str:
    counts = report.counts
    parts = [f"{counts['new']:,} new", f"{counts['renamed']:,} renamed", f"{counts['moved']:,} moved"]
    if report.is_update:
        parts += [f"{counts['merged']:,} merged", f"{counts['split']:,} split", f"{counts['gone']:,} gone"]
    return f"{', '.join(parts)}, {report.same:,} the same"


def _lists_text(report: "ImportReport") -> str:
    titles: Mapping[ReportKind, str] = {
        "new": "New",
        "renamed": "Renamed",
        "moved": "Moved" if report.is_update else "Under further parents",
        "merged": "Merged",
        "split": "Split in the source; the class and its labels stay",
        "gone": "Not in the source any more; kept (--remove-gone removes those without labels)",
        "removed_here": "Removed here before; not brought back",
        "kept": "Otherwise in the source; yours stays",
    }
    return "".join(
        list_text(title, [_line_text(line) for line in report.lists[kind]], report.counts[kind])
        for kind, title in titles.items()
    )


def _line_text(line: "ReportLine") -> str:
    becomes = f" -> {line.becomes}" if line.becomes else ""
    notes = [each for each in (line.why, counted(line.labels, "label") if line.labels else "") if each]
    return f"{line.path}{becomes}" + (f" ({'; '.join(notes)})" if notes else "")


def export_graph(
    project: ProjectPath,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write, such as classes.graphml.")],
    *,
    graph_format: Annotated[
        str, typer.Option("--format", help="json, csv, graphml, skos, dot or svg; by the file's suffix by default.")
    ] = "auto",
    is_dark: Annotated[bool, typer.Option("--dark", help="Draw an SVG on a dark ground.")] = False,
    is_overwriting: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Write the category graph for another program, or as a drawing."""
    from engine.collection.exporting.export_graph import export_graph as run
    from engine.project import Project

    with Project.open(project, for_writing=False) as opened:
        written = run(opened, out, graph_format, is_dark=is_dark, is_overwriting=is_overwriting)
    say(
        f"Wrote {counted(written.classes, 'class', 'classes')} and {counted(written.edges, 'edge')} to {out}.",
        {"classes": written.classes, "edges": written.edges, "format": written.format_name, "out": str(out)},
        as_json=as_json,
    )
