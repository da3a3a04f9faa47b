"""The command that changes the backbone of a project."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from engine.cli.named_backbone import NAMES, Mirror, Proxy, named_backbone
from engine.cli.options import DeviceName, ProjectPath
from engine.cli.output import AsJson, asked, counted, percent, progress_bar, say
from engine.cli.preprocessing_options import takes_preprocessing
from engine.config import CacheFolders

if TYPE_CHECKING:
    from engine.collection.backbone_change.change import PreparedChange
    from engine.collection.backbone_change.shot_comparison import ShotComparison


@takes_preprocessing
def use(
    project: ProjectPath,
    backbone: Annotated[str, typer.Argument(metavar="BACKBONE", help=NAMES)],
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Download and change without asking.")] = False,
    proxy: Proxy = "",
    mirror: Mirror = "",
    device: DeviceName = "auto",
    chosen: dict[str, Any],
    as_json: AsJson = False,
) -> None:
    """Change a project's backbone: embed all images again, compare both on the labels, then ask. Can be undone."""
    from engine.collection.backbone_change.change import prepare_change, use_backbone
    from engine.project import Project

    with Project.open(project) as opened:
        name, notes = named_backbone(
            backbone, chosen, yes=yes, proxy=proxy, mirror=mirror, when_stopped="the project is as it was"
        )
        with progress_bar("Embedding") as on_progress:
            prepared = prepare_change(opened, CacheFolders.default(), name, device=device, on_progress=on_progress)
        facts = "\n".join((*notes, _figures(prepared.comparison)))
        is_changed = yes or asked(facts, f"Use {prepared.name} in this project?")
        if is_changed:
            use_backbone(opened, prepared.source, prepared.backbone_hash, prepared.news)
        in_use = opened.models.current
    say(
        "\n".join((_outcome(prepared, is_changed=is_changed), *notes)),
        {"changed": is_changed, "version": in_use.version_id, **_fields(prepared)},
        as_json=as_json,
    )


def _fields(prepared: "PreparedChange") -> dict[str, Any]:
    comparison = prepared.comparison
    return {
        **{name: getattr(prepared, name) for name in ("source", "name", "backbone_hash", "embedded", "seconds")},
        **vars(comparison),
        "interval": comparison.interval,
        "may_be_chance": comparison.may_be_chance,
        "failed": len(prepared.failed),
    }


def _outcome(prepared: "PreparedChange", *, is_changed: bool) -> str:
    lines = [
        f"The project now uses {prepared.name}; undo goes back."
        if is_changed
        else f"Nothing was changed. The embeddings of {prepared.name} are kept; use it with --yes.",
        _figures(prepared.comparison),
    ]
    if prepared.failed:
        lines.append(f"{counted(len(prepared.failed), 'image')} could not be read:")
        lines += [f"  {failure.path}: {failure.reason}" for failure in prepared.failed]
    return "\n".join(lines)


def _figures(comparison: "ShotComparison") -> str:
    """`Right about 61.9% of your labels, 57.1% before, ...`, or why there are no figures."""
    if comparison.after is None:
        return "There are too few labels to compare the backbones: a class needs at least two."
    before = "" if comparison.before is None else f", {percent(comparison.before)} before"
    facts = f"Accuracy {percent(comparison.after)} on the labels, each held out once{before}"
    facts += f"; on {counted(comparison.shots, 'label')}"
    if comparison.interval is not None:
        low, high = (f"{100 * end:+.1f}" for end in comparison.interval)
        facts += f", 95% confidence interval {low} to {high} points"
    return facts + ("; the difference may be due to chance." if comparison.may_be_chance else ".")
