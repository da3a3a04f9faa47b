"""The command that makes an empty project, on any backbone."""

from typing import Annotated

import typer

from engine.cli import preprocessing_options as options
from engine.cli.graph_commands import ProjectPath
from engine.cli.named_backbone import NAMES, Proxy, named_backbone
from engine.cli.output import AsJson, say


def new(
    project: ProjectPath,
    *,
    backbone: Annotated[str, typer.Option(metavar="NAME", help=NAMES)] = "leafnet",
    yes: Annotated[bool, typer.Option("--yes", help="Download a published network without asking.")] = False,
    proxy: Proxy = "",
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
    from engine.collection.new_project import check_place, new_project

    chosen = options.chosen_fields(
        preset_name=preset, value_range=value_range, mean=mean, std=std, input_side=input_side, layout=layout,
        output=output,
    )  # fmt: skip
    check_place(project)
    name, told = named_backbone(backbone, chosen, yes=yes, proxy=proxy, when_stopped="nothing was made")
    with new_project(project, name) as made:
        model = made.model
    say(
        "\n".join((f"Created {project} with backbone {model.backbone_name}.", *told)),
        {"project": str(project), "backbone": model.backbone_name, "backbone_hash": model.backbone_hash},
        as_json=as_json,
    )


def register(application: typer.Typer) -> None:
    """Add this command to the program."""
    application.command("new")(new)
