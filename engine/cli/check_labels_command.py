"""The `check-labels` command."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from engine.cli.options import ProjectPath, open_project
from engine.cli.output import print_result, probability_text, stoppable
from engine.config import CacheFolders
from engine.graph.codes import UNKNOWN
from engine.texts import counted

if TYPE_CHECKING:
    from engine.project import Project
    from engine.review.label_check import LabelCheck, SuspectLabel

NONE_OF_THEM = "none of the classes"


def check_labels(
    project: ProjectPath,
    count: Annotated[int, Option(min=1, help="Maximum number of labels.")] = 50,
) -> None:
    """List probable label errors."""
    from engine.review.label_check import check_project

    with stoppable("run it again") as cancel, open_project(project, for_writing=False) as opened:
        found = check_project(opened, CacheFolders.default(), count, cancel)
        rows = [_fields(opened, suspect) for suspect in found.suspects]
        lines = [_line(row) for row in rows]
        waiting = len(opened.labels.table().image_ids) - found.labels
        too_few = [opened.classes.graph.path_text(each) for each in found.too_few]
    fields = {
        "labels": found.labels,
        "classes": found.classes,
        "labels_missing": found.labels_missing,
        "probably_wrong": found.probably_wrong,
        "judged": found.judged,
        "too_few_labels": too_few,
    }
    head = _head(found, waiting, too_few)
    print_result(
        "\n".join((head, *lines)),
        {**fields, "without_embedding": waiting, "suspects": rows},
    )


def _head(found: "LabelCheck", waiting: int, too_few: list[str]) -> str:
    note = (
        f" {counted(waiting, 'labelled image')} without an embedding: run `embed`."
        if waiting
        else ""
    )
    if found.labels_missing:
        return f"Too few labels to check: {found.labels_missing:,} more needed.{note}"
    if not found.has_enough:
        return f"All labels are of one class: there is nothing to compare them with.{note}"
    unjudged = found.labels - found.judged
    of = f"{found.judged:,} that could be judged" if unjudged else f"{found.labels:,}"
    if unjudged:
        note = f" {counted(unjudged, 'label')} could not be judged.{_too_few(too_few)}{note}"
    if not found.suspects:
        return f"No label looks wrong, of {of}.{note}"
    more = (
        f"; the first {len(found.suspects):,}" if len(found.suspects) < found.probably_wrong else ""
    )
    return (
        f"Probably wrong: {found.probably_wrong:,} of {counted(found.labels, 'label')}{more}.{note}"
    )


def _too_few(classes: list[str]) -> str:
    if not classes:
        return ""
    verb = "has" if len(classes) == 1 else "have"
    return (
        f" {counted(len(classes), 'class', 'classes')} {verb} too few labels: {', '.join(classes)}."
    )


def _fields(project: "Project", suspect: "SuspectLabel") -> dict[str, Any]:
    graph, label = project.classes.graph, project.labels.of(suspect.image_id)
    named = [each for each in (suspect.image_id, suspect.twin_id) if each is not None]
    path_of = {each: project.images.record(each).path for each in named}

    def name(class_id: int) -> str:
        return NONE_OF_THEM if class_id == UNKNOWN else graph.path_text(class_id)

    return {
        "image": path_of[suspect.image_id],
        "label": name(suspect.label),
        "who": label.who if label else "",
        "labelled_at": label.when.isoformat() if label else "",
        "proposed": name(suspect.proposed),
        "probability": suspect.probability,
        "proposed_score": suspect.score,
        "reason": _reason(suspect, name, path_of),
        "look_alikes": {name(class_id): votes for class_id, votes in suspect.votes},
        "twin": None if suspect.twin_id is None else path_of[suspect.twin_id],
    }


def _reason(suspect: "SuspectLabel", name: Callable[[int], str], path_of: dict[int, str]) -> str:
    from engine.review.label_check import SuspectReason

    if suspect.reason is SuspectReason.TWIN and suspect.twin_id is not None:
        return f"{path_of[suspect.twin_id]} is nearly the same image, and has another label"
    if suspect.reason is SuspectReason.NEIGHBOURS:
        votes = ", ".join(f"{count} {name(class_id)}" for class_id, count in suspect.votes)
        return f"its most similar labelled images: {votes}"
    return (
        f"without this label the model predicts {name(suspect.proposed)}, "
        f"{probability_text(suspect.score)}"
    )


def _line(row: dict[str, Any]) -> str:
    """`photos/7.jpg  Fruit/Apple -> Fruit/Pear  97.3%  its most similar labelled images: ...`."""
    return (
        f"{row['image']}  {row['label']} -> {row['proposed']}  "
        f"{probability_text(row['probability'])}  {row['reason']}"
    )
