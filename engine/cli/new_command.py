"""The command that makes an empty project, on any backbone."""

from pathlib import Path
from typing import Annotated, Any

import typer

from engine.cli import preprocessing_options as options
from engine.cli.graph_commands import ProjectPath
from engine.cli.output import AsJson, progress_bar, say
from engine.cli.stopping import stoppable
from engine.errors import UsageError


def new(
    project: ProjectPath,
    *,
    backbone: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="A backbone of `backbone list`, torchvision:NAME to download one, or an ONNX file."
        ),
    ] = "leafnet",
    yes: Annotated[bool, typer.Option("--yes", help="Download a published network without asking.")] = False,
    preset: options.PresetName = None,
    input_side: options.InputSide = None,
    mean: options.Mean = None,
    std: options.Deviation = None,
    value_range: options.Range = None,
    layout: options.Layout = None,
    output: options.Output = None,
    as_json: AsJson = False,
) -> None:
    """Create an empty project; refuses to overwrite. An ONNX file is tried out and kept in the library first."""
    from engine.workflows.new_project import check_place, new_project

    chosen = options.chosen_fields(
        preset_name=preset, value_range=value_range, mean=mean, std=std, input_side=input_side, layout=layout,
        output=output,
    )  # fmt: skip
    check_place(project)
    name, told = _found(backbone, chosen, yes=yes)
    with new_project(project, name) as made:
        model = made.model
    say(
        "\n".join((f"Created {project} with backbone {model.backbone_name}.", *told)),
        {"project": str(project), "backbone": model.backbone_name, "backbone_hash": model.backbone_hash},
        as_json=as_json,
    )


def _found(backbone: str, chosen: dict[str, Any], *, yes: bool) -> tuple[str, tuple[str, ...]]:
    """Name of the backbone, in the library by now, and what the person should know of it."""
    from engine.workflows.backbones.onnx_file import add_file
    from engine.workflows.new_project import is_file_source

    if is_file_source(backbone):
        with stoppable("nothing was made") as cancel, progress_bar("Backbone") as on_progress:
            added = add_file(Path(backbone), chosen=chosen, on_progress=on_progress, cancel=cancel)
        return added.files.name, (f"Preprocessing: {added.facts.why}.", *added.facts.notices)
    if chosen:
        raise UsageError(
            "preprocessing can be chosen for an ONNX file only", found=backbone, remedy="leave these options out"
        )
    from engine.workflows.backbones.torchvision_network import is_published_source

    if is_published_source(backbone):
        from engine.cli.torchvision_download import published_backbone

        return published_backbone(backbone, yes=yes), ()
    return backbone, ()


def register(application: typer.Typer) -> None:
    """Add this command to the program."""
    application.command("new")(new)
