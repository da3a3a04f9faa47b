"""The command that makes an empty project, on any backbone."""

from typing import Annotated, Any

import typer

from engine.cli.graph_commands import ProjectPath
from engine.cli.named_backbone import NAMES, Mirror, Proxy, named_backbone
from engine.cli.output import AsJson, say
from engine.cli.preprocessing_options import takes_preprocessing


@takes_preprocessing
def new(
    project: ProjectPath,
    *,
    backbone: Annotated[str, typer.Option(metavar="NAME", help=NAMES, show_default="the program's choice")] = "",
    yes: Annotated[bool, typer.Option("--yes", help="Download a published network without asking.")] = False,
    proxy: Proxy = "",
    mirror: Mirror = "",
    chosen: dict[str, Any],
    as_json: AsJson = False,
) -> None:
    """Create an empty project; refuses to overwrite. An ONNX file is tested and added to the library first."""
    from engine.backbones.model_files import default_backbone
    from engine.collection.new_project import check_place, new_project

    check_place(project)
    wanted = backbone or default_backbone()
    name, notes = named_backbone(wanted, chosen, yes=yes, proxy=proxy, mirror=mirror, when_stopped="nothing was made")
    with new_project(project, name) as made:
        model = made.models.current
    say(
        "\n".join((f"Created {project} with backbone {model.backbone_name}.", *notes)),
        {"project": str(project), "backbone": model.backbone_name, "backbone_hash": model.backbone_hash},
        as_json=as_json,
    )


def register(application: typer.Typer) -> None:
    """Add this command to the program."""
    application.command("new")(new)
