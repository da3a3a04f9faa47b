"""The `replaced` command, and texts about outdated labels for other commands."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from engine.cli.options import ProjectPath, open_project
from engine.cli.output import list_text, print_result
from engine.errors import InputError, UsageError
from engine.texts import counted

if TYPE_CHECKING:
    from engine.project import Project
    from engine.project.records import Label


def replaced(
    project: ProjectPath,
    images: Annotated[
        list[Path] | None, Argument(metavar="[IMAGE]...", help="Only these images; by default all.")
    ] = None,
    *,
    confirm: Annotated[
        bool, Option("--confirm", help="Confirm that their labels also apply to the new photos.")
    ] = False,
    ask_again: Annotated[bool, Option("--ask-again", help="Remove their labels.")] = False,
) -> None:
    """List, confirm or remove outdated labels."""
    if confirm and ask_again:
        raise UsageError(
            "--confirm and --ask-again exclude each other", remedy="leave one of them out"
        )
    with open_project(project, for_writing=confirm or ask_again) as opened:
        outdated = _chosen(opened, images) if images else opened.labels.outdated()
        text, fields = replaced_text(opened, outdated), replaced_fields(opened, outdated)
        if confirm:
            opened.labels.confirm(outdated)
        elif ask_again:
            opened.labels.remove(outdated)
    if outdated and (confirm or ask_again):
        text = (
            f"{'Confirmed' if confirm else 'Removed'} {counted(len(outdated), 'label')}; undo "
            "goes back."
        )
    print_result(
        text.strip() or "No labelled image was replaced.",
        {"replaced": fields},
    )


def _chosen(project: "Project", images: Sequence[Path]) -> "dict[int, Label]":
    outdated, chosen = project.labels.outdated(), {}
    for path in images:
        image_id = project.images.find(path)
        if image_id is None or image_id not in outdated:
            raise InputError(
                "no label of this image waits to be confirmed",
                found=str(path),
                remedy="`protoleaf replaced PROJECT` lists those that do",
            )
        chosen[image_id] = outdated[image_id]
    return chosen


def replaced_text(project: "Project", outdated: "dict[int, Label] | None" = None) -> str:
    """Text of outdated labels; "" without any."""
    rows = replaced_fields(project, outdated)
    if not rows:
        return ""
    are = "image is another photo" if len(rows) == 1 else "images are other photos"
    return list_text(
        f"{len(rows):,} labelled {are} now. Old labels do not count; `protoleaf replaced` "
        "confirms or removes them",
        [
            f"{row['image']}: {row['class'] or 'none of the classes'} by {row['who']}"
            for row in rows
        ],
    )


def replaced_fields(
    project: "Project", outdated: "dict[int, Label] | None" = None
) -> list[dict[str, Any]]:
    """JSON rows of outdated labels."""
    labels, graph = (
        project.labels.outdated() if outdated is None else outdated,
        project.classes.graph,
    )
    paths = project.images.table(list(labels)).paths if labels else []
    return [
        {
            "image": path,
            "class": None if label.class_id is None else graph.path_text(label.class_id),
            "who": label.who,
        }
        for path, (_, label) in zip(paths, sorted(labels.items()), strict=True)
    ]


def written_to_text(project: "Project") -> str:
    """Text of labelled files that changed and were not read since; "" without any."""
    from engine.collection.replaced_images import modified_labelled_images

    return list_text(
        "Labelled files changed since they were read; `protoleaf embed` finds out which are "
        "other photos",
        modified_labelled_images(project),
    )
