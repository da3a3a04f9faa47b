"""The commands `import-graph`, `export-graph` and `what-if`."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from engine.cli.options import Columns, ProjectPath, named_columns, open_project
from engine.cli.output import Overwrite, list_text, print_result
from engine.config import CacheFolders
from engine.errors import UsageError
from engine.graph.codes import NO_CLASS, UNKNOWN
from engine.texts import counted

if TYPE_CHECKING:
    from engine.collection.importing.import_graph import GraphImport, GraphPreview
    from engine.graph.category_graph import CategoryGraph
    from engine.interchange.imported import LeftOutGroup
    from engine.interchange.versions.plan import ImportReport, ReportKind, ReportLine
    from engine.project import Change, Project
    from engine.review.what_if import WhatIfOutcome


def import_graph(
    project: ProjectPath,
    source: Annotated[
        Path,
        Argument(
            metavar="SOURCE", help="Folder or file with classes; docs/guide lists the formats."
        ),
    ],
    *,
    graph_format: Annotated[str, Option("--format", help="Format; detected by default.")] = "auto",
    under: Annotated[
        str | None, Option(help="Only this class of the source and its descendants.")
    ] = None,
    columns: Columns = None,
    is_preview: Annotated[
        bool, Option("--preview", help="Preview the import; nothing is written.")
    ] = False,
    updates: Annotated[
        bool,
        Option(
            "--update",
            help="Apply what a new version of the source renamed, moved and merged; your "
            "edits are kept.",
        ),
    ] = False,
    removes_gone: Annotated[
        bool,
        Option(
            "--remove-gone",
            help="With --update: remove unlabelled classes that are no longer in the source.",
        ),
    ] = False,
) -> None:
    """Import a taxonomy, or a new version of one."""
    from engine.collection.importing.import_graph import import_graph as run
    from engine.collection.importing.import_graph import preview_import
    from engine.interchange.detect import read_graph

    if removes_gone and not updates:
        raise UsageError(
            "--remove-gone goes with --update", remedy="add --update, or leave --remove-gone out"
        )
    named = named_columns(columns)
    if is_preview:
        with open_project(project, for_writing=False) as opened:
            imported = read_graph(source, graph_format, under=under, columns=named)
            preview = preview_import(opened, imported, source.name, updates=updates)
        print_result(_preview_text(preview), _preview_fields(preview))
        return
    with open_project(project) as opened:
        done = run(
            opened,
            source,
            graph_format=graph_format,
            under=under,
            updates=updates,
            removes_gone=removes_gone,
            columns=named,
        )
        total = len(opened.classes.graph)
    print_result(_done_text(done, total), _done_fields(done, total))


def _preview_text(preview: "GraphPreview") -> str:
    report = preview.report
    levels = (
        f"{counted(len(report.levels), 'level')} "
        f"({', '.join(f'{count:,}' for count in report.levels)})"
    )
    found = (
        f"{counted(report.classes, 'class', 'classes')}, {counted(report.edges, 'edge')}, {levels}"
    )
    hint = ""
    if not report.is_update and preview.is_alike:
        was = (
            "An earlier version of it was imported"
            if preview.is_known
            else "Many of its classes are here"
        )
        hint = f"\n{was}: --update applies what it renamed, moved and merged since."
    begins = list_text("Such as", report.first_classes) + list_text(
        "Synonyms", report.first_synonyms, report.synonyms
    )
    lists = f"{_lists_text(report)}{_left_out_text(report.left_out)}"
    return (
        f"{report.source} has {found}. Nothing was "
        f"written.\n{_summary(report)}{begins}{lists}{hint}"
    )


def _left_out_text(groups: "Sequence[LeftOutGroup]") -> str:
    return "".join(list_text(f"Left out: {each.reason}", each.names, each.count) for each in groups)


def _preview_fields(preview: "GraphPreview") -> Mapping[str, Any]:
    return {
        **preview.report.plain(),
        "preview": True,
        "is_known": preview.is_known,
        "changes": preview.changes,
        "noted": preview.noted,
    }


def _done_text(done: "GraphImport", total: int) -> str:
    known = counted(done.aliases_added, "known class", "known classes")
    completed = f"completed the ids and synonyms of {known}; " if done.aliases_added else ""
    added = (
        f"Added {counted(done.classes_added, 'class', 'classes')} and "
        f"{counted(done.edges_added, 'edge')}"
    )
    whole = f"the graph has {counted(total, 'class', 'classes')}."
    left_out = _left_out_text(done.left_out)
    if done.report is None:
        return f"{added}; {completed}{whole}{left_out}"
    removed = (
        f"; removed {counted(done.classes_removed, 'class', 'classes')}"
        if done.classes_removed
        else ""
    )
    stayed = list_text("Could not be merged or removed", done.stayed)
    return f"{_summary(done.report)}{removed}; {whole}{_lists_text(done.report)}{stayed}{left_out}"


def _done_fields(done: "GraphImport", total: int) -> Mapping[str, Any]:
    from engine.interchange.imported import left_out_plain

    fields = {
        "classes_added": done.classes_added,
        "edges_added": done.edges_added,
        "aliases_added": done.aliases_added,
        "classes": total,
        "left_out": left_out_plain(done.left_out),
    }
    if done.report is None:
        return fields
    return {
        **fields,
        **done.report.plain(),
        "classes_removed": done.classes_removed,
        "stayed": list(done.stayed),
    }


def _summary(report: "ImportReport") -> str:
    counts = report.counts
    parts = [
        f"{counts['new']:,} new",
        f"{counts['renamed']:,} renamed",
        f"{counts['moved']:,} moved",
    ]
    if report.is_update:
        parts += [
            f"{counts['merged']:,} merged",
            f"{counts['split']:,} split",
            f"{counts['gone']:,} gone",
        ]
    return f"{', '.join(parts)}, {report.same:,} the same"


def _lists_text(report: "ImportReport") -> str:
    titles: Mapping[ReportKind, str] = {
        "new": "New",
        "renamed": "Renamed",
        "moved": "Moved" if report.is_update else "With additional parents",
        "merged": "Merged",
        "split": "Split in the source; the class and its labels stay",
        "gone": "Not in the source any more; kept (--remove-gone removes those without labels)",
        "removed_here": "Removed here before; not brought back",
        "kept": "Different in the source; yours is kept",
    }
    return "".join(
        list_text(title, [_line_text(line) for line in report.lists[kind]], report.counts[kind])
        for kind, title in titles.items()
    )


def _line_text(line: "ReportLine") -> str:
    becomes = f" -> {line.becomes}" if line.becomes else ""
    notes = [
        each for each in (line.why, counted(line.labels, "label") if line.labels else "") if each
    ]
    return f"{line.path}{becomes}" + (f" ({'; '.join(notes)})" if notes else "")


def export_graph(
    project: ProjectPath,
    out: Annotated[
        Path, Argument(metavar="OUT", help="The file to write, such as classes.graphml.")
    ],
    *,
    graph_format: Annotated[
        str,
        Option(
            "--format",
            help="json, csv, graphml, skos, dot or svg; by default from the file's suffix.",
        ),
    ] = "auto",
    is_dark: Annotated[bool, Option("--dark", help="Draw an SVG with a dark background.")] = False,
    is_overwriting: Overwrite = False,
) -> None:
    """Export the category graph."""
    from engine.exporting.export_graph import export_graph as run

    with open_project(project, for_writing=False) as opened:
        written = run(opened, out, graph_format, is_dark=is_dark, is_overwriting=is_overwriting)
    print_result(
        f"Wrote {counted(written.classes, 'class', 'classes')} and "
        f"{counted(written.edges, 'edge')} to {out}.",
        {
            "classes": written.classes,
            "edges": written.edges,
            "format": written.format_name,
            "out": str(out),
        },
    )


Pairs = list[str]  # of classes, each as "Apple=Fruit"
MOVES_SHOWN = 12  # in the text; the JSON has all


def what_if(
    project: ProjectPath,
    unlink: Annotated[
        Pairs | None, Option(metavar="CLASS=PARENT", help="Remove a class from a parent.")
    ] = None,
    link: Annotated[
        Pairs | None, Option(metavar="CLASS=PARENT", help="Add a parent to a class.")
    ] = None,
    merge: Annotated[
        Pairs | None, Option(metavar="CLASS=INTO", help="Merge a class into another.")
    ] = None,
) -> None:
    """Report the effect of edits of the graph on predictions and accuracy."""
    from engine.collection.live import LiveCollection
    from engine.review.what_if import begin_what_if, outcome_of

    if not (unlink or link or merge):
        raise UsageError(
            "there are no edits to try out",
            expected="--unlink, --link or --merge",
            remedy="name an edit",
        )
    live = LiveCollection.open(project, CacheFolders.default(), for_writing=False)
    try:
        live.load()
        before = begin_what_if(live)
        names = {
            class_id: live.project.classes.graph.name(class_id)
            for class_id in live.project.classes.graph.classes()
        }
        for edit in _edits(live.project.classes.graph, unlink or (), link or (), merge or ()):
            live.apply(edit(live.project))
        outcome = outcome_of(live, before)
        live.project.what_if.discard()
    finally:
        live.close()
    print_result(_what_if_text(outcome, names), _what_if_fields(outcome, names))


def _edits(
    graph: "CategoryGraph", unlink: Sequence[str], link: Sequence[str], merge: Sequence[str]
) -> "Iterator[Callable[[Project], Change]]":
    """All edits, in this order; classes are looked up lazily."""

    def edits_of(
        pairs: Sequence[str], edit: "Callable[[int, int, Project], Change]"
    ) -> "Iterator[Callable[[Project], Change]]":
        for pair in pairs:
            name, sign, other = pair.partition("=")
            if not sign:
                raise UsageError(
                    "an edit takes two classes", expected="such as Apple=Fruit", found=pair
                )
            yield partial(edit, graph.find(name), graph.find(other))

    yield from edits_of(
        unlink, lambda class_id, parent_id, project: project.classes.unlink([(parent_id, class_id)])
    )
    yield from edits_of(
        link, lambda class_id, parent_id, project: project.classes.link(parent_id, [class_id])
    )
    yield from edits_of(
        merge, lambda class_id, heir_id, project: project.classes.merge([class_id], heir_id)
    )


def _what_if_text(outcome: "WhatIfOutcome", names: dict[int, str]) -> str:
    changes, called = outcome.changes, partial(_called, names)
    images, more = (
        counted(changes.other_class, "image"),
        counted(changes.other_safe_class, "more image"),
    )
    lines = [f"{images} would change class, {more} would change safe class only."]
    lines += [
        f"{len(move.image_ids):6,}  {called(move.before)} -> {called(move.after)}"
        f"{' (safe class)' if move.is_safe_class else ''}"
        for move in changes.moves[:MOVES_SHOWN]
    ]
    held_out = outcome.held_out
    if held_out is not None and held_out.images:
        low, high = held_out.interval
        before, after = (
            100 * right / held_out.images for right in (held_out.before, held_out.after)
        )
        lines.append(
            f"Of {counted(held_out.images, 'held-out label')}, {before:.1f}% were right and "
            f"{after:.1f}% would be ({100 * held_out.gain:+.1f} points, 95% interval "
            f"{100 * low:+.1f} to {100 * high:+.1f})."
        )
    return "\n".join([*lines, "Nothing was changed."])


def _what_if_fields(outcome: "WhatIfOutcome", names: dict[int, str]) -> dict[str, Any]:
    changes, held_out = outcome.changes, outcome.held_out
    return {
        "edits": outcome.edits,
        "change_class": changes.other_class,
        "change_safe_class": changes.other_safe_class,
        "moves": [
            {
                "before": _called(names, move.before),
                "after": _called(names, move.after),
                "images": len(move.image_ids),
                "safe_class": move.is_safe_class,
            }
            for move in changes.moves
        ],
        "held_out": None
        if held_out is None or not held_out.images
        else {
            "images": held_out.images,
            "right_before": held_out.before,
            "right_after": held_out.after,
            "gain": held_out.gain,
            "interval": held_out.interval,
            "named_before": held_out.named_before,
            "named_after": held_out.named_after,
        },
    }


def _called(names: dict[int, str], class_id: int) -> str:
    return {NO_CLASS: "no class", UNKNOWN: "unknown"}.get(class_id) or names[class_id]
