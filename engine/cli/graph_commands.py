"""Commands that look after a project."""

from pathlib import Path
from typing import Annotated

import typer

from engine.cli.output import AsJson, counted, say
from engine.errors import ProjectDamagedError

ProjectPath = Annotated[Path, typer.Argument(metavar="PROJECT", help="The project file.")]


def check(project: ProjectPath, as_json: AsJson = False) -> None:
    """Check the project file; exit status 1 if anything is wrong."""
    from engine.project import Project

    problems = Project.faults_of(project)
    images = classes = labels = 0
    if not problems:
        with Project.open(project, for_writing=False) as opened:
            images, classes, labels = (
                opened.images.count,
                len(opened.classes.graph),
                len(opened.labels.table().image_ids),
            )
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


def register(application: typer.Typer) -> None:
    """Add these commands to the program."""
    application.command("check")(check)
