"""The `audit` command: draw images at random, and report the accuracy on them."""

from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from engine.cli.options import ProjectPath, open_project
from engine.cli.output import list_text, percent, print_result
from engine.config import CacheFolders
from engine.errors import InputError, UsageError
from engine.texts import counted

if TYPE_CHECKING:
    from engine.collection.audit_figures import AuditFigures, EstimatedShare
    from engine.graph.category_graph import CategoryGraph
    from engine.project import Project

_SIZES_HELP = "20, 50, 100 or 200"


def audit(
    project: ProjectPath,
    draw: Annotated[
        int | None,
        Option(metavar="COUNT", help=f"Draw this many unlabelled images: {_SIZES_HELP}."),
    ] = None,
    grow: Annotated[
        int | None,
        Option(metavar="COUNT", help=f"Extend the last draw to this many images: {_SIZES_HELP}."),
    ] = None,
    *,
    stratified: Annotated[
        bool,
        Option("--stratified", help="Draw some of each large predicted class; with --draw."),
    ] = False,
) -> None:
    """Draw, grow or report audits."""
    from engine.collection.audit_figures import audit_figures

    _check(draw, grow, stratified=stratified)
    with open_project(project, for_writing=draw is not None or grow is not None) as opened:
        if draw is not None:
            _draw(opened, draw, stratified=stratified)
        if grow is not None:
            opened.audits.grow(_latest(opened), grow)
        figures, graph, waiting = audit_figures(opened), opened.classes.graph, _waiting(opened)
        text = "\n".join(_text(each) for each in figures) + list_text(
            "Still to be labelled", waiting
        )
        fields = {"audits": [audit_fields(each, graph) for each in figures], "to_label": waiting}
    nothing = "No images were drawn yet: `protoleaf audit PROJECT --draw 50` draws some."
    print_result(text if figures else nothing, fields)


def _check(draw: int | None, grow: int | None, *, stratified: bool) -> None:
    from engine.evaluation.audit.draw import SIZES

    if draw is not None and grow is not None:
        raise UsageError("--draw and --grow exclude each other", remedy="leave one of them out")
    if stratified and draw is None:
        raise UsageError("--stratified goes with --draw", remedy="give a number of images to draw")
    for size in (draw, grow):
        if size is not None and size not in SIZES:
            raise UsageError(
                "an audit cannot have this size", expected=_SIZES_HELP, found=str(size)
            )


def _draw(project: "Project", size: int, *, stratified: bool) -> None:
    from engine.evaluation.audit.draw import draw_for

    draw_for(project, CacheFolders.default(), size, is_stratified=stratified)


def _latest(project: "Project") -> int:
    audits = project.audits.all()
    if not audits:
        raise InputError("no images were drawn yet", remedy="draw some with --draw")
    return audits[-1].audit_id


def _waiting(project: "Project") -> list[str]:
    """Paths of the unanswered images of the last audit, in the order of the draw."""
    from engine.collection.audit_figures import is_answer

    asked = [item.image_id for audit in project.audits.all()[-1:] for item in audit.asked]
    return [
        project.images.record(each).path for each in asked if not is_answer(project.labels.of(each))
    ]


def _text(each: "AuditFigures") -> str:
    how = "by predicted class" if each.is_stratified else "at random"
    drawn = (
        f"{counted(each.asked, 'image')} of {each.population:,} drawn {how} on "
        f"{each.drawn_at.astimezone():%Y-%m-%d}"
    )
    lines = [f"{drawn}, {each.answered:,} answered."]
    if each.in_bulk:
        lines.append(f"{each.in_bulk:,} accepted in bulk: these do not count.")
    if each.answered:
        lines.append(f"Right: {estimate_text(each.accuracy)}.")
    if each.sure.count:
        lines.append(f"Correct where confident: {estimate_text(each.sure)}.")
    return "\n  ".join(lines)


def estimate_text(estimate: "EstimatedShare") -> str:
    """`46 of 50, 92.0% (95% interval 79.9% to 97.4%)`."""
    low, high = estimate.interval
    interval = f"95% interval {percent(low)} to {percent(high)}"
    return f"{estimate.right:,} of {estimate.count:,}, {percent(estimate.share)} ({interval})"


def audit_fields(figures: "AuditFigures", graph: "CategoryGraph") -> dict[str, Any]:
    """JSON fields of an audit."""
    return {
        "drawn_at": figures.drawn_at.isoformat(),
        "stratified": figures.is_stratified,
        "population": figures.population,
        "asked": figures.asked,
        "answered": figures.answered,
        "in_bulk": figures.in_bulk,
        "accuracy": _estimate(figures.accuracy),
        "sure": _estimate(figures.sure),
        "classes": [
            {"class": graph.path_text(class_id), **_estimate(each)}
            for class_id, each in figures.classes
        ],
    }


def _estimate(each: "EstimatedShare") -> dict[str, Any]:
    low, high = each.interval
    return {
        "right": each.right,
        "answers": each.count,
        "share": each.share,
        "low": low,
        "high": high,
    }
