"""Commands that make a project and check its file, and one that puts the program into the desktop's menu."""

from typing import Annotated, Any

import typer

from engine.cli.named_backbone import NAMES, Mirror, Proxy, named_backbone
from engine.cli.options import ProjectPath
from engine.cli.output import AsJson, counted, say
from engine.cli.preprocessing_options import takes_preprocessing
from engine.errors import ProjectDamagedError


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


def check(project: ProjectPath, as_json: AsJson = False) -> None:
    """Check the project file; exit status 1 if anything is wrong."""
    from engine.project import Project

    problems = Project.faults_of(project)
    images = classes = labels = 0
    if not problems:
        with Project.open(project, for_writing=False) as opened:
            classes, images = len(opened.classes.graph), opened.images.count
            labels = len(opened.labels.table().image_ids)
    elif not as_json:
        raise ProjectDamagedError(
            "the project is damaged",
            found="; ".join(problems),
            remedy="restore a backup, or open an earlier copy of the file; nothing was changed",
        )
    say(
        f"{project} is sound: {counted(classes, 'class', 'classes')}, {counted(images, 'image')}, "
        f"{counted(labels, 'label')}.",
        {"sound": not problems, "problems": problems, "classes": classes, "images": images, "labels": labels},
        as_json=as_json,
    )
    if problems:
        raise typer.Exit(1)


def menu_entry(
    remove: Annotated[bool, typer.Option("--remove", help="Take it out of the menu again.")] = False,
    as_json: AsJson = False,
) -> None:
    """Put this program into the menu of a Linux desktop, and let a double click open projects with it."""
    from engine.menu_entry import add_menu_entry, remove_menu_entry

    files = [str(path) for path in (remove_menu_entry() if remove else add_menu_entry())]
    if remove:
        text = "Protoleaf is no longer in the menu." if files else "Protoleaf was not in the menu."
    else:
        text = "Protoleaf is in the menu now; a double click opens projects."
    say("\n".join([text, *files]), {"removed" if remove else "written": files}, as_json=as_json)
