"""The command by which taxonomies come into a project, looked through first if one likes, and their next versions."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from engine.cli.graph_commands import ProjectPath
from engine.cli.output import AsJson, counted, say
from engine.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from engine.collection.importing.import_graph import GraphImport, GraphPreview
    from engine.interchange.versions.report import ImportReport, ReportKind, ReportLine

MOST_SHOWN: Final = 20
"""Lines of each list; `--json` has them all."""


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
    stayed = _list_text("Could not be merged or removed", done.stayed, len(done.stayed))
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
        _list_text(title, [_line_text(line) for line in report.lists[kind]], report.counts[kind])
        for kind, title in titles.items()
    )


def _line_text(line: "ReportLine") -> str:
    becomes = f" -> {line.becomes}" if line.becomes else ""
    notes = [each for each in (line.why, counted(line.labels, "label") if line.labels else "") if each]
    return f"{line.path}{becomes}" + (f" ({'; '.join(notes)})" if notes else "")


def _list_text(title: str, lines: "Sequence[str]", total: int) -> str:
    if not lines:
        return ""
    shown = [f"\n  {line}" for line in lines[:MOST_SHOWN]]
    more = [f"\n  and {total - MOST_SHOWN:,} more"] if total > MOST_SHOWN else []
    return f"\n{title} ({total:,}):" + "".join(shown + more)


def register(application: typer.Typer) -> None:
    """Add this command to the program."""
    application.command("import-graph")(import_graph)
