"""The commands `train` and `versions`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from engine.cli.options import ProjectPath, open_project
from engine.cli.output import job, percent, print_result
from engine.config import CacheFolders
from engine.new_folder import scratch_folder

if TYPE_CHECKING:
    from engine.collection.training.trained import TrainedFiles
    from engine.project import ModelVersion


def train(
    project: ProjectPath,
    depth: Annotated[
        str,
        Option(
            help="propagation (seconds, on the cached embeddings) or backbone (the network itself)."
        ),
    ] = "propagation",
    setting: Annotated[
        list[str] | None,
        Option(
            "--setting",
            metavar="NAME=VALUE",
            help="A setting, such as iterations=200. May be repeated.",
        ),
    ] = None,
    choose: Annotated[
        bool, Option("--choose", help="Use the new version from now on; this can be undone.")
    ] = False,
) -> None:
    """Train a new model version."""
    from engine.collection.training.settings import parse_settings
    from engine.collection.training.train import train as run
    from engine.collection.training.trained import adopt

    chosen = parse_settings(setting or ())
    again = (
        "run the same command again; it resumes from here"
        if depth == "backbone"
        else "run it again"
    )
    with open_project(project) as opened, scratch_folder() as folder:
        with job("Training", again) as running:
            trained = run(
                opened,
                CacheFolders.default(),
                depth,
                chosen,
                out=folder / "trained",
                **running,
            )
        version_id = adopt(opened, trained)
        if choose:
            opened.models.choose(version_id)
        name = opened.models.version(version_id).name
    print_result(
        f"Trained model version {version_id}, “{name}”: {_comparison(trained)}."
        + _resumed(trained)
        + _next_step(trained, None if choose else version_id, project),
        {
            "version": version_id,
            "name": name,
            "depth": depth,
            "chosen": choose,
            "figures": dict(trained.figures),
            "settings": dict(trained.settings),
        },
    )


def versions(
    project: ProjectPath,
    choose: Annotated[
        int | None,
        Option("--choose", metavar="ID", help="Use this version from now on; this can be undone."),
    ] = None,
) -> None:
    """List model versions, or choose one."""
    from engine.collection.models import choose_version

    with open_project(project, for_writing=choose is not None) as opened:
        if choose is not None:
            choose_version(opened, CacheFolders.default(), choose)
        found, in_use = opened.models.versions(), opened.models.current.version_id
    lines = [f"{'*' if each.version_id == in_use else ' '} {_line(each)}" for each in found]
    print_result(
        "\n".join(lines),
        {"in_use": in_use, "versions": [_fields(each) for each in found]},
    )


def _comparison(trained: "TrainedFiles") -> str:
    before, after = trained.figures.get("before_accuracy"), trained.figures.get("after_accuracy")
    images = int(trained.figures.get("held_out_images") or 0)
    if after is None:
        return "nothing was held out to measure it on"
    was = f", {percent(before)} before" if before is not None else ""
    return f"{percent(after)} right{was}, on {images:,} images held out of the training"


def _resumed(trained: "TrainedFiles") -> str:
    after = trained.figures.get("resumed_iteration")
    total = trained.figures.get("iterations") or 0
    return (
        ""
        if after is None
        else f"\nA stopped training was resumed after {after:,.0f} of {total:,.0f} iterations."
    )


def _next_step(trained: "TrainedFiles", waiting_id: int | None, project: Path) -> str:
    if waiting_id is not None:
        return f"\nUse it with: protoleaf versions {project} --choose {waiting_id}"
    return (
        f"\nCompute its embeddings with: protoleaf embed {project}"
        if trained.backbone is not None
        else ""
    )


def _line(version: "ModelVersion") -> str:
    after = version.figures.get("after_accuracy")
    figure = "" if after is None else f"  {percent(after)} right on held-out images"
    return (
        f"{version.version_id:>3}  {version.label:<26}{version.created_at:%Y-%m-%d %H:%M}{figure}"
    )


def _fields(version: "ModelVersion") -> dict[str, object]:
    return {
        "version": version.version_id,
        "name": version.label,
        "backbone": version.backbone_name,
        "backbone_hash": version.backbone_hash,
        "trained_from": version.parent_id,
        "created_at": version.created_at.isoformat(),
        "figures": dict(version.figures),
        "settings": dict(version.settings),
    }
