"""Commands that make a project and its graph, and look after both."""

from pathlib import Path
from typing import Annotated

import typer

from engine.cli.output import AsJson, counted, say
from engine.errors import ProjectDamagedError

ProjectPath = Annotated[Path, typer.Argument(metavar="PROJECT", help="The project file.")]


def import_graph(
    project: ProjectPath,
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help="Folder, CSV, JSON, or wordnet.is_a.txt.")],
    graph_format: Annotated[str, typer.Option("--format", help="Format; detected by default.")] = "auto",
    under: Annotated[str | None, typer.Option(help="Only this class of the source and its descendants.")] = None,
    as_json: AsJson = False,
) -> None:
    """Merge a taxonomy into the project's graph."""
    from engine.collection.importing.import_graph import import_graph as run
    from engine.project import Project

    with Project.open(project) as opened:
        done = run(opened, source, graph_format=graph_format, under=under)
        total = len(opened.graph)
    known = counted(done.aliases_added, "known class", "known classes")
    completed = f"completed the ids and synonyms of {known}; " if done.aliases_added else ""
    say(
        f"Added {counted(done.classes_added, 'class', 'classes')} and {counted(done.edges_added, 'edge')}; {completed}"
        f"the graph has {counted(total, 'class', 'classes')}.",
        {
            "classes_added": done.classes_added,
            "edges_added": done.edges_added,
            "aliases_added": done.aliases_added,
            "classes": total,
        },
        as_json=as_json,
    )


def check(project: ProjectPath, as_json: AsJson = False) -> None:
    """Check the project file; exit status 1 if anything is wrong."""
    from engine.project import Project

    problems = Project.faults_of(project)
    images = classes = labels = 0
    if not problems:
        with Project.open(project, for_writing=False) as opened:
            images, classes, labels = opened.image_count, len(opened.graph), len(opened.label_table().image_ids)
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
    application.command("import-graph")(import_graph)
    application.command("check")(check)
