"""The `merge` command."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from engine.cli.options import ProjectPath, open_project
from engine.cli.output import (
    Overwrite,
    failure_rows,
    failure_text,
    label_text,
    list_text,
    print_result,
    stoppable,
)
from engine.errors import UsageError
from engine.graph.codes import NONE_OF_THEM
from engine.texts import counted

if TYPE_CHECKING:
    from engine.collection.importing.match_images import FileContents
    from engine.graph.category_graph import CategoryGraph
    from engine.merging.agreement import AgreementTable, AnnotatorAgreement
    from engine.merging.merge_plan import CommentConflict, Conflict, MergePlan, Preference, Side
    from engine.project import Project


def merge(
    project: ProjectPath,
    other: Annotated[
        Path, Argument(metavar="OTHER", help="Another copy of the project; it is only read.")
    ],
    *,
    is_dry: Annotated[
        bool, Option("--dry-run", help="Show what would happen, and change nothing.")
    ] = False,
    adds_images: Annotated[
        bool,
        Option("--add-images", help="Add missing images whose files are found."),
    ] = False,
    conflict_file: Annotated[
        Path | None,
        Option("--conflicts", metavar="FILE.csv", help="Write the open conflicts to this file."),
    ] = None,
    preferred: Annotated[
        str,
        Option(
            "--prefer",
            help="Settle all open conflicts: ours, theirs or newer. By default they stay open.",
        ),
    ] = "",
    is_overwriting: Overwrite = False,
) -> None:
    """Merge another copy of a project."""
    from engine.collection.importing.match_images import FileContents
    from engine.collection.outputs import CONFLICTS, check_file
    from engine.merging.conflict_list import write_conflicts

    prefer = _preference(preferred)
    with (
        stoppable("run it again; nothing was changed") as cancel,
        open_project(project, for_writing=not is_dry) as ours,
    ):
        if conflict_file is not None:
            check_file(conflict_file, CONFLICTS, project=ours, is_overwriting=is_overwriting)
        contents = FileContents(cancel)
        if is_dry:
            outcome = _plan(ours, other, contents, adds_images=adds_images)
        else:
            outcome = _merge(ours, other, contents, adds_images=adds_images, prefer=prefer)
        plan, conflicts, comments, head, record = outcome
        if conflict_file is not None:
            write_conflicts(
                conflict_file, conflicts, comments, project=ours, is_overwriting=is_overwriting
            )
    print_result(
        head + _rest_text(plan) + _conflicts_text(conflicts) + _comments_text(comments),
        {
            **_record(plan),
            **record,
            "open_conflicts": list(map(_conflict, conflicts)),
            "open_comments": list(map(_comment, comments)),
            "dry_run": is_dry,
        },
    )


_Outcome = tuple[
    "MergePlan", "tuple[Conflict, ...]", "tuple[CommentConflict, ...]", str, dict[str, Any]
]
"""Plan, open conflicts, first line of the text, and JSON fields."""


def _plan(ours: "Project", other: Path, contents: "FileContents", *, adds_images: bool) -> _Outcome:
    from engine.merging.merge import images_on_disk
    from engine.merging.planning import open_other, plan_merge

    with open_other(ours.path, other) as theirs:
        plan = plan_merge(ours, theirs, contents)
    found = images_on_disk(ours, other, plan.missing, contents.cancel)[0] if adds_images else []
    classes = counted(len(plan.classes.new), "class", "classes")
    text = f"Would merge {counted(len(plan.labels), 'label')} and {classes} from {other.name}"
    text += f", and {counted(len(found), 'image')}." if found else "."
    return plan, plan.conflicts, plan.comments, text, {"images": len(found)}


def _merge(
    ours: "Project",
    other: Path,
    contents: "FileContents",
    *,
    adds_images: bool,
    prefer: "Preference | None",
) -> _Outcome:
    from engine.merging.merge import merge as run

    done = run(ours, other, adds_images=adds_images, prefer=prefer, contents=contents)
    classes = counted(done.classes_added, "class", "classes")
    text = f"Merged {counted(done.labelled, 'label')} and {classes} from {other.name}"
    text += f", and {counted(done.images_added, 'image')}" if done.images_added else ""
    text += f"; {counted(done.settled, 'conflict')} settled." if done.settled else "."
    text += failure_text(done.refused, "could not be added")
    record = {
        "labels": done.labelled,
        "classes": done.classes_added,
        "images": done.images_added,
        "settled_now": done.settled,
        "refused": failure_rows(done.refused),
    }
    return done.plan, done.conflicts, done.comments, text, record


def _preference(text: str) -> "Preference | None":
    from engine.merging.merge_plan import Preference

    if not text:
        return None
    try:
        return Preference(text)
    except ValueError:
        known = ", ".join(each.value for each in Preference)
        raise UsageError("--prefer does not accept this", expected=known, found=text) from None


def _rest_text(plan: "MergePlan") -> str:
    missing, other = (counted(len(each), "image") for each in (plan.missing, plan.other_content))
    lines = [
        (
            f"\n{counted(plan.images, 'image')} in both; {missing} only there, {other} of the "
            "same path another photo."
        ),
        _labels_text(plan),
        _agreement_text(plan.agreement, plan.classes.after),
        list_text(
            "Labels of classes that cannot be merged",
            [f"{each.theirs}: {counted(each.labels, 'label')}" for each in plan.waiting],
        ),
        list_text(
            "Labels of photos that were replaced there; `protoleaf replaced` confirms or "
            "removes them there",
            [f"{each.image}: {label_text(each.theirs)} by {each.who}" for each in plan.outdated],
        ),
        list_text(
            "Classes that differ; ours are kept",
            [
                f"{each.theirs}{f' (here {each.ours})' if each.ours else ''}: {each.kind.value}"
                for each in plan.classes.differences
            ],
        ),
    ]
    return "".join(lines)


def _labels_text(plan: "MergePlan") -> str:
    counts = {
        "the same decision": plan.same,
        "equal": plan.agreed,
        "in conflict": len(plan.conflicts),
        "of these coarse and fine": plan.refinements,
        "settled earlier": plan.settled,
        "labelled again here": plan.kept,
    }
    return "\nLabels: " + ", ".join(f"{count:,} {what}" for what, count in counts.items()) + "."


def _agreement_text(table: "AgreementTable", graph: "CategoryGraph") -> str:
    if not table.exact.images:
        return "\nNo image was labelled independently by both; agreement can't be measured."
    lines = [f"exact class: {_figures(table.exact)}"]
    lines += [
        f"level {level}: {_figures(each)}" for level, each in enumerate(table.levels, start=1)
    ]
    names = [
        f"{_name(graph, ours)} / {_name(graph, theirs)}: {counted(count, 'image')}"
        for (ours, theirs), count in table.disagreed
    ]
    return (
        "\nAgreement\n  "
        + "\n  ".join(lines)
        + list_text("Most often confused (ours / theirs)", names)
    )


def _figures(agreement: "AnnotatorAgreement") -> str:
    text = f"{agreement.agreed:,} of {counted(agreement.images, 'image')} equal"
    if agreement.kappa is None:
        return f"{text}; no kappa, since only one class was given"
    return (
        f"{text}; kappa {agreement.kappa:.3f} (95% interval {agreement.low:.3f} to "
        f"{agreement.high:.3f})"
    )


def _name(graph: "CategoryGraph", class_id: int | None) -> str:
    return label_text(NONE_OF_THEM) if class_id is None else graph.name(class_id)


def _conflicts_text(conflicts: "tuple[Conflict, ...]") -> str:
    return list_text(
        "Open conflicts; our labels are kept",
        [f"{each.path}: {_side_text(each.ours)}; {_side_text(each.theirs)}" for each in conflicts],
    )


def _comments_text(comments: "tuple[CommentConflict, ...]") -> str:
    return list_text(
        "Comments that differ; ours are kept",
        [
            f"{each.path}: {' '.join(each.ours.comment.split())} ({each.ours.who}); "
            f"{' '.join(each.theirs.comment.split())} ({each.theirs.who})"
            for each in comments
        ],
    )


def _comment(conflict: "CommentConflict") -> dict[str, Any]:
    row: dict[str, Any] = {"image": conflict.path}
    for name, note in (("ours", conflict.ours), ("theirs", conflict.theirs)):
        row |= {name: note.comment, f"{name}_who": note.who, f"{name}_when": note.when.isoformat()}
    return row


def _side_text(side: "Side") -> str:
    return f"{label_text(side.path)} by {side.who}, {side.when:%Y-%m-%d}"


def _conflict(conflict: "Conflict") -> dict[str, Any]:
    row: dict[str, Any] = {"image": conflict.path, "kind": conflict.kind.value}
    for name, side in (("ours", conflict.ours), ("theirs", conflict.theirs)):
        row |= {name: side.path, f"{name}_who": side.who, f"{name}_when": side.when.isoformat()}
    return row | {"proposed": conflict.proposed.value if conflict.proposed else ""}


def _record(plan: "MergePlan") -> dict[str, Any]:
    graph, table = plan.classes.after, plan.agreement
    return {
        "other": str(plan.source),
        "is_copy": plan.is_copy,
        "labels": len(plan.labels),
        "classes": len(plan.classes.new),
        "images": 0,
        "images_in_both": plan.images,
        "matched_by": {by.value: count for by, count in plan.matched.items()},
        "missing_images": [each.path for each in plan.missing],
        "other_content": list(plan.other_content),
        "notes": len(plan.notes),
        "same": plan.same,
        "agreed": plan.agreed,
        "conflicts": len(plan.conflicts),
        "refinements": plan.refinements,
        "settled": plan.settled,
        "decided_anew": plan.kept,
        "waiting": [asdict(each) for each in plan.waiting],
        "outdated": [asdict(each) for each in plan.outdated],
        "class_differences": [
            {"theirs": each.theirs, "ours": each.ours, "reason": each.kind.value}
            for each in plan.classes.differences
        ],
        "agreement": {
            "exact": asdict(table.exact),
            "levels": [asdict(each) for each in table.levels],
            "differing": [
                {"ours": _path(graph, ours), "theirs": _path(graph, theirs), "images": count}
                for (ours, theirs), count in table.disagreed
            ],
        },
    }


def _path(graph: "CategoryGraph", class_id: int | None) -> str:
    return "" if class_id is None else graph.path_text(class_id)
